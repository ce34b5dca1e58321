"""Scales of some columns for a learner of a byte budget, whatever the number of features.

A stream whose first example needs scales (`feature_scaling.needs_scales`) gives up a part of the budget, at most a
quarter, for the moments of a fixed number of columns. The first columns with a value beyond `ENTERS` get a place each,
and are scaled as by any other learner: dense ones are (x - mean) / standard deviation, rare ones x / the largest |x|
where that is beyond the limit. All other values are seen as they are, or as 1 or -1 beyond the limit. Any other stream
has no such scales: its learner is the paper's, within the whole budget, of values cut at the limit.

A place costs 56 bytes: an id, 32 bytes of moments, 4 of a list of what is dense, and 16 of the latest values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import allocate, bytes_of, require, uint32
from ouzel.learners import feature_scaling
from ouzel.learners.auto import standardisation, turning
from ouzel.learners.auto.standardisation import DENSE, LARGEST, OUTLIER, Features
from ouzel.learners.auto.turning import LEAVE_TABLE, TABLE
from ouzel.learners.feature_scaling import LIMIT, UNNOTED, Room, leave_small
from ouzel.learners.rows import Rows, longest

ENTERS = 2.0  # size of a value beyond which a column gets a place while one is free
SHARE = 0.25  # of a budget at most
MOST = 24  # places, each of which is looked at for every feature


class Columns(NamedTuple):
    ids: np.ndarray  # (k + 1,) uint32  slots of the columns by place, from 1 on; 0 of places that are free
    features: Features  # of the places; place 0 is the constant's


def layout(places: int) -> Any:
    """What the scales of so many columns are made of."""
    return Columns(uint32(places + 1), standardisation.layout(places + 1))


def check(columns: Columns) -> None:
    """Refuse places that contradict each other."""
    taken = columns.ids[1:] > 0
    require(columns.ids[0] == 0 and (np.diff(taken.astype(np.int8)) <= 0).all(), "ids of columns have a gap")
    require(len(np.unique(columns.ids[1:][taken])) == taken.sum(), "a column has two places")
    standardisation.check(columns.features)


def places_for(budget: float) -> int:
    """How many columns have scales of their own within a budget.

    >>> places_for(8192.0), places_for(2048.0), places_for(256.0)
    (24, 7, 0)
    """
    few = bytes_of(layout(0))
    return max(min(int((SHARE * budget - few) // (bytes_of(layout(1)) - few)), MOST), 0)


def init(places: int) -> Columns:
    """Scales that have seen nothing."""
    found: Columns = allocate(layout(places))
    return found


@force_inline
def _place_of(ids, slot):
    """The place of a slot, 0 if it has none."""
    found = 0
    for place in range(1, len(ids)):
        found = place if ids[place] == slot else found
    return found


@force_inline
def _scale_row(columns, room, places, numbers, rows, i, learns, scaled, filled):
    """Write row i to `scaled` from place `filled` on; return where it ends, its columns, and whether any is to turn.

    `places` and `numbers` take the places and values of its columns.
    """
    ids, features, count = columns.ids, columns.features, 0
    free = 1
    while free < len(ids) and ids[free] > 0:
        free += 1
    centred = rows.offsets[i] < rows.offsets[i + 1] and rows.indices[rows.offsets[i]] == 0
    for k in range(rows.offsets[i], rows.offsets[i + 1]):
        slot, x = rows.indices[k], rows.values[k]
        place = 0 if slot == 0 else _place_of(ids, slot)
        if place == 0 and slot > 0 and learns and free < len(ids) and abs(x) > ENTERS:
            ids[free] = slot
            place = free
            free += 1
        if place == 0 and abs(x) > LIMIT:
            x = np.float32(1.0) if x > 0.0 else np.float32(-1.0)
        if place > 0 or slot == 0:
            places[count], numbers[count] = place, x
            count += 1
        if place == 0:
            scaled.indices[filled], scaled.values[filled] = slot, x
            filled += 1
    indices, values = places[:count], numbers[:count]
    seen = standardisation.view_row(features, room, indices, values, centred)
    leave_small(features, room, indices, values, np.int64(features.totals[DENSE]), LIMIT)
    for k in range(seen):
        if room.values[k] != 0.0 and room.slots[k] > 0:
            scaled.indices[filled], scaled.values[filled] = ids[room.slots[k]], room.values[k]
            filled += 1
    turns = learns and turning.note_row(features, room, indices, values, seen, TABLE, LEAVE_TABLE)
    return filled, count, turns


@kernel
def _scale(columns, room, places, numbers, rows, start, importances, scaled):
    """Write rows from `start` on; return the row behind the last one, and how many columns it has if any is to turn."""
    filled = np.int64(scaled.offsets[start])
    for i in range(start, len(rows.offsets) - 1):
        learns = len(importances) > 0 and importances[i] > 0.0
        filled, count, turns = _scale_row(columns, room, places, numbers, rows, i, learns, scaled, filled)
        scaled.offsets[i + 1] = filled
        if turns:
            return i + 1, count
    return len(rows.offsets) - 1, 0


def scaled_rows(columns: Columns, rows: Rows, importances: np.ndarray = UNNOTED) -> Rows:
    """Rows as the learner sees them; with importances (n,), the scales take note of each after it was seen."""
    count, size = len(rows.offsets) - 1, len(columns.ids)
    seen, raw = np.empty((2, 2 * size), np.float32)
    room = Room(np.empty(2 * size, np.uint32), seen, raw, np.zeros(1, np.bool_))
    most = int(longest(rows.offsets)) + 1
    places, numbers = np.empty(most, np.uint32), np.empty(most, np.float32)
    length = int(rows.offsets[count] - rows.offsets[0]) + count * size
    scaled = Rows(np.zeros(count + 1, np.uint64), np.empty(length, np.uint32), np.empty(length, np.float32))
    start = 0
    while start < count:
        start, turned = _scale(columns, room, places, numbers, rows, start, importances, scaled)
        if turned > 0:
            turning.turn_features(columns.features, places[:turned], TABLE, LEAVE_TABLE)
    end = int(scaled.offsets[count])
    return Rows(scaled.offsets, scaled.indices[:end], scaled.values[:end])


def bytes_used(columns: Columns | None) -> int:
    """Bytes of the scales."""
    return 0 if columns is None else bytes_of(layout(len(columns.ids) - 1))


def units(columns: Columns, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What z = a x - b is of some slots (n,), while nothing is cut: a and b, both (n,)."""
    slopes, shifts = feature_scaling.units(columns.features, LIMIT)
    slopes[0] = 1.0
    places = _places_of(columns, slots)
    return slopes[places], shifts[places]


