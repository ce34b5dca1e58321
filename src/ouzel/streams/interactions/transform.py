"""The transform that adds derived features to blocks, and the names of what it adds.

Crosses, n-grams, bins and hinges are kinds of it. Each makes a plan from the names of fields, counts how many features
a row gets at most, and has a kernel that writes rows with them. The names of new features are emitted once, or again
after some rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ouzel.errors import DataError
from ouzel.kernels.jit import kernel
from ouzel.streams.block import Block, Names
from ouzel.streams.interaction_inputs import InputEntries, InteractionInputs
from ouzel.streams.kernels.new_names import FILTER_BITS, empty_seen_set
from ouzel.streams.kernels.row_buffer import without_zeros
from ouzel.streams.options import Options

MOST_NAMED = 1 << 19  # features that are named before names are reset
RESET_ROWS = 1 << 18  # rows after which names are reset, for models that forget them
FEW, SHORT = 8, 256  # most features added to a row, and in all, where a row is searched without a table of places
AT_ONCE = 1 << 18  # features that are made at a time: what fits a cache
FEWEST = 256  # rows
MOST_OF_A_ROW = 1 << 24
ZERO, ONE = np.uint64(0), np.uint64(1)


class EmittedNames:
    """The features whose names were emitted, by the bits of `seen`."""

    def __init__(self, bits: int) -> None:
        self.seen = empty_seen_set(bits)
        self.count = self._rows = 0
        self._most = min(MOST_NAMED, 1 << min(bits, FILTER_BITS))
        self.once = False  # whether names are never reset, for a reader that keeps all of them

    def reset(self) -> None:
        """Emit all names anew from the next rows on."""
        self.seen[:] = 0
        self.count = self._rows = 0

    def room(self, rows: int, most: int) -> int:
        """The number of features of some rows that may be named, `most` at most."""
        if self._rows > RESET_ROWS and not self.once:
            self.reset()
        self._rows += rows
        return min(most, self._most - self.count)


class RowsIn(NamedTuple):
    """Rows `start` to `stop` of a block, and their inputs, which a kernel makes features of."""

    offsets: np.ndarray
    ids: np.ndarray
    values: np.ndarray
    inputs: InputEntries
    start: np.int64
    stop: np.int64


class RowsOut(NamedTuple):
    """Arrays for rows with derived features, and for the names of new ones."""

    offsets: np.ndarray  # (n + 1,) uint64
    ids: np.ndarray  # (k,) uint32
    values: np.ndarray  # (k,) float32
    places: np.ndarray  # (2^m,) uint32, zeros, many times as many as a row has features, or none: see `merge_row`
    seen: np.ndarray  # (2^b,) uint64, the ids whose names were emitted: see `add_if_new`
    notes: np.ndarray  # (names, most inputs) int64, the inputs that a feature is made of, -1 behind the last
    note_ids: np.ndarray  # (names,) uint32


class Transform(ABC):
    """Makes features of the inputs of one block after the other."""

    kind: ClassVar[str]  # the name of the features in messages
    separator: ClassVar[str] = ""  # between the names of inputs
    repeated: ClassVar[bool] = (
        True  # whether the prefix of a field stands before each factor, or before the first alone
    )

    def __init__(self, options: Options) -> None:
        self.derived = options.derived
        self.mask = np.uint64((1 << options.bits) - 1)
        self.emitted = EmittedNames(options.bits)

    @abstractmethod
    def plan(self, names: tuple[str, ...]) -> Any:
        """The features to make of fields with these names, as `count` and `make` take it."""

    @abstractmethod
    def count(self, plan: Any, inputs: InteractionInputs, counts: np.ndarray) -> int:
        """Write to `counts` (n,) float64 how many features each row gets at most; return how many inputs one has."""

    @abstractmethod
    def make(self, plan: Any, inputs: InteractionInputs, rows: RowsIn, out: RowsOut) -> int:
        """Write rows with the features made of them; return how many names were recorded."""

    def names(self, plan: Any, inputs: InteractionInputs, out: RowsOut, named: int) -> Names | None:
        """The names of new features, of which `named` were recorded."""
        return names_of(inputs, out.notes[:named], out.note_ids[:named], self.separator, self.repeated)

    def parts(self, block: Block, whole: bool = False) -> Iterator[Block]:
        """A block with the features made of its inputs, in parts unless it is to stay `whole`."""
        inputs = block.interaction_inputs
        assert inputs is not None
        plan = self.plan(inputs.names)
        counts = np.empty(block.rows)
        widest = self.count(plan, inputs, counts)
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
            names_room = self.emitted.room(stop - start, room)
            out = RowsOut(
                np.empty(stop - start + 1, np.uint64),
                np.empty(room, np.uint32),
                np.empty(room, np.float32),
                np.zeros(places, np.uint32),
                self.emitted.seen,
                np.empty((names_room, widest), np.int64),
                np.empty(names_room, np.uint32),
            )
            rows = RowsIn(block.offsets, block.indices, block.values, inputs.entries, np.int64(start), np.int64(stop))
            named = int(self.make(plan, inputs, rows, out))
            self.emitted.count += named
            end = int(out.offsets[-1])
            end = int(without_zeros(out.offsets, out.ids[:end], out.values[:end]))
            names = self.names(plan, inputs, out, named)
            yield block.slice(start, stop)._replace(
                offsets=out.offsets,
                indices=out.ids[:end],
                values=out.values[:end],
                names=Names.joined([None if start else block.names, names]),
            )
            start = stop


def names_of(
    inputs: InteractionInputs, notes: np.ndarray, ids: np.ndarray, separator: str, repeated: bool
) -> Names | None:
    """The names of features (k,): those of the inputs in each row of `notes` (k, m), -1 for none, joined.

    A field's prefix stands before each of them if `repeated`, else before the first alone.
    """
    if not len(notes):
        return None
    sizes = np.cumsum([0, *map(len, inputs.prefixes)]).astype(np.uint64)
    prefixes = np.frombuffer(b"".join(inputs.prefixes) + b" ", np.uint8)
    ends = np.empty(len(notes), np.uint64)
    _name_sizes(inputs.entries, sizes, repeated, notes, ends)
    text = np.empty(int(ends[-1]), np.uint8)
    _write_names(inputs.entries, prefixes, sizes, repeated, np.uint8(ord(separator)), notes, text)
    return Names(ids, np.concatenate([np.zeros(1, np.uint64), ends[:-1]]), ends, text)


@kernel
def _name_sizes(inputs, prefix_sizes, repeated, notes, ends):
    """Write to `ends` (k,) where the recorded names end in their text; prefix f ends at `prefix_sizes[f + 1]`."""
    end = ZERO
    for row in range(len(notes)):
        for k in range(notes.shape[1]):
            if notes[row, k] >= 0:
                factor = np.uint64(notes[row, k])
                end += inputs.ends[factor] - inputs.starts[factor] + np.uint64(k > 0)
                if (repeated or k == 0) and not inputs.whole[factor]:
                    end += prefix_sizes[inputs.fields[factor] + 1] - prefix_sizes[inputs.fields[factor]]
        ends[row] = end


@kernel
def _write_names(inputs, prefixes, prefix_sizes, repeated, separator, notes, text):
    """Write the recorded names: those of their inputs with the `separator` between."""
    filled = ZERO
    for row in range(len(notes)):
        for k in range(notes.shape[1]):
            if notes[row, k] < 0:
                continue
            factor = np.uint64(notes[row, k])
            if k:
                text[filled] = separator
                filled += ONE
            field = inputs.fields[factor]
            if (repeated or k == 0) and not inputs.whole[factor]:
                for j in range(prefix_sizes[field], prefix_sizes[field + 1]):
                    text[filled] = prefixes[j]
                    filled += ONE
            for j in range(inputs.starts[factor], inputs.ends[factor]):
                text[filled] = inputs.text[j]
                filled += ONE
