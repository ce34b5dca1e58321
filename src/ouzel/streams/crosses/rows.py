"""The kernel that multiplies features: `first * 16777619 ^ second` is the hash of a cross, of all bits of its factors'.

That is the formula of Vowpal Wabbit and Fwumious Wabbit (Fowler, Noll and Vo's prime). Crosses stand behind the other
features of their row, in the order of their fields' names, then of the factors' hashes: so they are the same whatever
the order of columns. What has an id that the row has already is added to it.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.derived.putting import fitting, put_feature, put_row
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
            values[place - ONE] = fitting(values[place - ONE] + value)
            continue
        j = first[field] + many[field]
        while j > place:
            hashes[j], values[j], at[j] = hashes[j - ONE], values[j - ONE], at[j - ONE]
            j -= ONE
        hashes[place], values[place], at[place] = hashed, value, k
        many[field] += ONE


@force_inline
def _turn(turns, fields, size, first, many):
    """Go on to the next factors of a combination, one of each of its fields; return -1 behind the last."""
    depth = size - 1
    while depth >= 0:
        turns[depth] += ONE
        if turns[depth] < first[fields[depth]] + many[fields[depth]]:
            break
        depth -= 1
    for k in range(max(depth, 0) + 1, size):
        turns[k] = turns[k - 1] if fields[k] == fields[k - 1] else first[fields[k]]
    return depth


@kernel
def cross_rows(given, combinations, sizes, fields, mask, longest, made):
    """Write rows with their crosses to `made`; count new names. `longest` is the most factors that a row has.

    The names of crosses that are new are noted as long as there is room.
    """
    factors, places, ids, values, notes = given.factors, made.places, made.ids, made.values, made.notes
    many, first, placed = np.zeros(fields, np.uint64), np.zeros(fields, np.uint64), np.zeros(fields, np.uint64)
    hashes, products, at = np.empty(longest, np.uint64), np.empty(longest), np.empty(longest, np.uint64)
    widest = combinations.shape[1]
    turns = np.zeros(widest, np.uint64)
    count, named, naming = ZERO, ZERO, len(notes) > 0
    made.offsets[0] = 0
    for row in range(given.start, given.stop):
        begun = count
        count = put_row(given, row, count, made)
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
                        count = put_feature(identity, fitting(value * products[j]), begun, count, places, ids, values)
                        if naming and is_new(made.noted, identity) and named < len(notes):
                            notes[named, 0], notes[named, 1], made.note_ids[named] = at[i], at[j], identity
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
                    value = fitting(value * products[turns[k]])
                identity = hashed & mask
                count = put_feature(identity, value, begun, count, places, ids, values)
                if naming and is_new(made.noted, identity) and named < len(notes):
                    for k in range(widest):
                        notes[named, k] = np.int64(at[turns[k]]) if k < size else -1
                    made.note_ids[named] = identity
                    named += ONE
                depth = _turn(turns, combinations[c], size, first, many)
        for k in range(low, high):
            many[factors.fields[k]] = ZERO
            placed[factors.fields[k]] = ZERO
        made.offsets[row + 1 - given.start] = count
    return named
