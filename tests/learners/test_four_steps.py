"""Four models learn in one instruction what the plain bodies say."""

import numpy as np

from ouzel._jit import kernel
from ouzel.learners.four_steps import add_squares, move


@kernel
def in_a_kernel(table, slots, values, slopes, steps):
    pushes = add_squares(table, slots, values, slopes)
    move(table, slots, values, steps)
    return pushes


def test_a_kernel_does_what_the_plain_bodies_say():
    rng = np.random.default_rng(1)
    table = np.abs(rng.normal(size=(40, 9))).astype(np.float32)
    table[3:9, 5:] = 0.0  # s = 0
    table[::7, 0] = 0.0  # n = 0
    table[1, 0] = 1e-38
    slots = rng.permutation(40)[:30].astype(np.uint32)
    values = rng.normal(size=30).astype(np.float32)
    values[::5] = 0.0
    for sloping in ((0.5, -2.0, 0.0, 1e17), (0.0, 0.0, 0.0, 0.0)):
        slopes, steps = (tuple(np.float32(factor * slope) for slope in sloping) for factor in (1.0, 0.1))
        found, expected = table.copy(), table.copy()

        pushes = in_a_kernel(found, slots, values, slopes, steps)
        pushes_expected = add_squares(expected, slots, values, slopes)
        move(expected, slots, values, steps)

        np.testing.assert_allclose(found, expected, rtol=1e-5)
        np.testing.assert_allclose(pushes, pushes_expected, rtol=1e-5)
        assert np.isfinite(found).all()
