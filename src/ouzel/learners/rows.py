"""What learners take: rows of (slot, value) pairs, slot 0 being the constant feature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel._jit import kernel


class Rows(NamedTuple):
    """Examples in compressed sparse rows over a learner's slots (a feature's id plus one)."""

    offsets: np.ndarray  # (n + 1,) uint64
    indices: np.ndarray  # (nnz,) uint32
    values: np.ndarray  # (nnz,) float32


@kernel
def to_rows(offsets, indices, values, constant):
    """Rows of a block's arrays, with slot 0 = 1 appended to each if `constant`; and the largest slot in them."""
    n = len(offsets) - 1
    extra = np.uint64(1 if constant else 0)
    size = offsets[n] - offsets[0] + n * extra
    row_offsets = np.empty(n + 1, np.uint64)
    slots = np.empty(size, np.uint32)
    row_values = np.empty(size, np.float32)
    largest = np.uint32(0)
    k = np.uint64(0)
    one = np.uint64(1)
    row_offsets[0] = k
    for i in range(n):
        for j in range(offsets[i], offsets[i + 1]):
            slot = np.uint32(indices[j] + np.uint32(1))
            largest = max(largest, slot)
            slots[k] = slot
            row_values[k] = values[j]
            k += one
        if constant:
            slots[k] = 0
            row_values[k] = 1.0
            k += one
        row_offsets[i + 1] = k
    return Rows(row_offsets, slots, row_values), largest
