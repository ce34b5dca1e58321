"""Blocks with the crosses of their factors."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.kernels.ranks import AT_ONCE, TURN, count_smaller_among
from ouzel.kernels.sort import sort
from ouzel.streams.feature_specs import combinations
from ouzel.streams.interaction_inputs import Factors
from ouzel.streams.interactions.append import fitting, merge_row, put_feature, put_row
from ouzel.streams.interactions.transform import Given, Made, Maker
from ouzel.streams.kernels.row_order import LOW, RANKED, WORD
from ouzel.streams.kernels.seen_set import is_new

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)


class Parted(NamedTuple):
    """A row's factors by fields, each in the order of hashes: field f has `first[f]` to `first[f] + many[f]`."""

    many: np.ndarray  # (fields,) uint64
    first: np.ndarray  # (fields,) uint64
    hashes: np.ndarray  # (k,) uint32
    values: np.ndarray  # (k,) float64
    at: np.ndarray  # (k,) int64, which factor of the block it is
    found: np.ndarray  # (k,) int64, the same in the order in which a field has them
    turned: np.ndarray  # (k + 8,) uint32, and their hashes, turned (`ouzel.kernels.ranks`)
    ranks: np.ndarray  # (k + 8,) uint32


@kernel
def room_to_part(fields, most):
    """Room for rows of at most so many factors."""
    many, first = np.zeros(fields, np.uint64), np.zeros(fields, np.uint64)
    hashes, values = np.empty(most, np.uint32), np.empty(most, np.float64)
    turned, ranks = np.empty(most + AT_ONCE, np.uint32), np.empty(most + AT_ONCE, np.uint32)
    return Parted(many, first, hashes, values, np.empty(most, np.int64), np.empty(most, np.int64), turned, ranks)


@force_inline
def part_row(factors, low, high, parted):
    """Part the factors `low` to `high` of a row by their fields, of which `many` and `first` are 0 before."""
    many, first, alone = parted.many, parted.first, True
    for k in range(low, high):
        many[factors.fields[k]] += np.uint64(factors.values[k] != 0.0)
        alone &= many[factors.fields[k]] == ONE
    if alone:
        for k in range(low, high):
            place = k - low
            first[factors.fields[k]] = place
            parted.hashes[place], parted.values[place], parted.at[place] = factors.hashes[k], factors.values[k], k
        return
    end = ZERO
    for k in range(low, high):
        field = factors.fields[k]
        if first[field] == ZERO:  # it is the end at first
            end += many[field]
            first[field] = end
    for j in range(high - low):
        k = high - ONE - j
        if factors.values[k] != 0.0:
            first[factors.fields[k]] -= ONE
            place = first[factors.fields[k]]
            parted.found[place], parted.turned[place] = k, factors.hashes[k] ^ TURN
    start = ZERO
    while start < end:
        field = factors.fields[parted.found[start]]
        start += many[field]
        many[field] = _in_order(factors, first[field], many[field], parted)


@kernel
def _sort_stably(turned, found, start, count, at):
    keys = np.empty(count, np.uint64)
    for k in range(count):
        keys[k] = (np.uint64(turned[start + k] ^ TURN) << WORD) | np.uint64(k)
    sort(keys, 0, count)
    for k in range(count):
        at[start + k] = found[start + (keys[k] & LOW)]


@force_inline
def _in_order(factors, start, count, parted):
    """Put the factors of a field in the order of hashes, and add up equal ones; how many are left."""
    at, total = parted.at, ZERO
    if count <= RANKED:
        count_smaller_among(parted.turned, start, count, parted.ranks)
        for k in range(count):
            rank = np.uint64(parted.ranks[k])
            total += rank
            at[start + rank] = parted.found[start + k]
    if total != count * (count - ONE) // TWO or count > RANKED:
        _sort_stably(parted.turned, parted.found, start, count, at)
    end = start
    for k in range(start, start + count):
        hashed, value = factors.hashes[at[k]], np.float64(factors.values[at[k]])
        if end > start and parted.hashes[end - ONE] == hashed:
            parted.values[end - ONE] = fitting(parted.values[end - ONE] + value)
        else:
            parted.hashes[end], parted.values[end], at[end] = hashed, value, at[k]
            end += ONE
    return end - start


PRIME = np.uint64(16777619)
SIX, SIXTY_THREE = np.uint64(6), np.uint64(63)


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


Plan = tuple[np.ndarray, np.ndarray]  # which fields are multiplied with each other, and how many each time


class Crosser(Maker):
    """Makes the crosses that the options of a stream ask for."""

    kind: ClassVar[str] = "crosses"
    separator: ClassVar[str] = "*"
    repeated: ClassVar[bool] = True

    def plan(self, names: tuple[str, ...]) -> Plan:
        """Which fields are multiplied with each other."""
        return combinations(names, self.derived.crosses)

    def count(self, plan: Plan, factors: Factors, counts: np.ndarray) -> int:
        """How many crosses each row has at most."""
        table, sizes = plan
        count_crosses(factors.entries, table, sizes, np.int64(len(factors.names)), counts)
        return int(table.shape[1])

    def make(self, plan: Plan, factors: Factors, given: Given, made: Made) -> int:
        """Multiply."""
        bounds = factors.entries.bounds[given.start : given.stop]
        longest = np.int64(np.diff(bounds).max(initial=0))
        return int(cross_rows(given, *plan, np.int64(len(factors.names)), self.mask, longest, made))
