"""Rows of plain JSON objects: the features of one are gathered first, and become a row when all of it was read.

So an object that is not read here after all leaves nothing behind, and the words of a row are hashed together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.row_order import RANKED, rank_into, sort_row
from ouzel.streams.text.json_keys import FIELD, HASH, ID
from ouzel.streams.text.json_names import BLOCK, LANES, PLACES, hash_names, lane_of

ZERO, ONE, MOST = np.uint64(0), np.uint64(1), np.uint64(RANKED)


class Gathered(NamedTuple):
    """Room for the features of one row, and for those of them whose names are words of this line."""

    ids: np.ndarray  # (k,) uint32
    values: np.ndarray  # (k,) float32
    hashes: np.ndarray  # (k,) uint32, not masked
    ranks: np.ndarray  # (k,) uint32
    factors: np.ndarray  # (k,) uint32, of a factor its name, from 1 on; 0 of a number
    names: np.ndarray  # (blocks * BLOCK,) uint32, see `json_names`
    name_hashes: np.ndarray  # (k,) uint32
    fresh: np.ndarray  # (k,) uint32, which of the names are new


def room_for(features: int) -> Gathered:
    """Room for rows of up to so many features."""
    blocks = -(-features // LANES)
    kinds = np.uint32, np.float32, np.uint32, np.uint32, np.uint32, np.uint32, np.uint32
    *row, name_hashes, fresh = (np.empty(blocks * LANES, kind) for kind in kinds)
    return Gathered(*row, np.empty(blocks * BLOCK, np.uint32), name_hashes, fresh)


@force_inline
def put_number(gathered, count, keys, key, value):
    """Gather a number."""
    gathered.ids[count], gathered.hashes[count] = keys.table[key, ID], keys.table[key, HASH]
    gathered.values[count] = value


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
def any_twice(hashes, count):
    """Whether one feature stands in a row twice: not two whose ids are equal by chance."""
    for k in range(count):
        for j in range(k):
            if hashes[k] == hashes[j]:
                return True
    return False


@force_inline
def _ascending(ids, count):
    """Whether ids (uint32) stand in order, each once."""
    wrong = False
    for k in range(ONE, count):
        wrong |= ids[k] <= ids[k - ONE]
    return not wrong


@force_inline
def _put_in_order(gathered, count, ordered, ids, values, first):
    """Write the features to `ids[first:]` and `values[first:]` in canonical order; return where they end."""
    if count <= MOST and not ordered and rank_into(
        gathered.ids, gathered.values, count, gathered.ranks, ids, values, first
    ):
        return first + count
    for k in range(count):
        ids[first + k], values[first + k] = gathered.ids[k], gathered.values[k]
    if not ordered:
        return np.uint64(sort_row(ids, values, np.int64(first), np.int64(first + count)))
    return first + count


@force_inline
def finish_row(gathered, count, named, mask, ids, values, first):
    """Write what was gathered to `ids[first:]` and `values[first:]` in canonical order; return (end, whether it is a row).

    It is not if a feature stands there twice: of one feature the last value counts.
    """
    hash_names(gathered.names, named, gathered.name_hashes)
    for k in range(named):
        place, hashed = np.uint64(gathered.names[lane_of(k) + PLACES]), gathered.name_hashes[k]
        gathered.ids[place], gathered.hashes[place] = hashed & mask, hashed
    ordered = (named == ZERO or count > MOST) and _ascending(gathered.ids, count)
    end = _put_in_order(gathered, count, ordered, ids, values, first)
    return end, end == first + count or not any_twice(gathered.hashes, count)


@force_inline
def finish_factors(gathered, factors, start, end):
    """Give the factors of a row the hashes of their names."""
    for k in range(end - start):
        name = np.uint64(gathered.factors[k])
        if name > ZERO:
            factors.hashes[start + k] = gathered.name_hashes[name - ONE]
