"""Features of tables column by column, a lane each, and row by row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.streams.row_order import RANKED, canonical_rows, rank_row, sort_row


class Rows(NamedTuple):
    """Rows of features: row i has `ids[offsets[i]:offsets[i + 1]]` and their `values`."""

    offsets: np.ndarray  # (n + 1,) uint64
    ids: np.ndarray  # (features,) uint32
    values: np.ndarray  # (features,) float32


@kernel
def _gather(lane_ids, lane_values, offsets, ids, values):
    spare_ids, spare_values = np.empty(RANKED, np.uint32), np.empty(RANKED, np.float32)
    filled = np.int64(0)
    offsets[0] = 0
    for row in range(lane_ids.shape[1]):
        start = filled
        ordered = True
        previous = np.int64(-1)
        for lane in range(lane_ids.shape[0]):
            value = lane_values[lane, row]
            if value != 0.0:
                identity = lane_ids[lane, row]
                ordered &= np.int64(identity) > previous
                previous = np.int64(identity)
                ids[filled] = identity
                values[filled] = value
                filled += 1
        if not ordered:
            if filled - start <= RANKED:
                filled = np.int64(rank_row(ids, values, start, filled, spare_ids, spare_values))
            else:
                filled = np.int64(sort_row(ids, values, start, filled))
        offsets[row + 1] = filled
    return filled


def rows_of_lanes(ids: np.ndarray, values: np.ndarray) -> Rows:
    """Rows in canonical order, of lanes of ids and values (lanes, n); where a value is 0 there is no feature."""
    room = int(np.count_nonzero(values))
    rows = Rows(np.empty(ids.shape[1] + 1, np.uint64), np.empty(room, np.uint32), np.empty(room, np.float32))
    end = _gather(ids, values, *rows)
    return Rows(rows.offsets, rows.ids[:end], rows.values[:end])


@kernel
def _join(offsets, ids, values, more_offsets, more_ids, joined_offsets, joined_ids, joined_values):
    filled = 0
    for i in range(len(offsets) - 1):
        joined_offsets[i] = filled
        for k in range(offsets[i], offsets[i + 1]):
            joined_ids[filled] = ids[k]
            joined_values[filled] = values[k]
            filled += 1
        for k in range(more_offsets[i], more_offsets[i + 1]):
            joined_ids[filled] = more_ids[k]
            joined_values[filled] = 1.0
            filled += 1
    joined_offsets[len(offsets) - 1] = filled


def with_ones(rows: Rows, offsets: np.ndarray, ids: np.ndarray) -> Rows:
    """Rows that also have the features `ids[offsets[i]:offsets[i + 1]]`, with the value 1; not in canonical order."""
    room = len(rows.ids) + len(ids)
    joined = Rows(np.empty(len(offsets), np.uint64), np.empty(room, np.uint32), np.empty(room, np.float32))
    _join(*rows, offsets, ids, *joined)
    return joined


def in_order(rows: Rows) -> Rows:
    """Rows in canonical order, changed in place."""
    end = canonical_rows(*rows)
    return Rows(rows.offsets, rows.ids[:end], rows.values[:end])
