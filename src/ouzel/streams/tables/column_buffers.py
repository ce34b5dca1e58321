"""Rows of features made of columns: buffers of ids and values for each column, layouts of columns, and lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow

from ouzel.kernels.bytes import COPIED
from ouzel.kernels.jit import kernel
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.block import CACHE_LINE_PADDING, Names
from ouzel.streams.feature_space import CATEGORY, NUMBER, FeatureSpace, numbered
from ouzel.streams.kernels.batch_hash import ZERO, hash_update_bytes
from ouzel.streams.kernels.row_buffer import RANKED, allocate_ranking, canonical_rows, rank_row, sort_row
from ouzel.streams.tables.arrow_types import compute, filled
from ouzel.streams.tables.cells import check_offsets

if TYPE_CHECKING:
    from ouzel.streams.interaction_inputs import InteractionInputs

KINDS = (NUMBER, CATEGORY)  # of columns that have one feature in a cell
IS_NUMBER = KINDS.index(NUMBER)
TILE = np.int64(1 << 13)  # features
NONE = np.uint32(MOST_ID + 1)  # the id of a cell without a feature


class Layout(NamedTuple):
    """The kinds of columns, and the prefixes of the names of their words."""

    kinds: np.ndarray  # (columns,) uint8: positions in KINDS, len(KINDS) if a column is left out
    own: np.ndarray  # (columns,) uint32, the ids of numbers
    prefixes: np.ndarray  # (bytes,) uint8, `column=` of each column, one behind the other, and COPIED bytes more
    ends: np.ndarray  # (columns + 1,) uint64, where these end
    words: np.ndarray  # (columns,) uint32, with the next two the states of the hash after each prefix
    tails: np.ndarray  # (columns,) uint64
    bits: np.ndarray  # (columns,) uint64
    marks: np.ndarray  # (columns,) uint32, the ids of what is missing, NONE where that is no feature


@kernel
def _hash_prefixes(seed, layout):
    """Hash the prefixes."""
    for k in range(len(layout.kinds)):
        layout.words[k], layout.tails[k], layout.bits[k] = hash_update_bytes(
            np.uint32(seed), ZERO, ZERO, layout.prefixes, layout.ends[k], layout.ends[k + 1]
        )


def layout_of(
    names: Sequence[str], kinds: Mapping[str, str], ids: Mapping[str, int], seed: int, marks: Mapping[str, int]
) -> Layout:
    """The layout of columns of these names, kinds and, for numbers, ids; `marks` are the ids of missing ones."""
    known = [KINDS.index(kinds[name]) if kinds.get(name) in KINDS else len(KINDS) for name in names]
    own = [ids.get(name, 0) for name in names]
    prefixes = [f"{name}=".encode() for name in names]
    ends = np.cumsum([0, *map(len, prefixes)]).astype(np.uint64)
    words, tails, bits = (np.empty(len(names), kind) for kind in (np.uint32, np.uint64, np.uint64))
    text = np.frombuffer(b"".join([*prefixes, bytes(COPIED)]), np.uint8)
    absent = np.array([marks.get(name, NONE) for name in names], np.uint32)
    layout = Layout(np.array(known, np.uint8), np.array(own, np.uint32), text, ends, words, tails, bits, absent)
    _hash_prefixes(seed, layout)
    return layout


class Rows(NamedTuple):
    """Rows of features: row i has `ids[offsets[i]:offsets[i + 1]]` and their `values`."""

    offsets: np.ndarray  # (n + 1,) uint64
    ids: np.ndarray  # (features,) uint32
    values: np.ndarray  # (features,) float32


class Features(NamedTuple):
    """The features of a batch in canonical order, with their names, their space and the inputs of interactions."""

    rows: Rows
    names: Names | None
    space: FeatureSpace
    interaction_inputs: InteractionInputs | None = None
    in_slots: bool = False  # see `Block`


class ColumnBuffers:
    """Buffers of ids and values, one of each for a column, which are reused batch after batch."""

    def __init__(self) -> None:
        self._ids, self._values = np.empty((0, 0), np.uint32), np.empty((0, 0), np.float32)

    def allocate(self, count: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """Ids and values (count, rows), at addresses that do not compete for cache lines."""
        if count > len(self._ids) or rows > self._ids.shape[1] - CACHE_LINE_PADDING:
            shape = count, rows + CACHE_LINE_PADDING
            self._ids, self._values = np.empty(shape, np.uint32), np.empty(shape, np.float32)
        return self._ids[:count, :rows], self._values[:count, :rows]


@kernel
def _gather(column_ids, column_values, order, offsets, ids, values):
    width, n = np.int64(column_ids.shape[0]), np.int64(column_ids.shape[1])
    height = max(
        np.int64(1), TILE // max(np.int64(1), width)
    )  # rows that are transposed together, in the nearest cache
    tile_ids, tile_values = np.empty(height * width, np.uint32), np.empty(height * width, np.float32)
    ends = np.empty(height, np.int64)
    ranking = allocate_ranking()
    filled = np.int64(0)
    offsets[0] = 0
    for first in range(0, n, height):
        rows = min(height, n - first)
        for i in range(rows):
            ends[i] = i * width
        for column in order:
            for i in range(rows):
                value, end = column_values[column, first + i], ends[i]
                tile_ids[end], tile_values[end] = column_ids[column, first + i], value
                ends[i] = end + np.int64(value != 0.0)
        for i in range(rows):
            start = filled
            ordered = True
            previous = np.int64(-1)
            for k in range(i * width, ends[i]):
                identity = tile_ids[k]
                ordered &= np.int64(identity) > previous
                previous = np.int64(identity)
                ids[filled], values[filled] = identity, tile_values[k]
                filled += 1
            if not ordered:
                count = filled - start
                if count <= RANKED:
                    filled = np.int64(rank_row(ids, values, start, filled, ranking))
                if count > RANKED or filled < start + count:  # those of one id are added up in the order of columns
                    filled = start
                    for column in range(width):
                        ids[filled], values[filled] = column_ids[column, first + i], column_values[column, first + i]
                        filled += np.int64(values[filled] != 0.0)
                    filled = np.int64(sort_row(ids, values, start, filled))
            offsets[first + i + 1] = filled
    return filled


def rows_of_buffers(ids: np.ndarray, values: np.ndarray) -> Rows:
    """Rows in canonical order, from buffers of ids and values (columns, n); a value of 0 is no feature."""
    size, n = ids.size, ids.shape[1]  # memory that is not written is not used
    order = np.argsort(ids[:, :1].ravel(), kind="stable")  # the order of all rows, if each column has one id
    rows = Rows(np.empty(n + 1, np.uint64), np.empty(size, np.uint32), np.empty(size, np.float32))
    end = _gather(ids, values, order, *rows)
    return Rows(rows.offsets, rows.ids[:end], rows.values[:end])


@kernel
def _join(offsets, ids, values, more_offsets, more_ids, more_values, joined_offsets, joined_ids, joined_values):
    filled = 0
    for i in range(len(offsets) - 1):
        joined_offsets[i] = filled
        for k in range(offsets[i], offsets[i + 1]):
            joined_ids[filled] = ids[k]
            joined_values[filled] = values[k]
            filled += 1
        for k in range(more_offsets[i], more_offsets[i + 1]):
            joined_ids[filled] = more_ids[k]
            joined_values[filled] = more_values[k]
            filled += 1
    joined_offsets[len(offsets) - 1] = filled


def with_more(rows: Rows, offsets: np.ndarray, ids: np.ndarray, values: np.ndarray) -> Rows:
    """Rows with more features, `ids[offsets[i]:offsets[i + 1]]` and their values, in canonical order."""
    size = len(rows.ids) + len(ids)
    joined = Rows(np.empty(len(offsets), np.uint64), np.empty(size, np.uint32), np.empty(size, np.float32))
    _join(*rows, offsets, ids, values, *joined)
    return in_order(joined)


def in_order(rows: Rows) -> Rows:
    """Rows in canonical order, changed in place."""
    end = canonical_rows(*rows)
    return Rows(rows.offsets, rows.ids[:end], rows.values[:end])


def list_rows(array: pyarrow.Array, items: int) -> np.ndarray:
    """The offsets (n + 1,) of each list among all items."""
    lengths = filled(compute.list_value_length(array), 0)
    rows = np.concatenate([[0], np.cumsum(lengths)])
    check_offsets(rows, len(array), items)
    return rows


def any_in_row(flags: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Whether each row has an entry with a flag."""
    return np.diff(np.concatenate([[0], np.cumsum(flags)])[offsets]) > 0


def read_sparse(batch: pyarrow.RecordBatch) -> tuple[Rows, FeatureSpace, np.ndarray, np.ndarray]:
    """Rows of the list columns `indices` and `values`, their space, and two masks (n,) of bad rows.

    The first has the rows without one finite value for each id, the second those with numbers that are no ids.
    """
    ids = batch.column("indices").cast(pyarrow.large_list(pyarrow.int64()))
    values = batch.column("values").cast(pyarrow.large_list(pyarrow.float32()))
    lengths, others = (filled(compute.list_value_length(lists), 0) for lists in (ids, values))
    offsets, ends = (np.concatenate([[0], np.cumsum(counts)]) for counts in (lengths, others))
    numbers = filled(values.flatten(), np.nan)
    whole = filled(ids.flatten(), -1)
    check_offsets(offsets, batch.num_rows, len(whole))
    check_offsets(ends, batch.num_rows, len(numbers))
    unsound = (lengths != others) | any_in_row(~np.isfinite(numbers), ends)
    wrong = any_in_row((whole < 0) | (whole > MOST_ID), offsets)
    rows = Rows(offsets.astype(np.uint64), whole.astype(np.uint32), numbers.copy())
    return in_order(rows), numbered(whole), unsound, wrong
