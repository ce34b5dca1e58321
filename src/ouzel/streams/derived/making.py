"""Blocks with features made of their factors: what makers of crosses and of n-grams do alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ouzel.errors import DataError
from ouzel.streams.block import Block, Names
from ouzel.streams.derived.factors import Entries, Factors
from ouzel.streams.derived.naming import Told, names_of
from ouzel.streams.options import Options
from ouzel.streams.row_order import without_zeros

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
