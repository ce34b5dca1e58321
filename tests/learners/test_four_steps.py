"""Four models learn in one instruction what the plain body says."""

import numpy as np

from ouzel._jit import kernel
from ouzel.learners.four_steps import four_steps


@kernel
def in_a_kernel(table, slots, values, slopes, lengths):
    four_steps(table, slots, values, slopes, lengths)


def test_a_kernel_does_what_the_plain_body_says():
    rng = np.random.default_rng(1)
    table = np.abs(rng.normal(size=(40, 9))).astype(np.float32)
    table[3:6, 5:] = 0.0  # s = 0
    table[6, 0] = table[6, 5] = np.float32(3e38)
    slots = rng.permutation(40)[:20].astype(np.uint32)
    values = rng.normal(size=20).astype(np.float32)
    values[::5] = 0.0
    for sloping in ((0.5, -2.0, 0.0, 1e25), (0.0, 0.0, 0.0, 0.0)):
        slopes, lengths = (tuple(np.float32(factor * slope) for slope in sloping) for factor in (1.0, 0.1))
        found, expected = table.copy(), table.copy()

        in_a_kernel(found, slots, values, slopes, lengths)
        with np.errstate(all="ignore"):
            four_steps(expected, slots, values, slopes, lengths)

        np.testing.assert_allclose(found, expected, rtol=1e-5)
        assert np.isfinite(found).all()
