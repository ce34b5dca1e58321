"""Rows of plain JSON objects: the features of some are gathered first, and become rows together.

So an object that is not read here after all leaves nothing behind, names are hashed sixteen at a time, and one row is
put in order while the next is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.kernels.ranks import TURN
from ouzel.streams.formats.json_names import (
    FIELD,
    HASH,
    ID,
    MET,
    NAMED,
    PLACES,
    note_met,
    put_own_name,
)
from ouzel.streams.kernels.batch_hash import LANES, PendingHashes, allocate_names, hash_names, lane_of
from ouzel.streams.kernels.row_order import RANKED, rank_into, sort_row

ZERO, ONE, MOST = np.uint64(0), np.uint64(1), np.uint64(RANKED)


AT_ONCE = 32  # rows that are gathered at most
ENOUGH = np.uint64(64)  # names that are
FEATURES, NAMES = 0, 1  # of a row, how many features and names were gathered before it
LINE, MARK, LINES, TAKEN = 2, 3, 4, 5  # where its line begins, the mark there, lines and factors before it
OBJECT = 6  # its number among all objects


class Gathered(NamedTuple):
    """Room for the features of some rows, and for those of them whose names are words of these lines."""

    ids: np.ndarray  # (k,) uint32, turned (`ouzel.kernels.ranks`)
    values: np.ndarray  # (k,) float32
    hashes: np.ndarray  # (k,) uint32, not masked
    ranks: np.ndarray  # (k,) uint32
    factors: np.ndarray  # (k,) uint32, of a factor its name, from 1 on; 0 of a number
    names: PendingHashes
    rows: np.ndarray  # (AT_ONCE + 1, 7) uint64


def room_for(features: int) -> Gathered:
    """Room for rows of up to so many features in all."""
    blocks = features // LANES + 2
    size = blocks * LANES
    ids, hashes, ranks, factors = (np.empty(size, np.uint32) for _ in range(4))
    values = np.empty(size, np.float32)
    rows = np.zeros((AT_ONCE + 1, 7), np.uint64)
    return Gathered(ids, values, hashes, ranks, factors, allocate_names(size), rows)


@force_inline
def begin_row(gathered, row, features, names, line, mark, lines, taken, stamp):
    """Note where a row begins, should it have to be read again."""
    rows = gathered.rows
    rows[row, FEATURES], rows[row, NAMES], rows[row, LINE], rows[row, MARK] = features, names, line, mark
    rows[row, LINES], rows[row, TAKEN], rows[row, OBJECT] = lines, taken, stamp


@force_inline
def put_number(gathered, count, keys, key, value):
    """Gather a number."""
    gathered.ids[count], gathered.hashes[count] = np.uint32(keys.table[key, ID]) ^ TURN, keys.table[key, HASH]
    gathered.values[count] = value


@force_inline
def put_odd_number(gathered, count, named, keys, key, value, stamp, seed, data, start, end):
    """Gather a number whose key, `data[start:end]`, may have none yet; return how many features and names there are."""
    put_number(gathered, count, keys, key, value)
    present = np.uint64(gathered.values[count] != 0.0)
    if keys.table[key, MET] == ZERO:
        note_met(keys, key, stamp)
        if keys.table[key, NAMED]:
            place = count if present else np.uint64(len(gathered.ids) - 1)  # which no row has
            put_own_name(gathered.names, named, place, seed, data, start, end)
            named += ONE
    return count + present, named


@force_inline
def put_factor(factors, taken, keys, key, value, start, end, whole):
    """Take a feature of a field, whose name is, or ends in, the text from `start` to `end`."""
    count = taken[0]
    factors.fields[count] = keys.table[key, FIELD] - ONE
    factors.hashes[count], factors.values[count] = keys.table[key, HASH], value
    factors.starts[count], factors.ends[count] = start, end
    factors.whole[count] = whole
    taken[0] = count + ONE


@kernel
def any_twice(hashes, values, first, count):
    """Whether one feature stands in a row twice: not two whose ids are equal by chance. Both arrays are used up."""
    return sort_row(hashes, values, np.int64(first), np.int64(first + count)) < np.int64(first + count)


@force_inline
def _ascending(ids, first, count):
    """Whether ids, turned, stand in order, each once."""
    wrong = False
    for k in range(first + ONE, first + count):
        wrong |= (ids[k] ^ TURN) <= (ids[k - ONE] ^ TURN)
    return not wrong


@force_inline
def _put_in_order(gathered, first, count, ordered, ids, values, nnz):
    """Write a row's features to `ids[nnz:]` and `values[nnz:]` in canonical order; return where they end."""
    given_ids, given_values, ranks = gathered.ids, gathered.values, gathered.ranks
    ranked = count <= MOST and not ordered
    if ranked and rank_into(given_ids, given_values, first, count, ranks, ids, values, nnz):
        return nnz + count
    for k in range(count):
        ids[nnz + k], values[nnz + k] = given_ids[first + k] ^ TURN, given_values[first + k]
    if not ordered:
        return np.uint64(sort_row(ids, values, np.int64(nnz), np.int64(nnz + count)))
    return nnz + count


@force_inline
def finish_rows(gathered, count, features, named, mask, ids, values, offsets, row, nnz):
    """Write the first `count` rows that were gathered, of so many features and names, behind `row` and `nnz` others.

    Of one feature the last value counts: an object with a feature twice is not a row, and ends this. Returns how many
    are rows, and the nonzeros with them.
    """
    hash_names(gathered.names, named)
    for k in range(named):
        place, hashed = np.uint64(gathered.names.lanes[lane_of(k) + PLACES]), gathered.names.hashes[k]
        gathered.ids[place], gathered.hashes[place] = (hashed & mask) ^ TURN, hashed
    rows = gathered.rows
    rows[count, FEATURES], rows[count, NAMES] = features, named
    for k in range(count):
        first, many = rows[k, FEATURES], rows[k + ONE, FEATURES] - rows[k, FEATURES]
        numbers = rows[k, NAMES] == rows[k + ONE, NAMES]
        ordered = (numbers or many > MOST) and _ascending(gathered.ids, first, many)
        end = _put_in_order(gathered, first, many, ordered, ids, values, nnz)
        if end != nnz + many and any_twice(gathered.hashes, gathered.values, first, many):
            return k, nnz
        nnz = end
        offsets[row + k + ONE] = nnz
    return count, nnz


@force_inline
def finish_factors(gathered, factors, start, end):
    """Give the factors of rows the hashes of their names."""
    for k in range(end - start):
        name = np.uint64(gathered.factors[k])
        if name > ZERO:
            factors.hashes[start + k] = gathered.names.hashes[name - ONE]
