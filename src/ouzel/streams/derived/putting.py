"""Features that are added to a row: what has an id that the row has already is added to it."""

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
def _put_by_looking(identity, value, begun, count, ids, values):
    """Add a feature to a row that is looked through for its id, several at a time."""
    wanted, found = np.uint32(identity), False
    for place in range(begun, count):
        found |= ids[place] == wanted
    if not found:
        ids[count], values[count] = wanted, value
        return count + ONE
    place = begun
    while ids[place] != wanted:
        place += ONE
    values[place] = fitting(np.float64(values[place]) + value)
    return count


@force_inline
def put_feature(identity, value, begun, count, places, ids, values):
    """Add a feature to the row that began at `begun`; the new end.

    `places` (2^m,) holds where the row's ids stand, plus one, by their last bits; what it has of other rows is smaller.
    Where there are none, the row is looked through.
    """
    if len(places) == 0:
        return _put_by_looking(identity, value, begun, count, ids, values)
    last = np.uint64(len(places)) - ONE
    slot = identity & last
    while places[slot] > begun:
        place = places[slot] - ONE
        if ids[place] == identity:
            values[place] = fitting(np.float64(values[place]) + value)
            return count
        slot = (slot + ONE) & last
    ids[count], values[count] = identity, value
    places[slot] = count + ONE
    return count + ONE


@force_inline
def put_row(given, row, count, made):
    """Write the features that a row has already to `made`, from `count` on; the new end."""
    begun = count
    if len(made.places) == 0:
        for k in range(given.offsets[row], given.offsets[row + 1]):
            made.ids[count], made.values[count] = given.ids[k], given.values[k]
            count += ONE
        return count
    for k in range(given.offsets[row], given.offsets[row + 1]):
        identity, value = np.uint64(given.ids[k]), np.float64(given.values[k])
        count = put_feature(identity, value, begun, count, made.places, made.ids, made.values)
    return count
