"""Blocks with features made of their factors: what makers of crosses and of n-grams do alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ouzel.errors import DataError
from ouzel.kernels.jit import kernel
from ouzel.streams.block import Block, Names
from ouzel.streams.interaction_inputs import Entries, Factors
from ouzel.streams.kernels.row_order import without_zeros
from ouzel.streams.kernels.seen_set import FILTER_BITS, empty_seen_set
from ouzel.streams.options import Options

MOST_NAMED = 1 << 19  # features whose names are told, until they are told anew
AGAIN = 1 << 18  # examples after which names are told anew, for models that forget them
ZERO, ONE = np.uint64(0), np.uint64(1)


class Told:
    """Of which features names were told, by the bits of `noted`."""

    def __init__(self, bits: int) -> None:
        self.noted = empty_seen_set(bits)
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


FEW, SHORT = 8, 256  # features that are added to a row, and those it has in all, where it is looked through for them
AT_ONCE = 1 << 18  # features that are made at a time: what fits a cache
FEWEST = 256  # rows
MOST_OF_A_ROW = 1 << 24


class Given(NamedTuple):
    """Rows `start` to `stop` of a block, and their factors, which a kernel makes features of."""

    offsets: np.ndarray
    ids: np.ndarray
    values: np.ndarray
    factors: Entries
    start: np.int64
    stop: np.int64


class Made(NamedTuple):
    """Room for rows with what is made beside their features, and for the names of what is new."""

    offsets: np.ndarray  # (n + 1,) uint64
    ids: np.ndarray  # (k,) uint32
    values: np.ndarray  # (k,) float32
    places: np.ndarray  # (2^m,) uint32, zeros, many times as many as a row has features, or none: see `merge_row`
    noted: np.ndarray  # (2^b,) uint64, of which ids names were told: see `is_new`
    notes: np.ndarray  # (names, most factors) int64, which factors a feature is made of, -1 behind the last
    note_ids: np.ndarray  # (names,) uint32


class Maker(ABC):
    """Makes features of the factors of one block after the other."""

    kind: ClassVar[str]  # what they are, for people
    separator: ClassVar[str] = ""  # between the names of factors
    repeated: ClassVar[bool] = True  # whether the prefix of a field stands before each factor, or before the first

    def __init__(self, options: Options) -> None:
        self.derived = options.derived
        self.mask = np.uint64((1 << options.bits) - 1)
        self.told = Told(options.bits)

    @abstractmethod
    def plan(self, names: tuple[str, ...]) -> Any:
        """What is to be made of fields with these names."""

    @abstractmethod
    def count(self, plan: Any, factors: Factors, counts: np.ndarray) -> int:
        """Write to `counts` (n,) float64 how many features each row makes at most; give how many factors each has."""

    @abstractmethod
    def make(self, plan: Any, factors: Factors, given: Given, made: Made) -> int:
        """Write rows with what is made of them; how many names were noted."""

    def names(self, plan: Any, factors: Factors, made: Made, named: int) -> Names | None:
        """The names of features that are new: so many were noted."""
        return names_of(factors, made.notes[:named], made.note_ids[:named], self.separator, self.repeated)

    def parts(self, block: Block, whole: bool = False) -> Iterator[Block]:
        """A block, which has factors, with what is made of them, in parts unless it is to stay `whole`."""
        factors = block.factors
        assert factors is not None
        plan = self.plan(factors.names)
        counts = np.empty(block.rows)
        widest = self.count(plan, factors, counts)
        if counts.max(initial=0) > MOST_OF_A_ROW:
            row = int(np.argmax(counts))
            raise DataError(
                f"row {row + 1} of a block makes {counts[row]:,.0f} {self.kind}; make them of columns of fewer features"
            )
        few = counts.max(initial=0) <= FEW
        counts += np.diff(block.offsets)
        ends = np.cumsum(counts)
        start = 0
        while start < block.rows:
            before = ends[start - 1] if start else 0.0
            stop = block.rows
            if not whole:
                stop = min(stop, max(start + FEWEST, int(np.searchsorted(ends, before + AT_ONCE))))
            room, most = int(ends[stop - 1] - before), int(counts[start:stop].max())
            places = 0 if few and most <= SHORT else 1 << (16 * most).bit_length()
            names_room = self.told.room(stop - start, room)
            made = Made(
                np.empty(stop - start + 1, np.uint64),
                np.empty(room, np.uint32),
                np.empty(room, np.float32),
                np.zeros(places, np.uint32),
                self.told.noted,
                np.empty((names_room, widest), np.int64),
                np.empty(names_room, np.uint32),
            )
            given = Given(block.offsets, block.indices, block.values, factors.entries, np.int64(start), np.int64(stop))
            named = int(self.make(plan, factors, given, made))
            self.told.count += named
            end = int(made.offsets[-1])
            end = int(without_zeros(made.offsets, made.ids[:end], made.values[:end]))
            names = self.names(plan, factors, made, named)
            yield block.slice(start, stop)._replace(
                offsets=made.offsets,
                indices=made.ids[:end],
                values=made.values[:end],
                names=Names.joined([None if start else block.names, names]),
            )
            start = stop
