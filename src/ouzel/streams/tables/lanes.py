"""Features of tables column by column, a lane each, and row by row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.streams.block import Names
from ouzel.streams.derived.factors import Factors
from ouzel.streams.feature_space import FeatureSpace
from ouzel.streams.row_order import RANKED, canonical_rows, rank_row, ranking_room, sort_row

TILE = np.int64(1 << 13)  # features
APART = 80  # numbers between the lanes, or those of 2^k rows would


class Rows(NamedTuple):
    """Rows of features: row i has `ids[offsets[i]:offsets[i + 1]]` and their `values`."""

    offsets: np.ndarray  # (n + 1,) uint64
    ids: np.ndarray  # (features,) uint32
    values: np.ndarray  # (features,) float32


class Features(NamedTuple):
    """The features of a batch, in canonical order, and what they are called."""

    rows: Rows
    names: Names | None
    space: FeatureSpace
    factors: Factors | None = None  # of what is to be made


class Lanes:
    """Room for lanes of ids and values, which batch after batch is written into."""

    def __init__(self) -> None:
        self._ids, self._values = np.empty((0, 0), np.uint32), np.empty((0, 0), np.float32)

    def room(self, count: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """Ids and values (count, rows), at addresses that do not share the processor's cache lines."""
        if count > len(self._ids) or rows > self._ids.shape[1] - APART:
            shape = count, rows + APART
            self._ids, self._values = np.empty(shape, np.uint32), np.empty(shape, np.float32)
        return self._ids[:count, :rows], self._values[:count, :rows]


@kernel
def _gather(lane_ids, lane_values, order, offsets, ids, values):
    width, n = np.int64(lane_ids.shape[0]), np.int64(lane_ids.shape[1])
    height = max(np.int64(1), TILE // max(np.int64(1), width))  # rows that are turned together, in the nearest cache
    tile_ids, tile_values = np.empty(height * width, np.uint32), np.empty(height * width, np.float32)
    ends = np.empty(height, np.int64)
    ranking = ranking_room()
    filled = np.int64(0)
    offsets[0] = 0
    for first in range(0, n, height):
        rows = min(height, n - first)
        for i in range(rows):
            ends[i] = i * width
        for lane in order:
            for i in range(rows):
                value, end = lane_values[lane, first + i], ends[i]
                tile_ids[end], tile_values[end] = lane_ids[lane, first + i], value
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
                if count > RANKED or filled < start + count:  # those of one id are added up as the lanes lie
                    filled = start
                    for lane in range(width):
                        ids[filled], values[filled] = lane_ids[lane, first + i], lane_values[lane, first + i]
                        filled += np.int64(values[filled] != 0.0)
                    filled = np.int64(sort_row(ids, values, start, filled))
            offsets[first + i + 1] = filled
    return filled


def rows_of_lanes(ids: np.ndarray, values: np.ndarray) -> Rows:
    """Rows in canonical order, of lanes of ids and values (lanes, n); where a value is 0 there is no feature."""
    room = ids.size  # what is not needed is never touched
    order = np.argsort(ids[:, :1].ravel(), kind="stable")  # that of all rows where each lane has one id
    rows = Rows(np.empty(ids.shape[1] + 1, np.uint64), np.empty(room, np.uint32), np.empty(room, np.float32))
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
    """Rows that also have the features `ids[offsets[i]:offsets[i + 1]]` and their values, in canonical order."""
    room = len(rows.ids) + len(ids)
    joined = Rows(np.empty(len(offsets), np.uint64), np.empty(room, np.uint32), np.empty(room, np.float32))
    _join(*rows, offsets, ids, values, *joined)
    return in_order(joined)


def in_order(rows: Rows) -> Rows:
    """Rows in canonical order, changed in place."""
    end = canonical_rows(*rows)
    return Rows(rows.offsets, rows.ids[:end], rows.values[:end])
