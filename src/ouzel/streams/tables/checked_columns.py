"""The feature columns of a record batch, dates among them, as rows of ids and values with their names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow

from ouzel.deferred import deferred
from ouzel.errors import DataError, UnexpectedError
from ouzel.sketches.hashing import feature_id
from ouzel.streams.block import LARGEST, Names, Slots
from ouzel.streams.dates import PARTS, WORDS, date_parts
from ouzel.streams.feature_space import (
    CATEGORY,
    DATE,
    NUMBER,
    UNDECIDED,
    FeatureSpace,
    column_key,
    columns_of_table,
)
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.missing import NA_FEATURE, is_missing
from ouzel.streams.options import Options
from ouzel.streams.tables.arrow_types import (
    PER_SECOND,
    as_kind,
    column_errors,
    compute,
    encoded,
    filled,
    is_dictionary,
    is_empty,
    is_list,
    is_moment,
    is_number,
    is_there,
    numbers_of,
    types,
)
from ouzel.streams.tables.cells import (
    NO_NUMBER,
    NOT_A_DATE,
    NOT_FINITE,
    TOO_LONG,
    Cells,
    Words,
    empty_cells,
    missing_cells,
    names_of_cells,
    read_cells,
    read_tokens,
    words_of_cells,
)
from ouzel.streams.tables.column_buffers import (
    ColumnBuffers,
    Features,
    Rows,
    any_in_row,
    list_rows,
    rows_of_buffers,
    with_more,
)
from ouzel.streams.tables.csv_cells import TableBatch, as_arrow
from ouzel.streams.tables.dictionary_columns import DecodedDictionary, Dictionaries
from ouzel.streams.tables.fast_path import FastPath
from ouzel.streams.tables.schema import ColumnKinds

if TYPE_CHECKING:
    from ouzel.streams import interaction_inputs
    from ouzel.streams.interaction_inputs import InputCollector
    from ouzel.streams.tables import odd_cells
else:
    odd_cells = deferred("ouzel.streams.tables.odd_cells")
    interaction_inputs = deferred("ouzel.streams.interaction_inputs")

PLACES = {part: {word: place for place, word in enumerate(words)} for part, words in WORDS.items()}
NONE_SEEN = np.empty(0, np.uint64)  # a set in which no word is new
SINGLE = (NUMBER, CATEGORY)  # kinds of columns with one feature in a cell
Buffers = tuple[np.ndarray, np.ndarray]  # ids (n,) and values (n,), 0 where there is no feature
Refused = tuple[str, np.ndarray]  # a column, and the error of each of its cells (n,) uint8, 0 if it has none
Read = tuple[Rows, list[Names], list[Refused]]
Tokens = tuple[np.ndarray, np.ndarray, Names]  # offsets of rows, ids, names


def read_dates(array: pyarrow.Array, wrong: np.ndarray) -> tuple[pyarrow.Array, dict[str, pyarrow.Array]]:
    """Arrow arrays of seconds, NaN where there is no date, and of the words of each calendar part.

    Cells that are neither dates nor missing are marked in `wrong` (n,).
    """
    return _typed_dates(array) if is_moment(array.type) else _dates_of_cells(array, wrong)


def _typed_dates(array: pyarrow.Array) -> tuple[pyarrow.Array, dict[str, pyarrow.Array]]:
    """`read_dates` of a column whose type is that of dates or times."""
    kind, missing = array.type, ~is_there(array)
    if types.is_time(kind):
        whole = filled(array.cast(pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64()), 0)
        seconds = whole.astype(np.int64) // max(1, PER_SECOND[kind.unit] // 10**6) / min(PER_SECOND[kind.unit], 10**6)
        parts = {"hour": _part(missing, (whole // (3600 * PER_SECOND[kind.unit])).astype(np.int8), WORDS["hour"])}
    else:
        timed = types.is_timestamp(kind)
        unit = kind.unit if timed else "s" if types.is_date32(kind) else "ms"
        whole = filled(array.cast(pyarrow.int32() if types.is_date32(kind) else pyarrow.int64()), 0).astype(np.int64)
        if types.is_date32(kind):
            whole *= 86400
        seconds = whole // max(1, PER_SECOND[unit] // 10**6) / min(PER_SECOND[unit], 10**6)
        parts = {
            "month": _part(missing, compute.subtract(compute.month(array), 1), WORDS["month"]),
            "weekday": _part(missing, compute.day_of_week(array), WORDS["weekday"]),
        }
        if timed:
            parts["hour"] = _part(missing, compute.hour(array), WORDS["hour"])
    nothing = pyarrow.nulls(len(array), pyarrow.string())
    return _numbers(np.where(missing, math.nan, seconds)), {part: parts.get(part, nothing) for part in PARTS}


def _part(missing: np.ndarray, codes: pyarrow.Array, words: Sequence[str]) -> pyarrow.Array:
    """The words of a calendar part by their positions, null where they are `missing` (n,)."""
    if isinstance(codes, np.ndarray):
        codes = _numbers(codes, ~missing)
    ends = pyarrow.py_buffer(np.cumsum([0, *map(len, words)], dtype=np.int32))
    texts = pyarrow.StringArray.from_buffers(len(words), ends, pyarrow.py_buffer("".join(words).encode()))
    return pyarrow.DictionaryArray.from_arrays(codes.cast(pyarrow.int8()), texts)


def _numbers(values: np.ndarray, there: np.ndarray | None = None) -> pyarrow.Array:
    """An Arrow array of numbers (n,), null where they are not `there`; `pyarrow.array` would import pandas."""
    bits = None if there is None else pyarrow.py_buffer(np.packbits(there, bitorder="little"))
    buffers = [bits, pyarrow.py_buffer(np.ascontiguousarray(values))]
    return pyarrow.Array.from_buffers(pyarrow.from_numpy_dtype(values.dtype), len(values), buffers)


def _dates_of_cells(array: pyarrow.Array, wrong: np.ndarray) -> tuple[pyarrow.Array, dict[str, pyarrow.Array]]:
    """`read_dates` of text, or of numbers, which are seconds."""
    codes, cells = encoded(array)
    seconds = np.full(len(cells) + 1, math.nan)  # the last is for null cells, which have the code -1
    words = {part: np.full(len(cells) + 1, -1, np.int8) for part in PARTS}
    bad = np.zeros(len(cells) + 1, np.bool_)
    for k, cell in enumerate(cells):
        if is_missing(cell):
            continue
        try:
            if isinstance(cell, bool):
                raise ValueError
            seconds[k], parts = date_parts(cell)
        except ValueError:
            bad[k] = True
            continue
        for part, word in parts.items():
            words[part][k] = PLACES[part][word]
    wrong[bad[codes]] = NOT_A_DATE
    found = {part: _part(places[codes] < 0, places[codes], WORDS[part]) for part, places in words.items()}
    return _numbers(seconds[codes]), found


class FeatureColumns:
    """The feature columns of a table: numbers by value, words as `column=word`, lists, and text word by word.

    They are `typed` if types say what columns hold; else text may be numbers, as in CSV files. The kind of a column,
    and so the space of its features, is decided when its first cells are read.
    """

    def __init__(
        self,
        columns: Sequence[str],
        options: Options,
        typed: bool,
        name: str,
        kinds: ColumnKinds,
        emitter: NameEmitter,
        slots: Slots | None = None,
    ) -> None:
        self.columns, self.options = columns, options
        self.name, self.typed = name, typed
        self.kinds = kinds
        self.mask = np.uint32((1 << options.bits) - 1)
        self.hashed = np.uint32(2**32 - 1) if options.derived else self.mask  # bits of hashes, from which ids are cut
        self._emitter, self._seen = emitter, emitter.begin()  # of the batch that is read
        self._inputs: InputCollector | None = None  # of the batch that is read, if features are derived
        self._dictionaries, self._buffers = Dictionaries(), ColumnBuffers()
        try:
            self.ids = {column: self._id(column, options.bits) for column in columns}
        except UnexpectedError as error:
            raise DataError.at(name, error.found, error.expected) from None
        self.above = 0  # rows of the table before the batch, lines above it counted
        self._fast_path: FastPath | None = None
        self._slots = slots
        self._decided: tuple[dict[str, str], FeatureSpace] | None = None

    def _id(self, column: str, bits: int) -> int:
        places = self.options.space.places()
        return places[column] if places else feature_id(column_key(column), self.options.seed, bits)

    def decided(self, batch: TableBatch) -> tuple[dict[str, str], FeatureSpace]:
        """The kind of each column, and the space of the features of all of them."""
        if self._decided is None:
            kinds = {
                column: self.kinds.decide(column, batch.column(column), self.typed, self.name, self.above)
                for column in self.columns
            }
            self.kinds.report()
            known = {column: kind if column in self.kinds.known else UNDECIDED for column, kind in kinds.items()}
            space = columns_of_table(self.columns, known, self.options.space)._replace(indicator=self.options.indicator)
            if not batch.num_rows:
                return kinds, space
            self._decided = kinds, space
        return self._decided

    def read(self, batch: TableBatch) -> tuple[Features, list[Refused]]:
        """The features of a batch, and the columns with bad cells."""
        n = batch.num_rows
        self._inputs = interaction_inputs.InputCollector(self.options.derived) if self.options.derived else None
        kinds, space = self.decided(batch)
        before = self.kinds.mixed
        read = self._read_fast(batch, kinds) if n else None
        rows, names, refused = read or self._by_columns(as_arrow(batch), kinds)
        dates = [column for column in self.columns if kinds[column] == DATE]
        if dates:
            more, found, bad = self._read_columns(batch, dates, kinds)
            rows, names, refused = with_more(rows, *more), names + found, refused + bad
        for column in [column for column in self.columns if kinds[column] not in (*SINGLE, DATE)]:
            wrong = np.zeros(n, np.uint8)
            with column_errors(batch, column, self.name):
                array = batch.column(column)
                offsets, tokens, words = self._tokens(array, column, wrong)
            rows = with_more(rows, offsets, tokens, np.ones(len(tokens), np.float32))
            names.append(words)
            if self.options.indicator:
                missing, buffers = missing_cells(array), (np.empty(n, np.uint32), np.empty(n, np.float32))
                names += self._mark(column, buffers, missing, words=True)
                rows = with_more(rows, np.concatenate([[0], np.cumsum(missing)]), *(part[missing] for part in buffers))
            if wrong.any():
                refused.append((column, wrong))
        if before is not self.kinds.mixed:
            self._say_words_among_numbers(batch, [column for column in self.kinds.mixed if column not in before])
        space = space if space.mixed == self.kinds.mixed else space._replace(mixed=self.kinds.mixed)
        inputs = None if self._inputs is None else self._inputs.inputs(n)
        in_slots = read is not None and self._fast_path is not None and self._fast_path.in_slots
        return Features(rows, Names.joined(names), space, inputs, in_slots), refused

    def _say_words_among_numbers(self, batch: TableBatch, columns: Sequence[str]) -> None:
        """Say where columns of numbers have their first word, unless the model has had some."""
        for column in columns:
            known = column in self.options.space.mixed or self.kinds.known.get(column) != NUMBER
            found = None if known or column not in batch.schema.names else odd_cells.first_word(batch.column(column))
            if found is not None:
                row, word = found
                place = f"{self.name}: row {self.above + row + 1}, column {column!r}"
                said = f"{word[: odd_cells.LONGEST]!r} among numbers is a category of its own"
                self.kinds.say_once(f"{place}: {said}; if it stands for an unknown value, leave the cell empty")

    def _read_fast(self, batch: TableBatch, kinds: dict[str, str]) -> Read | None:
        """Numbers and categories by the fast path; None if it cannot read them."""
        self._seen = self._emitter.begin()
        if self._fast_path is None or self._fast_path.names != batch.schema.names:
            self._fast_path = FastPath(batch.schema.names, kinds, self.ids, self.options, self.kinds, self._slots)
        found = self._fast_path.read(batch, self._seen, self.name, self._decode)
        return None if found is None else (*found, [])

    def _by_columns(self, batch: TableBatch, kinds: dict[str, str]) -> Read:
        """Numbers and categories, column by column."""
        self._seen = self._emitter.begin()
        return self._read_columns(batch, [column for column in self.columns if kinds[column] in SINGLE], kinds)

    def _read_columns(self, batch: TableBatch, columns: Sequence[str], kinds: dict[str, str]) -> Read:
        """Columns with one feature in a cell, or a fixed number of them."""
        n = batch.num_rows
        count = len(columns) + len(PARTS) * [kinds[column] for column in columns].count(DATE)
        ids, values = self._buffers.allocate(count, n)
        free = zip(ids, values, strict=True)
        names: list[Names] = []
        refused: list[Refused] = []
        for column in columns:
            with column_errors(batch, column, self.name):
                array = as_kind(batch.column(column), kinds[column])
                wrong = np.zeros(n, np.uint8)
                if kinds[column] == DATE:
                    array, parts = read_dates(array, wrong)
                    for part, words in parts.items():
                        names += self._read_cells(words, f"{column}.{part}", None, next(free), wrong, False)
                if kinds[column] != CATEGORY and is_number(array.type):
                    names += self._read_numbers(array, column, next(free), wrong)
                else:
                    own = self.ids[column] if kinds[column] == NUMBER else None
                    names += self._read_cells(array, column, own, next(free), wrong, self.options.indicator)
            if wrong.any():
                refused.append((column, wrong))
        return rows_of_buffers(ids, values), names, refused

    def _read_numbers(self, array: pyarrow.Array, column: str, buffers: Buffers, wrong: np.ndarray) -> list[Names]:
        """Numbers by value; null and NaN are missing."""
        ids, values = buffers
        numbers = numbers_of(array, np.nan)
        ids[:] = self.ids[column]
        with np.errstate(over="ignore", invalid="ignore"):
            values[:] = numbers
        if np.abs(values).max(initial=0.0) < LARGEST:  # not where one is NaN
            self._collect_numbers(column, values, np.broadcast_to(True, len(values)))
            return self._own_name(column)
        fit = np.abs(numbers) <= LARGEST
        missing = np.isnan(numbers)
        wrong[~(fit | missing)] = NOT_FINITE
        values[:] = np.where(fit, numbers, 0.0)
        self._collect_numbers(column, values, fit)
        return self._own_name(column) + (self._mark(column, buffers, missing) if self.options.indicator else [])

    def _mark(self, column: str, buffers: Buffers, missing: np.ndarray, words: bool = False) -> list[Names]:
        """Write the feature of a missing value where a column, which may have several `words` in a row, has none."""
        if not missing.any():
            return []
        (ids, values), name = buffers, f"{column}={NA_FEATURE}"
        hashed = feature_id(name, self.options.seed, 32)
        place = self.options.space._replace(indicator=True).place_of_missing(column)
        ids[missing], values[missing] = hashed & int(self.mask) if place is None else place, 1.0
        if self._inputs is not None and self._inputs.wants(column, words):
            rows = np.flatnonzero(missing)
            self._inputs.add_one(column, rows, hashed, np.ones(len(rows), np.float32), name)
        return [Names.of_one(int(ids[missing][0]), name)]

    def _collect_numbers(self, column: str, values: np.ndarray, present: np.ndarray) -> None:
        """Collect the numbers of a column, if features are derived from them."""
        if self._inputs is not None and self._inputs.wants(column):
            rows = np.flatnonzero(present)
            self._inputs.add_one(column, rows, self._id(column, 32), values[rows], column)

    def _own_name(self, column: str) -> list[Names]:
        """The name of a column's feature, unless it has a numeric id."""
        has_one = self.options.space.places() or isinstance(column_key(column), str)
        return [Names.of_one(self.ids[column], column)] if has_one else []

    def _read_cells(
        self, array: pyarrow.Array, column: str, own: int | None, buffers: Buffers, wrong: np.ndarray, indicator: bool
    ) -> list[Names]:
        """Words, and numbers if the column has an `own` id; a missing value is a feature if there is an `indicator`.

        The cells of a dictionary are read instead of those of rows.
        """
        ids, values = buffers
        prefix = f"{column}=".encode()
        if is_dictionary(array):
            known, codes = self._decode(column, array, own)
            text, cells, new = known.text, known.cells, known.pick(codes, self.mask, self._seen, ids, values)
        else:
            codes, words = None, words_of_cells(array)
            text, (cells, new) = words.data, self._read_words(words, prefix, own, self._seen)
            ids[:], values[:] = cells.ids, cells.values
        found = [self._names(cells, new, text, prefix)]

        def of_rows(part: np.ndarray) -> np.ndarray:
            return part if codes is None else part[codes]

        if cells.wrong.any():
            bad = of_rows(cells.wrong)
            np.copyto(wrong, bad, where=bad != 0)
        if own is not None or self.hashed != self.mask or self.options.space.places():
            named = of_rows(cells.starts < cells.ends)
            if self._inputs is not None and self._inputs.wants(column):
                chosen = Cells._make(of_rows(part)[named] for part in cells)
                self._collect_words(column, np.flatnonzero(named), chosen, text, prefix)
            if self.hashed != self.mask:
                ids[named] &= self.mask
            if own is not None:
                if self.options.space.places() or self.kinds.is_strict(column):
                    wrong[named] = NO_NUMBER
                elif named.any():
                    self.kinds.note_other(column, CATEGORY)
                self._collect_numbers(column, values, ~(named | of_rows(cells.missing) | (wrong != 0)))
                found += self._own_name(column) if not (named | of_rows(cells.missing) | (wrong != 0)).all() else []
        return found + (self._mark(column, buffers, of_rows(cells.missing)) if indicator else [])

    def _decode(
        self, column: str, array: pyarrow.Array, own: int | None = None
    ) -> tuple[DecodedDictionary, np.ndarray]:
        """The cells of a dictionary, and the cell of each row (n,)."""
        prefix = f"{column}=".encode()
        return self._dictionaries.read((column, own), array, lambda words: self._read_words(words, prefix, own)[0])

    def _read_words(
        self, words: Words, prefix: bytes, own: int | None = None, seen: np.ndarray = NONE_SEEN
    ) -> tuple[Cells, np.ndarray]:
        """The cells of text, with all bits of their hashes, and those of new words, not yet `seen`."""
        n = len(words.valid)
        cells, new, before = empty_cells(n), np.empty(n, np.int64), np.frombuffer(prefix, np.uint8)
        longest, seed = self.options.limits.word, self.options.seed
        settings = words, before, np.uint32(own or 0), own is not None, longest, seed, self.hashed, self.mask
        return cells, new[: read_cells(*settings, seen, cells, new)]

    def _names(self, cells: Cells, which: np.ndarray, text: np.ndarray, prefix: bytes) -> Names:
        """The names of some cells."""
        ids, starts, ends = (part[which] for part in (cells.ids, cells.starts, cells.ends))
        return names_of_cells(ids & self.mask, np.frombuffer(prefix, np.uint8), text, starts, ends)

    def _collect_words(
        self, column: str, rows: np.ndarray, cells: Cells, text: np.ndarray, prefix: bytes, several: bool = False
    ) -> None:
        """Collect words of a column, the cells of some rows (k,), if features are derived from them."""
        if self._inputs is not None and self._inputs.wants(column, several):
            where = cells.starts, cells.ends, text
            self._inputs.add(column, rows, cells.ids, cells.values, *where, prefix=prefix)

    def _tokens(self, array: pyarrow.Array, column: str, wrong: np.ndarray) -> Tokens:
        """The words of a column of text or lists: offsets of rows (n + 1,), ids, and names."""
        longest, seed = self.options.limits.word, self.options.seed
        prefix = f"{column}=".encode() if is_list(array.type) or self.kinds.several_texts else b""
        if is_list(array.type):
            return self._items(array, column, prefix, wrong)
        words = words_of_cells(array)
        offsets, ids, *spans = read_tokens(words, np.frombuffer(prefix, np.uint8), longest, seed, self.hashed, wrong)
        if self._inputs is not None and self._inputs.wants(column, words=True):
            rows = np.repeat(np.arange(len(array)), np.diff(offsets))
            starts, ends, text = spans
            where = starts + np.uint64(len(prefix)), ends, text
            self._inputs.add(column, rows, ids, np.ones(len(rows), np.float32), *where, prefix=prefix)
        ids = ids & self.mask
        return offsets, ids, Names(ids, *spans)

    def _items(self, array: pyarrow.Array, column: str, prefix: bytes, wrong: np.ndarray) -> Tokens:
        """`_tokens` of lists."""
        items = array.flatten()
        if is_empty(items.type):  # a small file may have very many of them
            array = pyarrow.nulls(len(array), array.type)
            items = array.flatten()
        words = words_of_cells(items)
        offsets = list_rows(array, len(items))
        cells, new = self._read_words(words, prefix, seen=self._seen)
        names = self._names(cells, new, words.data, prefix)
        if is_number(items.type):
            cells.wrong[np.abs(numbers_of(items, 0.0)) > LARGEST] = NOT_FINITE  # NaN is missing
        for kind in (NOT_FINITE, TOO_LONG):
            wrong[any_in_row(cells.wrong == kind, offsets)] = kind
        named = cells.starts < cells.ends
        rows = np.repeat(np.arange(len(array)), np.diff(offsets))[named]
        self._collect_words(column, rows, Cells._make(part[named] for part in cells), words.data, prefix, several=True)
        return np.concatenate([[0], np.cumsum(named)])[offsets], cells.ids[named] & self.mask, names
