"""Crosses: products of features of different fields, named and hashed as Vowpal Wabbit does."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.kernels.sort import AT_ONCE, TURN, count_smaller_among, sort
from ouzel.streams.feature_specs import combinations
from ouzel.streams.interaction_inputs import InteractionInputs
from ouzel.streams.interactions.append import fitting, merge_row, put_feature, put_row
from ouzel.streams.interactions.transform import RowsIn, RowsOut, Transform
from ouzel.streams.kernels.new_names import add_if_new
from ouzel.streams.kernels.row_buffer import LOW, RANKED, WORD

ZERO, ONE, TWO, SIX, SIXTY_THREE = (np.uint64(number) for number in (0, 1, 2, 6, 63))
PRIME = np.uint64(16777619)  # of FNV hashes


class Grouped(NamedTuple):
    """A row's inputs grouped by field, each in order of hashes: field f has `first[f]` to `first[f] + many[f]`."""

    many: np.ndarray  # (fields,) uint64
    first: np.ndarray  # (fields,) uint64
    hashes: np.ndarray  # (k,) uint32
    values: np.ndarray  # (k,) float64
    at: np.ndarray  # (k,) int64, positions among the inputs of the block
    found: np.ndarray  # (k,) int64, the same in the order of the row
    turned: np.ndarray  # (k + 8,) uint32, the hashes in that order, turned (`ouzel.kernels.sort`)
    ranks: np.ndarray  # (k + 8,) uint32


@kernel
def allocate_groups(fields, most):
    """Arrays for rows of `most` inputs at most."""
    many, first = np.zeros(fields, np.uint64), np.zeros(fields, np.uint64)
    hashes, values = np.empty(most, np.uint32), np.empty(most, np.float64)
    turned, ranks = np.empty(most + AT_ONCE, np.uint32), np.empty(most + AT_ONCE, np.uint32)
    return Grouped(many, first, hashes, values, np.empty(most, np.int64), np.empty(most, np.int64), turned, ranks)


@force_inline
def group_row(inputs, low, high, grouped):
    """Group the inputs `low` to `high` of a row by field; `many` and `first` of all fields are 0 before."""
    many, first, alone = grouped.many, grouped.first, True
    for k in range(low, high):
        many[inputs.fields[k]] += np.uint64(inputs.values[k] != 0.0)
        alone &= many[inputs.fields[k]] == ONE
    if alone:
        for k in range(low, high):
            place = k - low
            first[inputs.fields[k]] = place
            grouped.hashes[place], grouped.values[place], grouped.at[place] = inputs.hashes[k], inputs.values[k], k
        return
    end = ZERO
    for k in range(low, high):
        field = inputs.fields[k]
        if first[field] == ZERO:  # it is the end at first
            end += many[field]
            first[field] = end
    for j in range(high - low):
        k = high - ONE - j
        if inputs.values[k] != 0.0:
            first[inputs.fields[k]] -= ONE
            place = first[inputs.fields[k]]
            grouped.found[place], grouped.turned[place] = k, inputs.hashes[k] ^ TURN
    start = ZERO
    while start < end:
        field = inputs.fields[grouped.found[start]]
        start += many[field]
        many[field] = _in_order(inputs, first[field], many[field], grouped)


@kernel
def _sort_stably(turned, found, start, count, at):
    keys = np.empty(count, np.uint64)
    for k in range(count):
        keys[k] = (np.uint64(turned[start + k] ^ TURN) << WORD) | np.uint64(k)
    sort(keys, 0, count)
    for k in range(count):
        at[start + k] = found[start + (keys[k] & LOW)]


@force_inline
def _in_order(inputs, start, count, grouped):
    """Sort the inputs of a field by hash, and add up equal ones; return how many are left."""
    at, total = grouped.at, ZERO
    if count <= RANKED:
        count_smaller_among(grouped.turned, start, count, grouped.ranks)
        for k in range(count):
            rank = np.uint64(grouped.ranks[k])
            total += rank
            at[start + rank] = grouped.found[start + k]
    if total != count * (count - ONE) // TWO or count > RANKED:
        _sort_stably(grouped.turned, grouped.found, start, count, at)
    end = start
    for k in range(start, start + count):
        hashed, value = inputs.hashes[at[k]], np.float64(inputs.values[at[k]])
        if end > start and grouped.hashes[end - ONE] == hashed:
            grouped.values[end - ONE] = fitting(grouped.values[end - ONE] + value)
        else:
            grouped.hashes[end], grouped.values[end], at[end] = hashed, value, at[k]
            end += ONE
    return end - start


@kernel
def count_crosses(inputs, combinations, sizes, fields, counts):
    """Write to `counts` (n,) how many crosses each row gets at most, for this number of fields."""
    many = np.zeros(fields + 1, np.float64)
    for row in range(len(counts)):
        start, stop = np.uint64(inputs.bounds[row, 0]), np.uint64(inputs.bounds[row, 1])
        for k in range(start, stop):
            many[inputs.fields[k]] += 1.0
        total = 0.0
        for c in range(len(sizes)):
            product = 1.0
            for j in range(sizes[c]):
                product *= many[combinations[c, j]]
            total += product
        counts[row] = total
        for k in range(start, stop):
            many[inputs.fields[k]] = 0.0


