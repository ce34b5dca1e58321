"""The block's covariance shrinks four rows at a time by what the plain body says."""

import numpy as np
import pytest

from ouzel.kernels.jit import kernel
from ouzel.learners.auto.newton_block import subtract
from ouzel.learners.auto.simd import take_off


@kernel
def in_a_kernel(matrix, v, factor, ratio):
    return subtract(matrix, v, factor, ratio)


@pytest.mark.parametrize("members", [1, 3, 4, 7, 8, 11, 21, 127, 128])
def test_a_kernel_takes_off_what_the_plain_body_does(members):
    rng = np.random.default_rng(members)
    matrix, v = rng.normal(size=(128, 128)), rng.normal(size=128)[:members]
    found, expected = matrix.copy(), matrix.copy()

    most = in_a_kernel(found, v, 1.001, 0.3)
    take_off(expected, v, 1.001, 0.3)

    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    assert most == max(0.0, np.diagonal(found)[:members].max())
    np.testing.assert_array_equal(found[members:], matrix[members:])
    np.testing.assert_array_equal(found[:, members:], matrix[:, members:])
