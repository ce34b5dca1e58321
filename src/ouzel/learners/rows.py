"""What learners take: rows of (slot, value) pairs, slot 0 being the constant feature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import kernel


class Rows(NamedTuple):
    """Examples in compressed sparse rows over a learner's slots (a feature's id plus one)."""

    offsets: np.ndarray  # (n + 1,) uint64
    indices: np.ndarray  # (nnz,) uint32
    values: np.ndarray  # (nnz,) float32


@kernel
def largest_id(indices, start, stop):
    """The largest of `indices[start:stop]`, 0 if there are none."""
    largest = np.uint32(0)
    for k in range(start, stop):
        largest = max(largest, indices[k])
    return largest


@kernel
def to_rows(offsets, indices, values, constant, limit):
    """Rows of a block's arrays: features of slot `limit` and above left out, slot 0 = 1 put first if `constant`."""
    n = len(offsets) - 1
    room = np.int64(offsets[n] - offsets[0]) + (n if constant else 0)
    row_offsets = np.empty(n + 1, np.uint64)
    slots = np.empty(room, np.uint32)
    row_values = np.empty(room, np.float32)
    filled = np.uint64(0)
    one = np.uint64(1)
    row_offsets[0] = filled
    all_known = np.uint64(largest_id(indices, offsets[0], offsets[n])) + one < limit
    for i in range(n):
        if constant:
            slots[filled] = 0
            row_values[filled] = 1.0
            filled += one
        if all_known:
            start, size = offsets[i], offsets[i + 1] - offsets[i]
            for k in range(size):  # several at a time
                slots[filled + k] = indices[start + k] + np.uint32(1)
                row_values[filled + k] = values[start + k]
            filled += size
            row_offsets[i + 1] = filled
            continue
        for k in range(offsets[i], offsets[i + 1]):
            slot = np.uint64(indices[k]) + one
            if slot < limit:
                slots[filled] = slot
                row_values[filled] = values[k]
                filled += one
        row_offsets[i + 1] = filled
    return Rows(row_offsets, slots[:filled], row_values[:filled])


@kernel
def longest(offsets):
    """Non-zeros of the longest row."""
    most = np.int64(0)
    for i in range(len(offsets) - 1):
        most = max(most, np.int64(offsets[i + 1] - offsets[i]))
    return most