@force_inline
def _put_pairs(grouped, i, start, stop, mask, count, out):
    """Write the crosses of input i with those from `start` to `stop` to `out`, several at a time."""
    left, value = np.uint64(grouped.hashes[i]) * PRIME, grouped.values[i]
    for j in range(start, stop):
        place = count + (j - start)
        out.ids[place] = (left ^ np.uint64(grouped.hashes[j])) & mask
        out.values[place] = fitting(value * grouped.values[j])


@force_inline
def _record_pairs(grouped, i, start, stop, count, named, out):
    """Record which of these crosses are new; return how many are recorded in all."""
    for j in range(start, stop):
        identity = out.ids[count + (j - start)]
        if add_if_new(out.seen, identity) and named < len(out.notes):
            out.notes[named, 0], out.notes[named, 1], out.note_ids[named] = grouped.at[i], grouped.at[j], identity
            for k in range(2, out.notes.shape[1]):
                out.notes[named, k] = -1
            named += ONE
    return named


@force_inline
def _all_seen(seen, ids, start, stop):
    """Whether all features from `start` to `stop` were seen before; several are looked up at a time, as most were."""
    last, known = np.uint64(len(seen)) * np.uint64(64) - ONE, ONE
    for k in range(start, stop):
        identity = np.uint64(ids[k]) & last
        known &= seen[identity >> SIX] >> (identity & SIXTY_THREE)
    return known & ONE == ONE


@force_inline
def _turn(turns, fields, size, first, many):
    """Advance to the next inputs of a combination, one of each of its fields; return -1 behind the last."""
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
def cross_rows(rows, combinations, sizes, fields, mask, longest, out):
    """Write rows with their crosses to `out`; return how many new names are recorded, as long as there is room.

    `longest` is the largest number of inputs that a row has.
    """
    inputs, notes = rows.inputs, out.notes
    grouped = allocate_groups(fields, longest)
    many, first, hashes, products, at = grouped.many, grouped.first, grouped.hashes, grouped.values, grouped.at
    widest = combinations.shape[1]
    turns = np.zeros(widest, np.uint64)
    count, named, naming = ZERO, ZERO, len(notes) > 0
    out.offsets[0] = 0
    for row in range(rows.start, rows.stop):
        begun = count
        count = own = put_row(rows, row, count, out)
        low, high = np.uint64(inputs.bounds[row, 0]), np.uint64(inputs.bounds[row, 1])
        group_row(inputs, low, high, grouped)
        for c in range(len(sizes)):
            a, b = combinations[c, 0], combinations[c, 1]
            if many[a] == ZERO or many[b] == ZERO:
                continue
            if sizes[c] == 2:
                for i in range(first[a], first[a] + many[a]):
                    start, stop = i if a == b else first[b], first[b] + many[b]
                    _put_pairs(grouped, i, start, stop, mask, count, out)
                    if naming and not _all_seen(out.seen, out.ids, count, count + (stop - start)):
                        named = _record_pairs(grouped, i, start, stop, count, named, out)
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
                count = put_feature(identity, value, count, out)
                if naming and add_if_new(out.seen, identity) and named < len(notes):
                    for k in range(widest):
                        notes[named, k] = np.int64(at[turns[k]]) if k < size else -1
                    out.note_ids[named] = identity
                    named += ONE
                depth = _turn(turns, combinations[c], size, first, many)
        for k in range(low, high):
            many[inputs.fields[k]] = first[inputs.fields[k]] = ZERO
        count = merge_row(begun, own, count, out)
        out.offsets[row + 1 - rows.start] = count
    return named


Plan = tuple[np.ndarray, np.ndarray]  # as `combinations` returns it


class CrossTransform(Transform):
    """Makes the crosses of a stream's options."""

    kind: ClassVar[str] = "crosses"
    separator: ClassVar[str] = "*"
    repeated: ClassVar[bool] = True

    def plan(self, names: tuple[str, ...]) -> Plan:
        """The fields that are multiplied with each other."""
        return combinations(names, self.derived.crosses)

    def count(self, plan: Plan, inputs: InteractionInputs, counts: np.ndarray) -> int:
        """Write to `counts` (n,) how many crosses each row gets at most; return how many inputs one has."""
        table, sizes = plan
        count_crosses(inputs.entries, table, sizes, np.int64(len(inputs.names)), counts)
        return int(table.shape[1])

    def make(self, plan: Plan, inputs: InteractionInputs, rows: RowsIn, out: RowsOut) -> int:
        """Write rows with their crosses; return how many names were recorded."""
        bounds = inputs.entries.bounds[rows.start : rows.stop]
        longest = np.int64(np.diff(bounds).max(initial=0))
        return int(cross_rows(rows, *plan, np.int64(len(inputs.names)), self.mask, longest, out))
