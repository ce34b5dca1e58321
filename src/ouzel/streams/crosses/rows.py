"""The kernel that multiplies features: `first * 16777619 ^ second` is the hash of a cross, of all bits of its factors'.

That is the formula of Vowpal Wabbit and Fwumious Wabbit (Fowler, Noll and Vo's prime). Crosses stand behind the other
features of their row, in the order of their fields' names, then of the factors' hashes: so they are the same whatever
the order of columns. What has an id that the row has already is added to it.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.crosses.parting import part_row, room_to_part
from ouzel.streams.derived.putting import fitting, merge_row, put_feature, put_row
from ouzel.streams.text.spans import is_new

PRIME = np.uint64(16777619)
ZERO, ONE, SIX, SIXTY_THREE = (np.uint64(number) for number in (0, 1, 6, 63))


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
def _put_pairs(parted, i, start, stop, mask, count, made):
    """Write the crosses of factor i with those from `start` to `stop` to `made`, several at a time."""
    left, value = np.uint64(parted.hashes[i]) * PRIME, parted.values[i]
    for j in range(start, stop):
        place = count + (j - start)
        made.ids[place] = (left ^ np.uint64(parted.hashes[j])) & mask
        made.values[place] = fitting(value * parted.values[j])


@force_inline
def _note_pairs(parted, i, start, stop, count, named, made):
    """Note which of these crosses are new; how many are noted in all."""
    for j in range(start, stop):
        identity = made.ids[count + (j - start)]
        if is_new(made.noted, identity) and named < len(made.notes):
            made.notes[named, 0], made.notes[named, 1], made.note_ids[named] = parted.at[i], parted.at[j], identity
            for k in range(2, made.notes.shape[1]):
                made.notes[named, k] = -1
            named += ONE
    return named


@force_inline
def _all_noted(noted, ids, start, stop):
    """Whether all features from `start` to `stop` were met before: looked up several at a time, as most were."""
    last, known = np.uint64(len(noted)) * np.uint64(64) - ONE, ONE
    for k in range(start, stop):
        identity = np.uint64(ids[k]) & last
        known &= noted[identity >> SIX] >> (identity & SIXTY_THREE)
    return known & ONE == ONE


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
    factors, notes = given.factors, made.notes
    parted = room_to_part(fields, longest)
    many, first, hashes, products, at = parted.many, parted.first, parted.hashes, parted.values, parted.at
    widest = combinations.shape[1]
    turns = np.zeros(widest, np.uint64)
    count, named, naming = ZERO, ZERO, len(notes) > 0
    made.offsets[0] = 0
    for row in range(given.start, given.stop):
        begun = count
        count = own = put_row(given, row, count, made)
        low, high = np.uint64(factors.bounds[row, 0]), np.uint64(factors.bounds[row, 1])
        part_row(factors, low, high, parted)
        for c in range(len(sizes)):
            a, b = combinations[c, 0], combinations[c, 1]
            if many[a] == ZERO or many[b] == ZERO:
                continue
            if sizes[c] == 2:
                for i in range(first[a], first[a] + many[a]):
                    start, stop = i if a == b else first[b], first[b] + many[b]
                    _put_pairs(parted, i, start, stop, mask, count, made)
                    if naming and not _all_noted(made.noted, made.ids, count, count + (stop - start)):
                        named = _note_pairs(parted, i, start, stop, count, named, made)
                    count += stop - start
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
                    hashed = (hashed * PRIME if k else ZERO) ^ np.uint64(hashes[turns[k]])
                    value = fitting(value * products[turns[k]])
                identity = hashed & mask
                count = put_feature(identity, value, count, made)
                if naming and is_new(made.noted, identity) and named < len(notes):
                    for k in range(widest):
                        notes[named, k] = np.int64(at[turns[k]]) if k < size else -1
                    made.note_ids[named] = identity
                    named += ONE
                depth = _turn(turns, combinations[c], size, first, many)
        for k in range(low, high):
            many[factors.fields[k]] = first[factors.fields[k]] = ZERO
        count = merge_row(begun, own, count, made)
        made.offsets[row + 1 - given.start] = count
    return named
