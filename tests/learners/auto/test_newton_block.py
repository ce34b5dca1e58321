"""The second-order block: its covariance shrinks by what the plain body says, and slots join it as they should."""

import numpy as np
import pytest

from ouzel.kernels.jit import kernel
from ouzel.layout import allocate
from ouzel.learners.auto import newton_block
from ouzel.learners.auto.newton_block import LEAST, MEMBERS, MOST, subtract
from ouzel.learners.auto.simd import rank_one_update


@kernel
def in_a_kernel(matrix, v, factor, ratio):
    return subtract(matrix, v, factor, ratio)


@pytest.mark.parametrize("members", [1, 3, 4, 7, 8, 11, 21, 127, 128])
def test_a_kernel_updates_by_what_the_plain_body_says(members):
    rng = np.random.default_rng(members)
    matrix, v = rng.normal(size=(128, 128)), rng.normal(size=128)[:members]
    found, expected = matrix.copy(), matrix.copy()

    most = in_a_kernel(found, v, 1.001, 0.3)
    rank_one_update(expected, v, 1.001, 0.3)

    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    assert most == max(0.0, np.diagonal(found)[:members].max())
    np.testing.assert_array_equal(found[members:], matrix[members:])
    np.testing.assert_array_equal(found[:, members:], matrix[:, members:])


def test_a_slot_crowds_the_block_only_if_it_is_twice_as_frequent_as_the_rarest_member_now():
    block, moments = allocate(newton_block.layout(1, MOST + 2)), np.zeros((MOST + 2, 4))
    places = np.arange(1, MOST + 3, dtype=np.uint32)
    places[MOST:] = 0
    block.slots[:], block.totals[[MEMBERS, LEAST]] = np.arange(MOST), (MOST, 3.0)  # as counts were long ago
    moments[:MOST, newton_block.COUNT] = 100.0
    moments[MOST:, newton_block.COUNT] = 150.0, 250.0

    crowded = [newton_block.admit(block, places, np.array([slot]), moments, 300.0)[1] for slot in (MOST, MOST + 1)]

    assert crowded == [False, True]
    assert block.totals[LEAST] == 100.0
