"""The fast path for numbers and categories: tokenized rows in place, Arrow batches column by column.

It reads a batch if no features are derived and no cell is refused.

`checked_columns` reads the same features column by column, and does all else: it reports errors, reads dates, marks
missing values, and collects the inputs of interactions. Where names share an id, another one may come first there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow

from ouzel.streams.block import LARGEST, Names
from ouzel.streams.feature_space import CATEGORY, NUMBER, column_key
from ouzel.streams.kernels.new_names import SPAN
from ouzel.streams.options import Options
from ouzel.streams.tables.arrow_columns import ColumnRows, PlainWords, plain_words_of
from ouzel.streams.tables.arrow_types import as_kind, column_errors, filled, is_dictionary, is_number, numbers_of, types
from ouzel.streams.tables.column_buffers import Rows, layout_of
from ouzel.streams.tables.csv_cells import TableBatch, TokenizedRows, read_in_place
from ouzel.streams.tables.dictionary_columns import DecodedDictionary
from ouzel.streams.tables.schema import ColumnKinds

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
    ) -> None:
        self._kinds = {place: kinds[name] for place, name in enumerate(names) if kinds.get(name) in (NUMBER, CATEGORY)}
        self.names = names
        self._options = options
        self._supported = not (options.derived or options.indicator or options.space.places())
        self._layout = layout_of(names, kinds, ids, options.seed)
        self._mask = np.uint32((1 << options.bits) - 1)
        self._rows = ColumnRows(self._layout, options.limits.word, self._mask)
        self._own = {
            place: Names.of_one(ids[names[place]], names[place])
            for place, kind in self._kinds.items()
            if kind == NUMBER and isinstance(column_key(names[place]), str)
        }
        self._column_kinds = column_kinds
        self._spans = np.empty((0, SPAN), np.uint64)

    def read(self, batch: TableBatch, seen: np.ndarray, name: str, decode: Decode) -> tuple[Rows, list[Names]] | None:
        """The features of a batch, and the names of the words not yet `seen`; None if the fast path cannot read it.

        `name` is that of the table in errors of a library; `decode` reads a dictionary.
        """
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
        rows, words, numbered, worded = found
        for place in np.flatnonzero(worded).tolist():
            if self._column_kinds.is_strict(self.names[place]):
                return None
            self._column_kinds.note_other(self.names[place], CATEGORY)
        return rows, [*(self._own[k] for k in np.flatnonzero(numbered).tolist() if k in self._own), words]

    def _read_columns(
        self, batch: pyarrow.RecordBatch, seen: np.ndarray, name: str, decode: Decode
    ) -> tuple[Rows, list[Names]] | None:
        words: dict[int, PlainWords | tuple[DecodedDictionary, np.ndarray]] = {}
        numbers: dict[int, np.ndarray] = {}
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
                    numbers[place], sound = _sound(array)
                else:
                    sound = False
            if not sound:
                return None
        found = self._rows.read(batch.num_rows, words, numbers, seen, self._spans) if words else None
        return None if found is None else (found[0], [*self._own.values(), found[1]])


def _sound(array: pyarrow.Array) -> tuple[np.ndarray, bool]:
    """The numbers (n,) of an array, 0 where it is null, and whether all of them are within bounds."""
    if types.is_integer(array.type) and not array.null_count:
        return filled(array, 0).astype(np.float64), True
    numbers = numbers_of(array, 0.0)
    fit = np.abs(numbers) <= LARGEST
    if fit.all():
        return numbers, True
    return np.where(fit, numbers, 0.0), bool((fit | np.isnan(numbers)).all())
