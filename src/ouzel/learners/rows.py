"""What learners take: rows of (slot, value) pairs, slot 0 being the constant feature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel


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


@force_inline
def _place_of(ids, feature, guess):
    """Where a feature stands among ascending ids, -1 if it does not; a guess that is right saves the search."""
    if guess < len(ids) and ids[guess] == feature:
        return guess
    low, high = 0, len(ids)
    while low < high:
        middle = (low + high) // 2
        if ids[middle] < feature:
            low = middle + 1
        else:
            high = middle
    return low if low < len(ids) and ids[low] == feature else -1


@kernel
def any_unknown(ids, offsets, indices, weights):
    """Whether a row of a weight above 0 has a feature that is not among ascending ids."""
    for i in range(len(offsets) - 1):
        place = -1
        for k in range(offsets[i], offsets[i + 1]):
            place = _place_of(ids, np.int64(indices[k]), place + 1)
            if place < 0 and weights[i] > 0.0:
                return True
    return False


@kernel
def to_mapped_rows(ids, order, offsets, indices, values, constant, room):
    """Rows over slots, which are 1 + `order` of ascending ids; see `model.slot_map`."""
    n = len(offsets) - 1
    most = np.int64(offsets[n] - offsets[0]) + (n if constant else 0)
    row_offsets, slots, row_values = np.zeros(n + 1, np.uint64), np.empty(most, np.uint32), np.empty(most, np.float32)
    filled = 0
    for i in range(n):
        if constant:
            slots[filled], row_values[filled] = 0, 1.0
            filled += 1
        place, last = -1, len(ids)
        for k in range(offsets[i], offsets[i + 1]):
            place = _place_of(ids, np.int64(indices[k]), place + 1)
            if place >= 0:
                slot = order[place] + 1
            else:
                last += 1
                slot = last
            if slot < room:
                slots[filled], row_values[filled] = slot, values[k]
                filled += 1
        row_offsets[i + 1] = filled
    return Rows(row_offsets, slots[:filled], row_values[:filled])


@kernel
def longest(offsets):
    """Non-zeros of the longest row."""
    most = np.int64(0)
    for i in range(len(offsets) - 1):
        most = max(most, np.int64(offsets[i + 1] - offsets[i]))
    return most
