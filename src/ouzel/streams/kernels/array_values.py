"""Numbers as rows in single precision, and checks of them by their bits, which are larger where a number is larger."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.kernels.transposing import transpose
from ouzel.streams.block import CACHE_LINE_PADDING

SIZE, INFINITE = 0x7FFFFFFF, 0x7F800000  # all bits of single precision but that of the sign, and those of infinity
CACHED = 1 << 18  # numbers that fit the caches of a processor


@kernel
def least_and_most(bits):
    """The least and the largest of the sizes of numbers (n,) of which these are the bits (uint32)."""
    least, most = np.uint32(SIZE), np.uint32(0)
    for k in range(len(bits)):
        size = np.uint32(bits[k] & np.uint32(SIZE))
        least, most = min(least, size), max(most, size)
    return least, most


def survey(values: np.ndarray) -> tuple[bool, bool]:
    """Whether all of some values (n,) float32 are finite, and whether some are 0.

    >>> survey(np.array([1.0, -2.0], np.float32)), survey(np.array([0.0, np.nan], np.float32))
    ((True, False), (False, True))
    """
    least, most = least_and_most(values.view(np.uint32))
    return bool(most < INFINITE), bool(least == 0)


def rows_of_array(X: np.ndarray, ones: int = 0) -> np.ndarray:
    """An array (n, d) as rows (n, ones + d) float32, the ones put first; what is too large is infinite.

    >>> rows_of_array(np.array([[2.0, 3.0], [4.0, 1e39]]), 1).tolist()
    [[1.0, 2.0, 3.0], [1.0, 4.0, inf]]
    """
    rows = np.empty((len(X), ones + X.shape[1]), np.float32)
    rows[:, :ones] = 1.0
    if abs(X.strides[0]) < abs(X.strides[1]):
        _write(X.T, rows[:, ones:])
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            rows[:, ones:] = X
    return rows


def rows_of_columns(columns: Sequence[np.ndarray], ones: int = 0) -> np.ndarray:
    """Columns (n,) of numbers, one at least, as rows (n, ones + d) float32, the ones put first.

    >>> rows_of_columns([np.array([1, 2, 3]), np.array([0.5, 1e39, 0])]).tolist()
    [[1.0, 0.5], [2.0, inf], [3.0, 0.0]]
    """
    rows = np.empty((len(columns[0]), ones + len(columns)), np.float32)
    rows[:, :ones] = 1.0
    _write(columns, rows[:, ones:])
    return rows


def _write(columns: Sequence[np.ndarray] | np.ndarray, rows: np.ndarray) -> None:
    """Write columns to rows (n, d): some rows are put in single precision column by column, and then transposed."""
    n, d = rows.shape
    most = max(1, min(n, CACHED // max(d, 1)))
    buffer = np.empty((d, most + min(most, CACHE_LINE_PADDING)), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, n, most):
            here = slice(start, min(start + most, n))
            part = buffer[:, : here.stop - start]
            if isinstance(columns, np.ndarray):
                part[:] = columns[:, here]
            else:
                for numbers, column in zip(part, columns, strict=True):
                    numbers[:] = column[here]
            transpose(part, rows[here])
