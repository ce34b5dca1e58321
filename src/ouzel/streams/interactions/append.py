"""Appending features to a row, and adding up those that share an id."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.streams.block import LARGEST

ONE = np.uint64(1)


@force_inline
def fitting(value):
    """A value, or the largest of its sign in single precision."""
    return min(max(value, -LARGEST), LARGEST)


@force_inline
def put_feature(identity, value, count, out):
    """Write a feature to `out` at `count`; return the new end."""
    out.ids[count], out.values[count] = identity, value
    return count + ONE


@force_inline
def put_row(rows, row, count, out):
    """Write the features that a row has already to `out`, from `count` on; return the new end."""
    for k in range(rows.offsets[row], rows.offsets[row + 1]):
        count = put_feature(rows.ids[k], rows.values[k], count, out)
    return count


@force_inline
def merge_row(begun, own, end, out):
    """Add up the features of one id in the row from `begun` to `end`; return its new end. Up to `own` all ids differ.

    Where there are no `places`, the row is searched for an id, several features at a time.
    """
    if len(out.places) == 0:
        return _merge_by_search(begun, own, end, out.ids, out.values)
    return _merge_by_places(begun, end, out.places, out.ids, out.values)


@force_inline
def _merge_by_search(begun, count, end, ids, values):
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
    """Merge by `places` (2^m,), positions of ids plus one by their last bits; those of earlier rows are smaller."""
    count = begun
    while count < end and _place_of(ids[count], begun, count, places, ids) == count:  # nothing moves
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
    """The position of an id in the row that began at `begun`; `count`, which is recorded for it, if it is not there."""
    last = np.uint64(len(places)) - ONE
    slot = np.uint64(identity) & last
    while places[slot] > begun:
        if ids[places[slot] - ONE] == identity:
            return places[slot] - ONE
        slot = (slot + ONE) & last
    places[slot] = count + ONE
    return count
