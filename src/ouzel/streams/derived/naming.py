"""Names of features that are made of others: each is told once, of the factors it is made of."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.streams.block import Names
from ouzel.streams.derived.factors import Factors
from ouzel.streams.feature_names import FILTER_BITS

MOST_NAMED = 1 << 19  # features whose names are told, until they are told anew
AGAIN = 1 << 18  # examples after which names are told anew, for models that forget them
ZERO, ONE = np.uint64(0), np.uint64(1)


class Told:
    """Of which features names were told, by the bits of `noted`."""

    def __init__(self, bits: int) -> None:
        self.noted = np.zeros(max(1, 1 << min(bits, FILTER_BITS) >> 6), np.uint64)
        self.count = self._rows = 0
        self._most = min(MOST_NAMED, 1 << min(bits, FILTER_BITS))
        self.once = False  # whether nothing is told anew, for one who keeps the names of all

    def again(self) -> None:
        """Tell names from the next rows on anew."""
        self.noted[:] = 0
        self.count = self._rows = 0

    def room(self, rows: int, most: int) -> int:
        """How many of at most so many features of some rows may have their names told."""
        if self._rows > AGAIN and not self.once:
            self.again()
        self._rows += rows
        return min(most, self._most - self.count)


def names_of(factors: Factors, notes: np.ndarray, ids: np.ndarray, separator: str, repeated: bool) -> Names | None:
    """The names of features (k,): those of the factors that each row of `notes` (k, m) has, -1 for none, and between.

    `repeated` says that a field's prefix stands before each factor, and not before the first alone.
    """
    if not len(notes):
        return None
    sizes = np.cumsum([0, *map(len, factors.prefixes)]).astype(np.uint64)
    prefixes = np.frombuffer(b"".join(factors.prefixes) + b" ", np.uint8)
    ends = np.empty(len(notes), np.uint64)
    _name_sizes(factors.entries, sizes, repeated, notes, ends)
    text = np.empty(int(ends[-1]), np.uint8)
    _write_names(factors.entries, prefixes, sizes, repeated, np.uint8(ord(separator)), notes, text)
    return Names(ids, np.concatenate([np.zeros(1, np.uint64), ends[:-1]]), ends, text)


@kernel
def _name_sizes(factors, prefix_sizes, repeated, notes, ends):
    """Write to `ends` (k,) where the names of what was noted end, one behind the other.

    Prefix f ends at `prefix_sizes[f + 1]`; it stands before the first factor, and before others if it is `repeated`.
    """
    end = ZERO
    for row in range(len(notes)):
        for k in range(notes.shape[1]):
            if notes[row, k] >= 0:
                factor = np.uint64(notes[row, k])
                end += factors.ends[factor] - factors.starts[factor] + np.uint64(k > 0)
                if (repeated or k == 0) and not factors.whole[factor]:
                    end += prefix_sizes[factors.fields[factor] + 1] - prefix_sizes[factors.fields[factor]]
        ends[row] = end


@kernel
def _write_names(factors, prefixes, prefix_sizes, repeated, separator, notes, text):
    """Write the names of what was noted: those of its factors with the `separator` between."""
    filled = ZERO
    for row in range(len(notes)):
        for k in range(notes.shape[1]):
            if notes[row, k] < 0:
                continue
            factor = np.uint64(notes[row, k])
            if k:
                text[filled] = separator
                filled += ONE
            field = factors.fields[factor]
            if (repeated or k == 0) and not factors.whole[factor]:
                for j in range(prefix_sizes[field], prefix_sizes[field + 1]):
                    text[filled] = prefixes[j]
                    filled += ONE
            for j in range(factors.starts[factor], factors.ends[factor]):
                text[filled] = factors.text[j]
                filled += ONE
