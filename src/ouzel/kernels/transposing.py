"""Transpose columns of numbers into rows: tiles of eight by eight are transposed in registers, and stored row by row.

A loop over single numbers would write to as many cache lines as there are rows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from ouzel.kernels.jit import kernel
from ouzel.kernels.simd import BYTES, INTEGER, in_llvm

EIGHT = 8
VECTOR = ir.VectorType(ir.FloatType(), EIGHT)


def _transpose_tile(builder: Any, columns: Any, rows: Any, column: Any, row: Any) -> None:
    """Rows and columns change places in blocks of four, of two, and one by one."""

    def address(array: Any, i: Any, j: Any) -> Any:
        far, near = cgutils.unpack_tuple(builder, array.strides, 2)
        place = builder.add(builder.mul(i, far), builder.mul(j, near))
        return builder.bitcast(builder.gep(builder.bitcast(array.data, BYTES), [place]), VECTOR.as_pointer())

    def picked(a: Any, b: Any, lanes: list[int]) -> Any:
        return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), EIGHT), lanes))

    places = [INTEGER(k) for k in range(EIGHT)]
    tile = [builder.load(address(columns, builder.add(column, k), row), align=4) for k in places]
    for distance in (4, 2, 1):
        early = [lane for lane in range(EIGHT) if not lane & distance]
        lanes = [lane if lane in early else EIGHT + lane - distance for lane in range(EIGHT)]
        others = [lane + distance if lane in early else EIGHT + lane for lane in range(EIGHT)]
        for k in early:
            a, b = tile[k], tile[k + distance]
            tile[k], tile[k + distance] = picked(a, b, lanes), picked(a, b, others)
    for k, numbers in zip(places, tile, strict=True):
        builder.store(numbers, address(rows, builder.add(row, k), column), align=4)


@in_llvm(_transpose_tile)
def transpose_tile(columns, rows, column, row):
    """Write eight rows of eight columns (d, n), from `row` and `column` on, to rows (n, d); both are float32.

    What is next to a number in memory is the next of its column, or of its row.
    """
    rows[row : row + EIGHT, column : column + EIGHT] = columns[column : column + EIGHT, row : row + EIGHT].T


def _plain(columns: np.ndarray, rows: np.ndarray) -> None:
    rows[:] = columns.T


@partial(kernel, plain=_plain)
def transpose(columns, rows):
    """Write columns (d, n) as rows (n, d), both float32 and contiguous along their second axis."""
    n, d = rows.shape
    if n < EIGHT or d < EIGHT:
        for i in range(n):
            for k in range(d):
                rows[i, k] = columns[k, i]
        return
    for i in range(0, n, EIGHT):  # the last eight may be some of those before
        for k in range(0, d, EIGHT):
            transpose_tile(columns, rows, min(k, d - EIGHT), min(i, n - EIGHT))
