"""Blocks with the n-grams of their words."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.feature_specs import sizes_of
from ouzel.streams.interaction_inputs import Factors
from ouzel.streams.interactions.append import merge_row, put_feature, put_row
from ouzel.streams.interactions.transform import Given, Made, Maker
from ouzel.streams.kernels.seen_set import is_new

FACTOR = np.uint64(27942141)
ZERO, ONE = np.uint64(0), np.uint64(1)


@kernel
def count_ngrams(factors, words, skips, counts):
    """Write to `counts` (n,) how many n-grams each row has at most, of fields with so many words and skips."""
    each = np.zeros(len(words))
    for field in range(len(words)):
        for more in range(1, words[field]):  # the others are any of those within reach
            ways = 1.0
            for k in range(more):
                ways = ways * (more + skips[field] - k) / (k + 1)
            each[field] += ways
    for row in range(len(counts)):
        total = 0.0
        for k in range(factors.bounds[row, 0], factors.bounds[row, 1]):
            total += each[factors.fields[k]]
        counts[row] = total


@force_inline
def _next(turns, size, last):
    """Go on to the next choice of `size` places, the first fixed and none beyond `last`; whether there is one."""
    depth = size - 1
    while depth > 0 and turns[depth] == last - (size - 1 - depth):
        depth -= 1
    if depth == 0:
        return False
    turns[depth] += 1
    for k in range(depth + 1, size):
        turns[k] = turns[k - 1] + 1
    return True


@kernel
def join_rows(given, order, words, skips, mask, made):
    """Write rows with their n-grams to `made`, of fields with so many words and skips in order; count new names."""
    factors = given.factors
    widest = made.notes.shape[1]
    turns = np.zeros(widest + 1, np.int64)
    made.offsets[0] = 0
    longest = np.int64(0)
    for row in range(given.start, given.stop):
        longest = max(longest, factors.bounds[row, 1] - factors.bounds[row, 0])
    at = np.empty(longest, np.int64)
    count, named = ZERO, ZERO
    for row in range(given.start, given.stop):
        begun = count
        count = own = put_row(given, row, count, made)
        low, high = factors.bounds[row, 0], factors.bounds[row, 1]
        for field in order:
            if words[field] < 2:
                continue
            length = 0
            for k in range(low, high):
                if factors.fields[k] == field:
                    at[length] = k
                    length += 1
            for first in range(length - 1):
                for size in range(2, words[field] + 1):
                    last = min(first + size - 1 + skips[field], length - 1)
                    if first + size - 1 > last:
                        break
                    for k in range(size):
                        turns[k] = first + k
                    while True:
                        hashed = np.uint64(factors.hashes[at[first]])
                        for k in range(1, size):
                            hashed = hashed * FACTOR + np.uint64(factors.hashes[at[turns[k]]])
                        identity = hashed & mask
                        count = put_feature(identity, 1.0, count, made)
                        if is_new(made.noted, identity) and named < len(made.notes):
                            for k in range(widest):
                                made.notes[named, k] = at[turns[k]] if k < size else -1
                            made.note_ids[named] = identity
                            named += ONE
                        if not _next(turns, size, last):
                            break
        count = merge_row(begun, own, count, made)
        made.offsets[row + 1 - given.start] = count
    return named


Plan = tuple[np.ndarray, np.ndarray, np.ndarray]  # fields in the order of their names; their words and skips (fields,)


class NGrams(Maker):
    """Makes the n-grams that the options of a stream ask for."""

    kind: ClassVar[str] = "n-grams"
    separator: ClassVar[str] = " "
    repeated: ClassVar[bool] = False

    def plan(self, names: tuple[str, ...]) -> Plan:
        """How many words, and skips, n-grams of each field have."""
        sizes = np.array([sizes_of(self.derived.ngrams, name) for name in names] or [(1, 0)], np.int64)
        order = sorted(range(len(names)), key=names.__getitem__)
        return np.array(order, np.int64), sizes[:, 0].copy(), sizes[:, 1].copy()

    def count(self, plan: Plan, factors: Factors, counts: np.ndarray) -> int:
        """How many n-grams each row has at most."""
        _, words, skips = plan
        count_ngrams(factors.entries, words, skips, counts)
        return int(words.max())

    def make(self, plan: Plan, factors: Factors, given: Given, made: Made) -> int:
        """Join words."""
        return int(join_rows(given, *plan, self.mask, made))
