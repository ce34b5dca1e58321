"""The kernel that multiplies features: `first * 16777619 ^ second` is the hash of a cross, of all bits of its factors'.

That is the formula of Vowpal Wabbit and Fwumious Wabbit (Fowler, Noll and Vo's prime). Crosses stand behind the other
features of their row, in the order of their fields' names, then of the factors' hashes: so they are the same whatever
the order of columns. What has an id that the row has already is added to it.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.block import LARGEST
from ouzel.streams.text.spans import is_new

PRIME = np.uint64(16777619)
ZERO, ONE = np.uint64(0), np.uint64(1)


@kernel
def count_crosses(factors, combinations, sizes, fields, counts):
    """Write to `counts` (n,) how many crosses each row has at most. `fields` is how many there are."""
    many = np.zeros(fields + 1, np.float64)
    for row in range(len(counts)):
        start, stop = np.uint64(factors.bounds[row, 0]), np.uint64(factors.bounds[row, 1])
        for k in range(start, stop):
            many[factors.fields[k]] += 1.0
        total = 0.0
        for c in range(len(sizes)):
            product = 1.0
            for j in range(sizes[c]):
                product *= many[combinations[c, j]]
            total += product
        counts[row] = total
        for k in range(start, stop):
            many[factors.fields[k]] = 0.0


@force_inline
def _fitting(value):
    """A value as near as single precision has it."""
    return min(max(value, -LARGEST), LARGEST)


@force_inline
def _put(identity, value, begun, count, places, ids, values):
    """Add a feature to the row that began at `begun`; the new end.

    `places` (2^m,) holds where the row's ids stand, plus one, by their last bits; what it has of other rows is smaller.
    """
    last = np.uint64(len(places)) - ONE
    slot = identity & last
    while places[slot] > begun:
        place = places[slot] - ONE
        if ids[place] == identity:
            values[place] = _fitting(np.float64(values[place]) + value)
            return count
        slot = (slot + ONE) & last
    ids[count], values[count] = identity, value
    places[slot] = count + ONE
    return count + ONE


@force_inline
def _sorted_fields(factors, start, stop, many, first, placed, hashes, values, at):
    """Part a row's factors by fields, each in the order of hashes, and equal ones added up.

    Field f has the factors `first[f]` to `first[f] + many[f]`; `at` says which they are.
    """
    for k in range(start, stop):
        many[factors.fields[k]] += ONE
    end = ZERO
    for k in range(start, stop):
        field = factors.fields[k]
        if placed[field] == ZERO:
            first[field] = end
            end += many[field]
            many[field] = ZERO
            placed[field] = ONE
        hashed, value = factors.hashes[k], np.float64(factors.values[k])
        if value == 0.0:
            continue
        place = first[field] + many[field]
        while place > first[field] and hashes[place - ONE] > hashed:
            place -= ONE
        if place > first[field] and hashes[place - ONE] == hashed:
            values[place - ONE] = _fitting(values[place - ONE] + value)
            continue
        j = first[field] + many[field]
        while j > place:
            hashes[j], values[j], at[j] = hashes[j - ONE], values[j - ONE], at[j - ONE]
            j -= ONE
        hashes[place], values[place], at[place] = hashed, value, k
        many[field] += ONE


@kernel
def cross_rows(
    row_offsets,
    row_ids,
    row_values,
    factors,
    start,
    stop,
    combinations,
    sizes,
    fields,
    mask,
    noted,
    places,
    longest,
    offsets,
    ids,
    values,
    notes,
    note_ids,
):
    """Write rows `start` to `stop` of a block with their crosses to `offsets`, `ids` and `values`; count new names.

    The names of crosses that are new go to `notes` (k, most factors), as which factors they have, and `note_ids`, as
    long as there is room. `places` (2^m,) are zeros, twice as many as a row has features, `longest` the most factors
    that one has.
    """
    many, first, placed = np.zeros(fields, np.uint64), np.zeros(fields, np.uint64), np.zeros(fields, np.uint64)
    hashes, products, at = np.empty(longest, np.uint64), np.empty(longest), np.empty(longest, np.uint64)
    widest = combinations.shape[1]
    turns = np.zeros(widest, np.uint64)
    count, named = ZERO, ZERO
    offsets[0] = 0
    for row in range(start, stop):
        begun = count
        for k in range(row_offsets[row], row_offsets[row + 1]):
            identity, value = np.uint64(row_ids[k]), np.float64(row_values[k])
            count = _put(identity, value, begun, count, places, ids, values)
        low, high = np.uint64(factors.bounds[row, 0]), np.uint64(factors.bounds[row, 1])
        _sorted_fields(factors, low, high, many, first, placed, hashes, products, at)
        for c in range(len(sizes)):
            a, b = combinations[c, 0], combinations[c, 1]
            if many[a] == ZERO or many[b] == ZERO:
                continue
            if sizes[c] == 2:
                for i in range(first[a], first[a] + many[a]):
                    left, value = hashes[i] * PRIME, products[i]
                    for j in range(i if a == b else first[b], first[b] + many[b]):
                        identity = (left ^ hashes[j]) & mask
                        count = _put(identity, _fitting(value * products[j]), begun, count, places, ids, values)
                        if is_new(noted, identity) and named < len(notes):
                            notes[named, 0], notes[named, 1], note_ids[named] = at[i], at[j], identity
                            for k in range(2, widest):
                                notes[named, k] = -1
                            named += ONE
                continue
            size, depth = np.int64(sizes[c]), 0
            some = True
            for k in range(size):
                some &= many[combinations[c, k]] > ZERO
            if not some:
                continue
            for k in range(size):  # a field that comes again goes on from where it stands
                field = combinations[c, k]
                turns[k] = first[field]
            while depth >= 0:
                hashed, value = ZERO, 1.0
                for k in range(size):
                    hashed = (hashed * PRIME) ^ hashes[turns[k]] if k else hashes[turns[k]]
                    value = _fitting(value * products[turns[k]])
                identity = hashed & mask
                count = _put(identity, value, begun, count, places, ids, values)
                if is_new(noted, identity) and named < len(notes):
                    for k in range(widest):
                        notes[named, k] = np.int64(at[turns[k]]) if k < size else -1
                    note_ids[named] = identity
                    named += ONE
                depth = size - 1
                while depth >= 0:
                    field = combinations[c, depth]
                    turns[depth] += ONE
                    if turns[depth] < first[field] + many[field]:
                        break
                    depth -= 1
                for k in range(max(depth, 0) + 1, size):
                    field = combinations[c, k]
                    turns[k] = turns[k - 1] if field == combinations[c, k - 1] else first[field]
        for k in range(low, high):
            many[factors.fields[k]] = ZERO
            placed[factors.fields[k]] = ZERO
        offsets[row + 1 - start] = count
    return named


@kernel
def name_sizes(factors, prefix_sizes, notes, ends):
    """Write to `ends` (k,) where the names of noted crosses end, one behind the other."""
    end = ZERO
    for row in range(len(notes)):
        for k in range(notes.shape[1]):
            if notes[row, k] >= 0:
                factor = np.uint64(notes[row, k])
                end += factors.ends[factor] - factors.starts[factor] + np.uint64(k > 0)
                if not factors.whole[factor]:
                    end += prefix_sizes[factors.fields[factor] + 1] - prefix_sizes[factors.fields[factor]]
        ends[row] = end


@kernel
def write_names(factors, prefixes, prefix_sizes, notes, text):
    """Write the names of noted crosses: their factors' with * between. Prefix f ends at `prefix_sizes[f + 1]`."""
    filled = ZERO
    for row in range(len(notes)):
        for k in range(notes.shape[1]):
            if notes[row, k] < 0:
                continue
            factor = np.uint64(notes[row, k])
            if k:
                text[filled] = 42
                filled += ONE
            field = factors.fields[factor]
            if not factors.whole[factor]:
                for j in range(prefix_sizes[field], prefix_sizes[field + 1]):
                    text[filled] = prefixes[j]
                    filled += ONE
            for j in range(factors.starts[factor], factors.ends[factor]):
                text[filled] = factors.text[j]
                filled += ONE
