"""The factors of a row parted by their fields, those of a field in the order of their hashes, equal ones added up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.kernels.ranks import AT_ONCE, TURN, count_smaller_among
from ouzel.kernels.sort import sort
from ouzel.streams.derived.putting import fitting
from ouzel.streams.row_order import LOW, RANKED, WORD

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)


class Parted(NamedTuple):
    """A row's factors by fields, each in the order of hashes: field f has `first[f]` to `first[f] + many[f]`."""

    many: np.ndarray  # (fields,) uint64
    first: np.ndarray  # (fields,) uint64
    hashes: np.ndarray  # (k,) uint32
    values: np.ndarray  # (k,) float64
    at: np.ndarray  # (k,) int64, which factor of the block it is
    found: np.ndarray  # (k,) int64, the same in the order in which a field has them
    turned: np.ndarray  # (k + 8,) uint32, and their hashes, turned (`ouzel.kernels.ranks`)
    ranks: np.ndarray  # (k + 8,) uint32


@kernel
def room_to_part(fields, most):
    """Room for rows of at most so many factors."""
    many, first = np.zeros(fields, np.uint64), np.zeros(fields, np.uint64)
    hashes, values = np.empty(most, np.uint32), np.empty(most, np.float64)
    turned, ranks = np.empty(most + AT_ONCE, np.uint32), np.empty(most + AT_ONCE, np.uint32)
    return Parted(many, first, hashes, values, np.empty(most, np.int64), np.empty(most, np.int64), turned, ranks)


@force_inline
def part_row(factors, low, high, parted):
    """Part the factors `low` to `high` of a row by their fields, of which `many` and `first` are 0 before."""
    many, first, alone = parted.many, parted.first, True
    for k in range(low, high):
        many[factors.fields[k]] += np.uint64(factors.values[k] != 0.0)
        alone &= many[factors.fields[k]] == ONE
    if alone:
        for k in range(low, high):
            place = k - low
            first[factors.fields[k]] = place
            parted.hashes[place], parted.values[place], parted.at[place] = factors.hashes[k], factors.values[k], k
        return
    end = ZERO
    for k in range(low, high):
        field = factors.fields[k]
        if first[field] == ZERO:  # it is the end at first
            end += many[field]
            first[field] = end
    for j in range(high - low):
        k = high - ONE - j
        if factors.values[k] != 0.0:
            first[factors.fields[k]] -= ONE
            place = first[factors.fields[k]]
            parted.found[place], parted.turned[place] = k, factors.hashes[k] ^ TURN
    start = ZERO
    while start < end:
        field = factors.fields[parted.found[start]]
        start += many[field]
        many[field] = _in_order(factors, first[field], many[field], parted)


@kernel
def _sort_stably(turned, found, start, count, at):
    keys = np.empty(count, np.uint64)
    for k in range(count):
        keys[k] = (np.uint64(turned[start + k] ^ TURN) << WORD) | np.uint64(k)
    sort(keys, 0, count)
    for k in range(count):
        at[start + k] = found[start + (keys[k] & LOW)]


@force_inline
def _in_order(factors, start, count, parted):
    """Put the factors of a field in the order of hashes, and add up equal ones; how many are left."""
    at, total = parted.at, ZERO
    if count <= RANKED:
        count_smaller_among(parted.turned, start, count, parted.ranks)
        for k in range(count):
            rank = np.uint64(parted.ranks[k])
            total += rank
            at[start + rank] = parted.found[start + k]
    if total != count * (count - ONE) // TWO or count > RANKED:
        _sort_stably(parted.turned, parted.found, start, count, at)
    end = start
    for k in range(start, start + count):
        hashed, value = factors.hashes[at[k]], np.float64(factors.values[at[k]])
        if end > start and parted.hashes[end - ONE] == hashed:
            parted.values[end - ONE] = fitting(parted.values[end - ONE] + value)
        else:
            parted.hashes[end], parted.values[end], at[end] = hashed, value, at[k]
            end += ONE
    return end - start
