"""Checks of floating point numbers by their bits, and columns of numbers as rows in single precision.

The bits are larger as integers where the number is larger.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ouzel.kernels.jit import kernel

SIZE, INFINITE = 0x7FFFFFFF, 0x7F800000  # all bits of single precision but that of the sign, and those of infinity

TOGETHER = 16  # rows that are written together
CACHED = 1 << 16  # numbers that fit the second cache
CACHE_LINE_PADDING = 80  # numbers between buffers, or those of 2^k rows would share cache lines


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


@kernel
def _transpose(columns, rows):
    """Write the first numbers of each column, `columns` (d, n or more), as `rows` (n, d)."""
    n, width = rows.shape
    whole = n - n % TOGETHER
    for first in range(0, whole, TOGETHER):
        for k in range(width):
            for i in range(TOGETHER):
                rows[first + i, k] = columns[k, first + i]
    for i in range(whole, n):
        for k in range(width):
            rows[i, k] = columns[k, i]


def rows_of_columns(columns: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Columns (n,) of numbers, or an array (d, n) of them, as rows (n, d) float32; too large numbers are infinite.

    >>> rows_of_columns([np.array([1, 2, 3]), np.array([0.5, 1e39, 2.5])]).tolist()
    [[1.0, 0.5], [2.0, inf], [3.0, 2.5]]
    """
    width, n = len(columns), len(columns[0])
    most = min(n, max(TOGETHER, CACHED // width))
    buffer, rows = np.empty((width, most + CACHE_LINE_PADDING), np.float32), np.empty((n, width), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, n, most):
            stop = min(start + most, n)
            if isinstance(columns, np.ndarray):
                buffer[:, : stop - start] = columns[:, start:stop]
            else:
                for k, column in enumerate(columns):
                    buffer[k, : stop - start] = column[start:stop]
            _transpose(buffer, rows[start:stop])
    return rows
