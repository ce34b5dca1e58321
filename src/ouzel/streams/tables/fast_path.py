"""The fast path for numbers and categories: tokenized rows in place, Arrow batches column by column.

It reads a batch if no features are derived and no cell is refused.

`checked_columns` reads the same features column by column, and does all else: it reports errors, reads dates, and
collects the inputs of interactions. Where names share an id, another one may come first there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyarrow

from ouzel.deferred import deferred
from ouzel.sketches.hashing import feature_id
from ouzel.streams.block import LARGEST, Names, Slots
from ouzel.streams.feature_space import CATEGORY, NUMBER, column_key
from ouzel.streams.kernels.new_names import SPAN
from ouzel.streams.kernels.row_buffer import without_zeros
from ouzel.streams.missing import NA_FEATURE
from ouzel.streams.options import Options
from ouzel.streams.tables.arrow_columns import ColumnRows, PlainWords, plain_words_of
from ouzel.streams.tables.arrow_types import as_kind, column_errors, filled, is_dictionary, is_number, numbers_of, types
from ouzel.streams.tables.column_buffers import Rows, layout_of
from ouzel.streams.tables.csv_cells import TableBatch, TokenizedRows, read_in_place
from ouzel.streams.tables.dictionary_columns import DecodedDictionary
from ouzel.streams.tables.schema import ColumnKinds

if TYPE_CHECKING:
    from ouzel.streams.kernels import array_values
else:
    array_values = deferred("ouzel.streams.kernels.array_values")  # of tables of numbers alone

Decode = Callable[[str, pyarrow.Array], tuple[DecodedDictionary, np.ndarray]]


class FastPath:
    """Reads the columns of a table that hold numbers or categories; `ids` are those of numbers."""

    def __init__(
        self,
        names: list[str],
        kinds: Mapping[str, str],
        ids: Mapping[str, int],
        options: Options,
        column_kinds: ColumnKinds,
        slots: Slots | None = None,
    ) -> None:
        self._kinds = {place: kinds[name] for place, name in enumerate(names) if kinds.get(name) in (NUMBER, CATEGORY)}
        self.names = names
        self._options = options
        self._supported = not (options.derived or options.space.places())
        marked = {name: f"{name}={NA_FEATURE}" for name in names} if options.indicator else {}
        marks = {name: feature_id(mark, options.seed, options.bits) for name, mark in marked.items()}
        self._marks = [Names.of_one(marks[name], marked[name]) for name in names if name in marks]
        self._layout = layout_of(names, kinds, ids, options.seed, marks)
        self._mask = np.uint32((1 << options.bits) - 1)
        self._rows = ColumnRows(self._layout, options.limits.word, self._mask)
        self._own = {
            place: Names.of_one(ids[names[place]], names[place])
            for place, kind in self._kinds.items()
            if kind == NUMBER and (options.space.places() or isinstance(column_key(names[place]), str))
        }
        places = sorted(self._kinds, key=lambda place: ids.get(names[place], 0))
        self._numbers = [] if options.derived or CATEGORY in self._kinds.values() else places  # in the order of ids
        self._own_ids = np.array([ids[names[place]] for place in self._numbers], np.uint32)
        if (np.diff(self._own_ids.astype(np.int64)) == 0).any():
            self._numbers = []
        fitting = slots is not None and bool(self._numbers) and int(self._own_ids[-1]) + 1 < slots.limit
        self.in_slots = fitting and all(kind == NUMBER for kind in kinds.values())  # see `Block`
        self._ones = int(slots is not None and self.in_slots and slots.constant)
        if self.in_slots:
            self._own_ids = np.concatenate([np.zeros(self._ones, np.uint32), self._own_ids + np.uint32(1)])
        self._ids = np.empty((0, len(self._own_ids)), np.uint32)  # of full rows
        self._column_kinds = column_kinds
        self._spans = np.empty((0, SPAN), np.uint64)

    def read(self, batch: TableBatch, seen: np.ndarray, name: str, decode: Decode) -> tuple[Rows, list[Names]] | None:
        """The features of a batch, and the names of the words not yet `seen`; None if the fast path cannot read it.

        `name` is that of the table in errors of a library; `decode` reads a dictionary.
        """
        if self._numbers and not isinstance(batch, TokenizedRows):
            return self._read_numbers(batch, name)
        if not self._supported:
            return None
        cells = batch.num_rows * len(self.names)
        if cells > len(self._spans):
            self._spans = np.empty((cells, SPAN), np.uint64)
        if not isinstance(batch, TokenizedRows):
            return self._read_columns(batch, seen, name, decode)
        found = read_in_place(batch, self._layout, self._options.limits.word, self._mask, seen, self._spans)
        if found is None:
            return None
        rows, words, numbered, worded, marked = found
        for place in np.flatnonzero(worded).tolist():
            if self._column_kinds.is_strict(self.names[place]):
                return None
            self._column_kinds.note_other(self.names[place], CATEGORY)
        own = (self._own[k] for k in np.flatnonzero(numbered).tolist() if k in self._own)
        return rows, [*own, words, *self._marks_of(marked)]

    def _marks_of(self, marked: np.ndarray) -> list[Names]:
        """The names of what is missing in the columns of a mask (columns,), if that is a feature."""
        return [self._marks[k] for k in np.flatnonzero(marked).tolist()] if self._marks else []

    def _read_numbers(self, batch: pyarrow.RecordBatch, name: str) -> tuple[Rows, list[Names]] | None:
        """Columns that all hold numbers, if none is missing."""
        columns = []
        for place in self._numbers:
            with column_errors(batch, self.names[place], name):
                array = as_kind(batch.column(place), NUMBER)
                if not is_number(array.type) or array.null_count:
                    return None
                columns.append(numbers_of(array, np.nan))
        rows = array_values.rows_of_columns(columns, self._ones)
        n, width = rows.shape
        values = rows.ravel()
        are_finite, have_zeros = array_values.survey(values)
        if not are_finite:
            return None
        if len(self._ids) < n:
            self._ids = np.tile(self._own_ids, (n, 1))
        offsets, ids = np.arange(n + 1, dtype=np.uint64) * np.uint64(width), self._ids[:n].ravel()
        if have_zeros:
            ids = ids.copy()
            end = without_zeros(offsets, ids, values)
            ids, values = ids[:end], values[:end]
        return Rows(offsets, ids, values), [*self._own.values()]

    def _read_columns(
        self, batch: pyarrow.RecordBatch, seen: np.ndarray, name: str, decode: Decode
    ) -> tuple[Rows, list[Names]] | None:
        if CATEGORY not in self._kinds.values():
            return None  # with cells that are missing, numbers alone are as fast column by column
        words: dict[int, PlainWords | tuple[DecodedDictionary, np.ndarray]] = {}
        numbers: dict[int, tuple[np.ndarray, bool]] = {}
        for place, kind in self._kinds.items():
            column, sound = self.names[place], True
            with column_errors(batch, column, name):
                array = as_kind(batch.column(place), kind)
                if kind == CATEGORY and is_dictionary(array):
                    words[place] = known, _ = decode(column, array)
                    sound = not known.cells.wrong.any()
                elif kind == CATEGORY:
                    words[place] = plain_words_of(array)
                elif is_number(array.type):
                    values, lacking, sound = _sound(array, bool(self._marks))
                    numbers[place] = values, lacking
                else:
                    sound = False
            if not sound:
                return None
        found = self._rows.read(batch.num_rows, words, numbers, seen, self._spans)
        if found is None:
            return None
        rows, new, marked = found
        return rows, [*self._own.values(), new, *self._marks_of(marked)]


def _sound(array: pyarrow.Array, marked: bool) -> tuple[np.ndarray, bool, bool]:
    """The numbers (n,) of an array, whether any is NaN, and whether all others are within bounds.

    What is missing is NaN if it is `marked`, else 0.
    """
    if types.is_integer(array.type) and not array.null_count:
        return filled(array, 0).astype(np.float64), False, True
    nothing = np.nan if marked else 0.0
    numbers = numbers_of(array, nothing)
    fit = np.abs(numbers) <= LARGEST
    if fit.all():
        return numbers, False, True
    return np.where(fit, numbers, nothing), marked, bool((fit | np.isnan(numbers)).all())
