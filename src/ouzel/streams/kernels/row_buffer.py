"""The buffer that readers put rows of features into: names are hashed many rows at once, then every row is sorted.

So sixteen names are hashed with every instruction, the processor sorts one row while it begins the next, and a row that
is given up before it is complete leaves nothing behind. A reader calls `begin_row`, then `put_number` and `put_word`
for each feature; every few rows it calls `finish_names` once, and `finish_row` for each row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.kernels.ranks import TURN
from ouzel.streams.kernels.batch_hash import LANES, OWN, PendingHashes, allocate_names, hash_names, lane_of, put_name
from ouzel.streams.kernels.row_order import RANKED, rank_into, sort_row

ROWS_AT_ONCE = np.uint64(32)  # rows that a buffer holds at most
ENOUGH_NAMES = np.uint64(64)  # names after which a reader finishes the rows
FEATURES, NAMES = 0, 1  # columns of `rows`: how many features and names stand before the row
OWN_COLUMN = 2  # the first of the columns that belong to the reader
COLUMNS = 7
PLACES = np.uint64(OWN * LANES)  # the line of a block of names that holds the places of their features
OWN_LINE = OWN + 1  # the first of the lines that belong to the reader
ZERO, ONE, MOST = np.uint64(0), np.uint64(1), np.uint64(RANKED)


class RowBuffer(NamedTuple):
    """Features of some rows, one row after the other, and the names among them that wait to be hashed."""

    ids: np.ndarray  # (k,) uint32, turned (`ouzel.kernels.ranks`)
    values: np.ndarray  # (k,) float32
    hashes: np.ndarray  # (k,) uint32, not masked
    ranks: np.ndarray  # (k,) uint32
    names: PendingHashes
    rows: np.ndarray  # (ROWS_AT_ONCE + 1, COLUMNS) uint64


@kernel
def allocate_rows(features):
    """Allocate a buffer for rows of up to `features` features in all."""
    size = (features // LANES + 2) * LANES
    ids, hashes, ranks = np.empty(size, np.uint32), np.empty(size, np.uint32), np.empty(size, np.uint32)
    rows = np.zeros((int(ROWS_AT_ONCE) + 1, COLUMNS), np.uint64)
    return RowBuffer(ids, np.empty(size, np.float32), hashes, ranks, allocate_names(size), rows)


@force_inline
def begin_row(buffer, row, features, names):
    """Begin a row; `features` and `names` stand before it."""
    buffer.rows[row, FEATURES], buffer.rows[row, NAMES] = features, names


@force_inline
def put_number(buffer, place, identity, hashed, value):
    """Put a feature of a known id, and its hash before masking, at a place."""
    buffer.ids[place], buffer.hashes[place], buffer.values[place] = np.uint32(identity) ^ TURN, hashed, value


@force_inline
def put_word(buffer, place, name, state, tail, bits, data, at, size, length):
    """Put a feature with the value 1, whose id is the hash of a name (see `put_name`), at a place."""
    put_name(buffer.names, name, state, tail, bits, data, at, size, length)
    buffer.names.lanes[lane_of(name) + PLACES] = place
    buffer.values[place] = 1.0


@force_inline
def finish_names(buffer, features, names, rows, mask):
    """Hash the names of the first `rows` rows, all of them, and write the ids of their features."""
    begin_row(buffer, rows, features, names)
    hash_names(buffer.names, names)
    for k in range(names):
        place, hashed = np.uint64(buffer.names.lanes[lane_of(k) + PLACES]), buffer.names.hashes[k]
        buffer.ids[place], buffer.hashes[place] = (hashed & mask) ^ TURN, hashed


@force_inline
def _is_ascending(ids, first, count):
    """Return whether ids, turned, ascend, each once."""
    wrong = False
    for k in range(first + ONE, first + count):
        wrong |= (ids[k] ^ TURN) <= (ids[k - ONE] ^ TURN)
    return not wrong


@force_inline
def finish_row(buffer, row, ids, values, nnz):
    """Write a row to `ids[nnz:]` and `values[nnz:]` in canonical order; return its end."""
    rows, given_ids, given_values = buffer.rows, buffer.ids, buffer.values
    first, count = rows[row, FEATURES], rows[row + ONE, FEATURES] - rows[row, FEATURES]
    has_words = rows[row, NAMES] != rows[row + ONE, NAMES]
    ordered = (not has_words or count > MOST) and _is_ascending(given_ids, first, count)
    ranked = count <= MOST and not ordered
    if ranked and rank_into(given_ids, given_values, first, count, buffer.ranks, ids, values, nnz):
        return nnz + count
    for k in range(count):
        ids[nnz + k], values[nnz + k] = given_ids[first + k] ^ TURN, given_values[first + k]
    if not ordered:
        return np.uint64(sort_row(ids, values, np.int64(nnz), np.int64(nnz + count)))
    return nnz + count


@kernel
def _repeats(hashes, values, first, count):
    """Return whether a row has one feature twice; overwrites both arrays."""
    return sort_row(hashes, values, np.int64(first), np.int64(first + count)) < np.int64(first + count)


@force_inline
def has_repeats(buffer, row, size):
    """Return whether a row, which had `size` features when finished, has one feature twice; overwrites the row.

    Two features whose ids collide are not one feature.
    """
    first, count = buffer.rows[row, FEATURES], buffer.rows[row + ONE, FEATURES] - buffer.rows[row, FEATURES]
    return size != count and _repeats(buffer.hashes, buffer.values, first, count)
