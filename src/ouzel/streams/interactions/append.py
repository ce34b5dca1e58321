"""Features that are added to a row: they are written behind it, then those of one id are added up."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.streams.block import LARGEST

ONE = np.uint64(1)


@force_inline
def fitting(value):
    """A value as near as single precision has it."""
    return min(max(value, -LARGEST), LARGEST)


@force_inline
def put_feature(identity, value, count, made):
    """Write a feature to `made` at `count`; the new end."""
    made.ids[count], made.values[count] = identity, value
    return count + ONE


@force_inline
def put_row(given, row, count, made):
    """Write the features that a row has already to `made`, from `count` on; the new end."""
    for k in range(given.offsets[row], given.offsets[row + 1]):
        count = put_feature(given.ids[k], given.values[k], count, made)
    return count


@force_inline
def merge_row(begun, own, end, made):
    """Add up what has one id of the row from `begun` to `end`; its new end. Up to `own` each has another.

    Where there are no `places`, the row is looked through for an id, several at a time.
    """
    if len(made.places) == 0:
        return _merge_by_looking(begun, own, end, made.ids, made.values)
    return _merge_by_places(begun, end, made.places, made.ids, made.values)


@force_inline
def _merge_by_looking(begun, count, end, ids, values):
    for k in range(count, end):
        wanted, found = ids[k], False
        for place in range(begun, count):
            found |= ids[place] == wanted
        if not found:
            ids[count], values[count] = wanted, values[k]
            count += ONE
            continue
        place = begun
        while ids[place] != wanted:
            place += ONE
        values[place] = fitting(np.float64(values[place]) + np.float64(values[k]))
    return count


@force_inline
def _merge_by_places(begun, end, places, ids, values):
    """`places` (2^m,) has where ids stand, plus one, by their last bits; what it has of rows before is smaller."""
    count = begun
    while count < end and _place_of(ids[count], begun, count, places, ids) == count:  # nothing is to be moved
        count += ONE
    for k in range(count, end):
        identity, value = ids[k], values[k]
        place = _place_of(identity, begun, count, places, ids)
        if place == count:
            ids[count], values[count] = identity, value
            count += ONE
        else:
            values[place] = fitting(np.float64(values[place]) + np.float64(value))
    return count


@force_inline
def _place_of(identity, begun, count, places, ids):
    """Where an id stands in the row that began at `begun`; `count` if it is not there, where it is noted to stand."""
    last = np.uint64(len(places)) - ONE
    slot = np.uint64(identity) & last
    while places[slot] > begun:
        if ids[places[slot] - ONE] == identity:
            return places[slot] - ONE
        slot = (slot + ONE) & last
    places[slot] = count + ONE
    return count
