"""The kernel that makes bins and hinges of numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.derived.putting import fitting, merge_row, put_feature

NEITHER, BINS, HINGES = 0, 1, 2
ZERO = np.uint64(0)


class Table(NamedTuple):
    """What is made of each field: its edges, and the hashes of its bins or hinges, from the places on that it says."""

    order: np.ndarray  # (fields,) int64, in the order of their names
    kinds: np.ndarray  # (fields,) int64: NEITHER, BINS, HINGES
    own: np.ndarray  # (fields,) uint64, hashes of what numbers are the value of
    edges: np.ndarray  # (k,) float64
    bounds: np.ndarray  # (fields + 1,) int64, where those of each field lie
    hashes: np.ndarray  # (l,) uint64, of all bits
    starts: np.ndarray  # (fields,) int64, where those of each field begin


@force_inline
def _above(table, field, number):
    """How many edges of a field a number is not below."""
    low, high = table.bounds[field], table.bounds[field + 1]
    first = low
    while low < high:
        middle = (low + high) // 2
        if number < table.edges[middle]:
            high = middle
        else:
            low = middle + 1
    return low - first


@kernel
def count_binned(factors, table, counts):
    """Write to `counts` (n,) how many bins and hinges each row has at most."""
    for row in range(len(counts)):
        total = 0.0
        for k in range(factors.bounds[row, 0], factors.bounds[row, 1]):
            field = factors.fields[k]
            if table.kinds[field] == BINS:
                total += 1.0
            elif table.kinds[field] == HINGES:
                total += table.bounds[field + 1] - table.bounds[field]
        counts[row] = total


@kernel
def bin_entries(table, fields, hashes, values, bins):
    """Make factors that are binned numbers the bins they are in; `bins` (k,) int64 has which, -1 for other factors."""
    for k in range(len(fields)):
        field = fields[k]
        bins[k] = -1
        if table.kinds[field] == BINS and np.uint64(hashes[k]) == table.own[field]:
            place = table.starts[field] + _above(table, field, np.float64(values[k]))
            bins[k] = place
            hashes[k], values[k] = table.hashes[place], 1.0


@kernel
def bin_rows(given, table, mask, made):
    """Write rows to `made`, binned numbers not, but the bins they are in, and hinges beside their numbers."""
    factors = given.factors
    count = ZERO
    made.offsets[0] = 0
    for row in range(given.start, given.stop):
        begun = count
        low, high = factors.bounds[row, 0], factors.bounds[row, 1]
        for k in range(given.offsets[row], given.offsets[row + 1]):
            identity, value = np.uint64(given.ids[k]), np.float64(given.values[k])
            for j in range(low, high):
                field = factors.fields[j]
                own = table.own[field]
                if table.kinds[field] == BINS and own & mask == identity and np.uint64(factors.hashes[j]) == own:
                    value -= np.float64(factors.values[j])
                    if value == 0.0:
                        identity = mask + np.uint64(1)
            if identity <= mask:
                count = put_feature(identity, value, count, made)
        own = count
        for field in table.order:
            if table.kinds[field] == NEITHER:
                continue
            for j in range(low, high):
                if factors.fields[j] != field or np.uint64(factors.hashes[j]) != table.own[field]:
                    continue
                number, start = np.float64(factors.values[j]), table.starts[field]
                above = _above(table, field, number)
                if table.kinds[field] == BINS:
                    identity = table.hashes[start + above] & mask
                    count = put_feature(identity, 1.0, count, made)
                    continue
                for k in range(above):
                    over = fitting(number - table.edges[table.bounds[field] + k])
                    if over > 0.0:
                        identity = table.hashes[start + k] & mask
                        count = put_feature(identity, over, count, made)
        count = merge_row(begun, own, count, made)
        made.offsets[row + 1 - given.start] = count
