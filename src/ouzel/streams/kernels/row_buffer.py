"""The buffer that readers put rows of features into: names are hashed many rows at once, then every row is sorted.

So sixteen names are hashed with every instruction, the processor sorts one row while it begins the next, and a row that
is given up before it is complete leaves nothing behind. A reader calls `begin_row`, then `put_number` and `put_word`
for each feature; every few rows it calls `finish_names` once, and `finish_row` for each row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.kernels.sort import TURN, count_smaller_among, sort
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.block import LARGEST
from ouzel.streams.kernels.batch_hash import LANES, OWN, PendingHashes, allocate_names, hash_names, lane_of, put_name

RANKED = 128  # features of a row that are sorted by counting
MOST_RANKED = np.uint64(RANKED)
MOST = np.float32(LARGEST)
WORD, LOW = np.uint64(32), np.uint64(2**32 - 1)
ZERO, ONE, TWO = (np.uint64(number) for number in (0, 1, 2))
ONES = 1 << 32
ROWS_AT_ONCE = np.uint64(32)  # rows that a buffer holds at most
ENOUGH_NAMES = np.uint64(64)  # names after which a reader finishes the rows
FEATURES, NAMES = 0, 1  # columns of `rows`: how many features and names stand before the row
OWN_COLUMN = 2  # the first of the columns that belong to the reader
COLUMNS = 7
PLACES = np.uint64(OWN * LANES)  # the line of a block of names that holds the places of their features
OWN_LINE = OWN + 1  # the first of the lines that belong to the reader


@kernel
def sort_row(ids, values, start, stop):
    """Sort one row by id, in place and stably; add up repeated ids, within MOST, and drop values of 0.

    Returns the new end of the row.
    """
    if stop - start > RANKED:
        keys, before = np.empty(stop - start, np.uint64), np.empty(stop - start, np.float32)
        for k in range(stop - start):
            keys[k] = (np.uint64(ids[start + k]) << WORD) | np.uint64(k)
            before[k] = values[start + k]
        sort(keys, 0, len(keys))
        for k in range(stop - start):
            ids[start + k] = keys[k] >> WORD
            values[start + k] = before[keys[k] & LOW]
    else:
        for k in range(start + 1, stop):
            identity, value = ids[k], values[k]
            j = k
            while j > start and ids[j - 1] > identity:
                ids[j] = ids[j - 1]
                values[j] = values[j - 1]
                j -= 1
            ids[j] = identity
            values[j] = value
    end = start
    for k in range(start, stop):
        if end > start and ids[end - 1] == ids[k]:
            values[end - 1] = min(max(values[end - 1] + values[k], -MOST), MOST)
        else:
            end -= end > start and values[end - 1] == 0.0
            ids[end] = ids[k]
            values[end] = values[k]
            end += 1
    end -= end > start and values[end - 1] == 0.0
    return end


@kernel
def allocate_ranking():
    """Allocate scratch for `rank_row`."""
    return np.empty(RANKED, np.uint32), np.empty(RANKED, np.float32), np.empty(RANKED, np.uint32)


@force_inline
def rank_into(given_ids, given_values, first, count, ranks, ids, values, start):
    """Write a row of up to RANKED features, from `first` on, to `ids[start:]`, each at its rank.

    The given ids are turned (`ouzel.kernels.sort`); behind `first + count`, and in `ranks`, 8 more are allocated.
    Returns whether every id stands once; if not, what was written is not a row.
    """
    count_smaller_among(given_ids, first, count, ranks)
    total = ZERO
    for k in range(count):
        rank = np.uint64(ranks[k])
        total += rank
        ids[start + rank], values[start + rank] = given_ids[first + k] ^ TURN, given_values[first + k]
    return total == count * (count - ONE) // TWO


@force_inline
def rank_row(ids, values, start, stop, scratch):
    """Do the same as `sort_row`, without a branch for rows of up to RANKED features: smaller ids are counted.

    `scratch` comes from `allocate_ranking`.
    """
    if stop - start > RANKED:
        return sort_row(ids, values, start, stop)
    spare_ids, spare_values, ranks = scratch
    first, count = np.uint64(start), np.uint64(stop - start)
    zeros = ZERO
    for k in range(count):
        spare_ids[k] = ids[first + k] ^ TURN
        spare_values[k] = values[first + k]
        zeros += np.uint64(spare_values[k] == 0.0)
    if zeros:
        return sort_row(ids, values, start, stop)
    if rank_into(spare_ids, spare_values, ZERO, count, ranks, ids, values, first):
        return stop
    for k in range(count):  # an id stands more than once
        ids[first + k] = spare_ids[k] ^ TURN
        values[first + k] = spare_values[k]
    return sort_row(ids, values, start, stop)


@kernel
def canonical_rows(offsets, ids, values):
    """Bring every row to canonical order in place; return the number of entries left. `offsets` (n + 1,) follow."""
    end = np.int64(0)
    for i in range(len(offsets) - 1):
        start, stop = np.int64(offsets[i]), np.int64(offsets[i + 1])
        offsets[i] = end
        sorted_stop = stop
        for k in range(start, stop):
            if values[k] == 0.0 or (k > start and ids[k] <= ids[k - 1]):
                sorted_stop = sort_row(ids, values, start, stop)
                break
        if end != start:
            for k in range(start, sorted_stop):
                ids[end + k - start] = ids[k]
                values[end + k - start] = values[k]
        end += sorted_stop - start
    offsets[len(offsets) - 1] = end
    return end


@force_inline
def record_zeros(ids, values, start, stop, zeros):
    """Record the lowest and the highest id whose value is 0: a zero is not a feature, but its id is known."""
    for k in range(start, stop):
        if values[k] == 0.0:
            zeros[0] = min(zeros[0], np.int64(ids[k]))
            zeros[1] = max(zeros[1], np.int64(ids[k]))


def empty_zero_range() -> np.ndarray:
    """Return (3,) int64: the lowest and the highest id of a zero, none yet, and how many entries rows have lost."""
    return np.array([MOST_ID + 1, -1, 0], np.int64)


@kernel
def without_zeros(offsets, ids, values):
    """Drop values of 0, in place, without changing the order; return the number of entries left."""
    zeros = np.uint32(0)
    for k in range(len(values)):
        zeros += np.uint32(values[k] == 0.0)
    if zeros == 0:
        return np.int64(offsets[len(offsets) - 1])
    end = ZERO
    for i in range(len(offsets) - 1):
        start, stop = offsets[i], offsets[i + 1]
        offsets[i] = end
        for k in range(start, stop):
            value = values[k]
            ids[end], values[end] = ids[k], value
            end += np.uint64(value != 0.0)
    offsets[len(offsets) - 1] = end
    return np.int64(end)


@kernel
def tidy_row(ids, values):
    """Put one row in canonical order, in place; return its length, -1 if a value is not finite.

    Adds ONES if a value is 1, which may have been a truth value; the id 0 is the constant's and does not count.
    """
    total = np.float32(0.0)
    ones = np.uint32(0)
    for k in range(len(values)):
        total += values[k]
        ones += np.uint32((values[k] == np.float32(1.0)) & (ids[k] != 0))
    if not np.isfinite(total):
        return -1
    return sort_row(ids, values, 0, len(ids)) + (ONES if ones else 0)


class RowBuffer(NamedTuple):
    """Features of some rows, one row after the other, and the names among them that wait to be hashed."""

    ids: np.ndarray  # (k,) uint32, turned (`ouzel.kernels.sort`)
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
    ordered = (not has_words or count > MOST_RANKED) and _is_ascending(given_ids, first, count)
    ranked = count <= MOST_RANKED and not ordered
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