def _places_of(columns: Columns, slots: np.ndarray) -> np.ndarray:
    """The places (n,) of slots, 0 of those that have none."""
    here = (columns.ids[1:] == slots[:, None]) & (slots[:, None] > 0)
    found: np.ndarray = here @ np.arange(1, len(columns.ids))
    return found


def cut_values(columns: Columns, slots: np.ndarray, values: np.ndarray, centred: bool) -> np.ndarray:
    """How far values (n,) of slots (n,) are from none, as the learner sees both: in units of the values."""
    places, none = _places_of(columns, slots), np.zeros(len(slots))
    there, absent = (feature_scaling.standardised(columns.features, places, x, centred, LIMIT) for x in (values, none))
    slopes = units(columns, slots)[0]
    changes = np.divide(there - absent, slopes, out=none, where=slopes > 0.0)
    alone = np.where(np.abs(values) > LIMIT, np.sign(values), values)
    found: np.ndarray = np.where(places > 0, changes, alone)
    return found


def of_slots(columns: Columns, slots: int) -> Features:
    """The moments of so many slots, of which those of the columns are known."""
    taken = columns.ids[: 1 + np.count_nonzero(columns.ids)].astype(np.int64)
    few = columns.features._replace(
        moments=columns.features.moments[: len(taken)], window=columns.features.window[: len(taken)]
    )
    return standardisation.renumbered(few, taken, slots)


def top_of_raw(columns: Columns, slots: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slots and weights (n,) for features as they are, heaviest first, from those for what the learner sees."""
    slopes, shifts = units(columns, slots)
    found = weights * slopes
    found[slots == 0] -= weights @ shifts
    order = np.argsort(-np.abs(found), kind="stable")
    return slots[order], found[order]


def ordered(columns: Columns, slots: tuple[int, ...]) -> Columns:
    """The scales in which these slots have the first places, as many as there are; what is known of others is lost."""
    ids = np.zeros_like(columns.ids)
    ids[1 : len(slots) + 1] = slots[: len(ids) - 1]
    if np.array_equal(ids, columns.ids):
        return columns
    known = {slot: place for place, slot in enumerate(ids.tolist()) if slot}
    places = np.array([known.get(slot, 0) for slot in columns.ids.tolist()])
    kept = np.flatnonzero((places > 0) | (np.arange(len(ids)) == 0))
    old, new = columns.features, init(len(ids) - 1).features
    new.moments[places[kept]], new.window[places[kept]] = old.moments[kept], old.window[kept]
    new.totals[:] = old.totals
    dense = places[old.dense[: int(old.totals[DENSE])]]
    dense = dense[dense > 0]
    new.dense[: len(dense)], new.totals[DENSE], new.totals[OUTLIER] = dense, len(dense), 0.0
    new.moments[dense, LARGEST] = -np.arange(1.0, len(dense) + 1.0)
    return Columns(ids, new)
