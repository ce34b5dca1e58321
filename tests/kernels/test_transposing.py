"""Columns are transposed into rows, and no memory around the rows is written."""

import numpy as np
import pytest

from ouzel.kernels.jit import kernel
from ouzel.kernels.transposing import EIGHT, transpose, transpose_tile


@pytest.mark.parametrize("d", [0, 1, 7, 8, 9, 16, 31])
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 23, 64])
def test_columns_become_rows(n, d):
    numbers = np.random.default_rng(n).normal(size=(d, n + 5)).astype(np.float32)
    numbers[:1, :1] = np.array(0x7F800001, np.uint32).view(np.float32)  # no number, bits that must stay
    room = np.zeros((n + 2, d + 3), np.float32)

    transpose(numbers[:, 2 : n + 2], room[1 : n + 1, 2 : d + 2])

    expected = np.zeros_like(room)
    expected[1 : n + 1, 2 : d + 2] = numbers[:, 2 : n + 2].T
    np.testing.assert_array_equal(room.view(np.uint32), expected.view(np.uint32))


def test_a_tile_is_transposed_alike_compiled_and_interpreted():
    @kernel
    def transposed(columns, rows):
        transpose_tile(columns, rows, 3, 5)

    columns = np.arange(12 * 20, dtype=np.float32).reshape(12, 20)
    rows, expected = np.zeros((2, 20, 12), np.float32)

    transposed(columns, rows)
    transpose_tile(columns, expected, 3, 5)

    np.testing.assert_array_equal(rows, expected)
    assert np.count_nonzero(rows) == EIGHT**2
