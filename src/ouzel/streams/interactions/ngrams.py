"""N-grams: words joined with those that follow, some of which may be skipped, hashed as Vowpal Wabbit does."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.feature_specs import spec_for
from ouzel.streams.interaction_inputs import InteractionInputs
from ouzel.streams.interactions.append import merge_row, put_feature, put_row
from ouzel.streams.interactions.transform import RowsIn, RowsOut, Transform
from ouzel.streams.kernels.new_names import add_if_new

FACTOR = np.uint64(27942141)
ZERO, ONE = np.uint64(0), np.uint64(1)


@kernel
def count_ngrams(inputs, words, skips, counts):
    """Write to `counts` (n,) how many n-grams each row gets at most, by the words and skips (fields,) of fields."""
    each = np.zeros(len(words))
    for field in range(len(words)):
        for more in range(1, words[field]):  # the others are any of those within reach
            ways = 1.0
            for k in range(more):
                ways = ways * (more + skips[field] - k) / (k + 1)
            each[field] += ways
    for row in range(len(counts)):
        total = 0.0
        for k in range(inputs.bounds[row, 0], inputs.bounds[row, 1]):
            total += each[inputs.fields[k]]
        counts[row] = total


@force_inline
def _next(turns, size, last):
    """Advance to the next choice of `size` places, the first fixed and none beyond `last`; False if there is none."""
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
def join_rows(rows, order, words, skips, mask, out):
    """Write rows with their n-grams to `out`, field after field; return how many new names are recorded."""
    inputs = rows.inputs
    widest = out.notes.shape[1]
    turns = np.zeros(widest + 1, np.int64)
    out.offsets[0] = 0
    longest = np.int64(0)
    for row in range(rows.start, rows.stop):
        longest = max(longest, inputs.bounds[row, 1] - inputs.bounds[row, 0])
    at = np.empty(longest, np.int64)
    count, named = ZERO, ZERO
    for row in range(rows.start, rows.stop):
        begun = count
        count = own = put_row(rows, row, count, out)
        low, high = inputs.bounds[row, 0], inputs.bounds[row, 1]
        for field in order:
            if words[field] < 2:
                continue
            length = 0
            for k in range(low, high):
                if inputs.fields[k] == field:
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
                        hashed = np.uint64(inputs.hashes[at[first]])
                        for k in range(1, size):
                            hashed = hashed * FACTOR + np.uint64(inputs.hashes[at[turns[k]]])
                        identity = hashed & mask
                        count = put_feature(identity, 1.0, count, out)
                        if add_if_new(out.seen, identity) and named < len(out.notes):
                            for k in range(widest):
                                out.notes[named, k] = at[turns[k]] if k < size else -1
                            out.note_ids[named] = identity
                            named += ONE
                        if not _next(turns, size, last):
                            break
        count = merge_row(begun, own, count, out)
        out.offsets[row + 1 - rows.start] = count
    return named


Plan = tuple[np.ndarray, np.ndarray, np.ndarray]  # fields in the order of their names; their words and skips (fields,)


class NGramTransform(Transform):
    """Makes the n-grams of a stream's options."""

    kind: ClassVar[str] = "n-grams"
    separator: ClassVar[str] = " "
    repeated: ClassVar[bool] = False

    def plan(self, names: tuple[str, ...]) -> Plan:
        """The order of the fields, and how many words and skips the n-grams of each have."""
        found = [spec_for(self.derived.ngrams, name) for name in names]
        sizes = np.array([(1, 0) if spec is None else (spec.size, spec.skips) for spec in found] or [(1, 0)], np.int64)
        order = sorted(range(len(names)), key=names.__getitem__)
        return np.array(order, np.int64), sizes[:, 0].copy(), sizes[:, 1].copy()

    def count(self, plan: Plan, inputs: InteractionInputs, counts: np.ndarray) -> int:
        """Write to `counts` (n,) how many n-grams each row gets at most; return how many words one has."""
        _, words, skips = plan
        count_ngrams(inputs.entries, words, skips, counts)
        return int(words.max())

    def make(self, plan: Plan, inputs: InteractionInputs, rows: RowsIn, out: RowsOut) -> int:
        """Write rows with their n-grams; return how many names were recorded."""
        return int(join_rows(rows, *plan, self.mask, out))
