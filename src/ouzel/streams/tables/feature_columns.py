"""The columns of a record batch that hold features, as rows of ids and values with the names of the features."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyarrow
import pyarrow.compute as compute

from ouzel.errors import DataError, UnexpectedError
from ouzel.sketches.hashing import feature_id
from ouzel.streams.block import LARGEST, Names
from ouzel.streams.dates import PARTS, WORDS, date_parts
from ouzel.streams.feature_space import CATEGORY, DATE, NUMBER, FeatureSpace, columns_of_table, own_name
from ouzel.streams.interaction_inputs import Collector
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.missing import MARK, is_missing
from ouzel.streams.options import Options
from ouzel.streams.tables.arrow_types import (
    PER_SECOND,
    as_kind,
    converting,
    encoded,
    filled,
    is_coded,
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
    missing_cells,
    names_of_cells,
    no_cells,
    read_cells,
    read_tokens,
    words_of_cells,
)
from ouzel.streams.tables.column_buffers import Features, Lanes, Rows, any_in_row, list_rows, rows_of_lanes, with_more
from ouzel.streams.tables.dictionary_columns import Coded, Dictionaries
from ouzel.streams.tables.fast_path import AtOnce
from ouzel.streams.tables.schema import ColumnKinds
from ouzel.streams.tables.tokenized_rows import TableBatch, as_arrow

PLACES = {part: {word: place for place, word in enumerate(words)} for part, words in WORDS.items()}


def read_dates(array: pyarrow.Array, wrong: np.ndarray) -> tuple[pyarrow.Array, dict[str, pyarrow.Array]]:
    """Arrow arrays of seconds, NaN where there is no date, and of the words of each part; marks in `wrong` (n,) what
    is neither a date nor missing.
    """
    return _typed_dates(array) if is_moment(array.type) else _dates_of_cells(array, wrong)


def _typed_dates(array: pyarrow.Array) -> tuple[pyarrow.Array, dict[str, pyarrow.Array]]:
    """The same of a column whose type is that of dates or times."""
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
    return pyarrow.array(np.where(missing, math.nan, seconds)), {part: parts.get(part, nothing) for part in PARTS}


def _part(missing: np.ndarray, codes: pyarrow.Array, words: Sequence[str]) -> pyarrow.Array:
    """The words of a calendar part, by their places among all, null where they are `missing` (n,)."""
    if isinstance(codes, np.ndarray):
        codes = pyarrow.array(codes, mask=missing)
    return pyarrow.DictionaryArray.from_arrays(codes.cast(pyarrow.int8()), pyarrow.array(words, pyarrow.string()))


def _dates_of_cells(array: pyarrow.Array, wrong: np.ndarray) -> tuple[pyarrow.Array, dict[str, pyarrow.Array]]:
    """The same of text, or of numbers, which are seconds."""
    codes, cells = encoded(array)
    seconds = np.full(len(cells) + 1, math.nan)  # the last is for nothing, which has the code -1
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
    return pyarrow.array(seconds[codes]), found


NOTHING = np.empty(0, np.uint64)  # marks no words
OF_ONE = (NUMBER, CATEGORY)  # kinds of columns whose cells are a feature each
Lane = tuple[np.ndarray, np.ndarray]  # ids (n,) and values (n,), 0 where there is no feature
Refused = tuple[str, np.ndarray]  # a column, and what is wrong with each of its cells (n,) uint8, 0 if nothing
Read = tuple[Rows, list[Names], list[Refused]]
Tokens = tuple[np.ndarray, np.ndarray, Names]  # offsets of rows, ids, names


class FeatureColumns:
    """The columns of a table that are features: numbers by value, words as `column=word`, lists, and text by words.

    `typed` says that the types of columns tell what they hold; else text may be numbers, as in CSV files. What a column
    holds is decided, and so what its features are known by, when its first cells are read.
    """

    def __init__(
        self, columns: Sequence[str], options: Options, typed: bool, name: str, kinds: ColumnKinds, telling: NameEmitter
    ) -> None:
        self.columns, self.options = columns, options
        self.name, self.typed = name, typed
        self.kinds = kinds
        self.mask = np.uint32((1 << options.bits) - 1)
        self.hashed = np.uint32(2**32 - 1) if options.derived else self.mask  # bits of hashes, before they are ids
        self._telling, self._noted = telling, telling.begin()  # of the batch that is read
        self._factors = Collector(options.derived)  # of the batch that is read
        self._dictionaries, self._lanes = Dictionaries(), Lanes()
        try:
            self.ids = {column: self._id(column, options.bits) for column in columns}
        except UnexpectedError as error:
            raise DataError.at(name, error.found, error.expected) from None
        self._at_once: AtOnce | None = None
        self._decided: tuple[dict[str, str], FeatureSpace] | None = None

    def _id(self, column: str, bits: int) -> int:
        places = self.options.space.places()
        return places[column] if places else feature_id(own_name(column), self.options.seed, bits)

    def decided(self, batch: TableBatch) -> tuple[dict[str, str], FeatureSpace]:
        """What each column holds, and what the features of all of them are known by."""
        if self._decided is None:
            kinds = {
                column: self.kinds.decide(column, batch.column(column), self.typed, self.name)
                for column in self.columns
            }
            self.kinds.tell()
            known = {column: kind for column, kind in kinds.items() if column in self.kinds.known}
            space = columns_of_table(self.columns, known, self.options.space)._replace(indicator=self.options.indicator)
            if not batch.num_rows:
                return kinds, space
            self._decided = kinds, space
        return self._decided

    def read(self, batch: TableBatch) -> tuple[Features, list[Refused]]:
        """The features of a batch, and the columns with bad cells."""
        n = batch.num_rows
        self._factors = Collector(self.options.derived)
        kinds, space = self.decided(batch)
        read = self._read_at_once(batch, kinds) if n else None
        rows, names, refused = read or self._by_columns(as_arrow(batch), kinds)
        dates = [column for column in self.columns if kinds[column] == DATE]
        if dates:
            more, found, bad = self._read_columns(batch, dates, kinds)
            rows, names, refused = with_more(rows, *more), names + found, refused + bad
        for column in [column for column in self.columns if kinds[column] not in (*OF_ONE, DATE)]:
            wrong = np.zeros(n, np.uint8)
            with converting(batch, column, self.name):
                array = batch.column(column)
                offsets, tokens, words = self._tokens(array, column, wrong)
            rows = with_more(rows, offsets, tokens, np.ones(len(tokens), np.float32))
            names.append(words)
            if self.options.indicator:
                missing, lane = missing_cells(array), (np.empty(n, np.uint32), np.empty(n, np.float32))
                names += self._mark(column, lane, missing, words=True)
                rows = with_more(rows, np.concatenate([[0], np.cumsum(missing)]), *(part[missing] for part in lane))
            if wrong.any():
                refused.append((column, wrong))
        space = space if space.also == self.kinds.also else space._replace(also=self.kinds.also)
        return Features(rows, Names.joined(names), space, self._factors.factors(n)), refused

    def _read_at_once(self, batch: TableBatch, kinds: dict[str, str]) -> Read | None:
        """Numbers and categories, where all columns of them can be read together."""
        self._noted = self._telling.begin()
        if self._at_once is None or self._at_once.names != batch.schema.names:
            self._at_once = AtOnce(batch.schema.names, kinds, self.ids, self.options, self.kinds)
        found = self._at_once.read(batch, self._noted, self.name, self._decode)
        return None if found is None else (*found, [])

    def _by_columns(self, batch: TableBatch, kinds: dict[str, str]) -> Read:
        """Numbers and categories, column by column."""
        self._noted = self._telling.begin()
        return self._read_columns(batch, [column for column in self.columns if kinds[column] in OF_ONE], kinds)

    def _read_columns(self, batch: TableBatch, columns: Sequence[str], kinds: dict[str, str]) -> Read:
        """Columns that have a feature in each cell, or a fixed number of them."""
        n = batch.num_rows
        room = len(columns) + len(PARTS) * [kinds[column] for column in columns].count(DATE)
        ids, values = self._lanes.room(room, n)
        free = zip(ids, values, strict=True)
        names: list[Names] = []
        refused: list[Refused] = []
        for column in columns:
            with converting(batch, column, self.name):
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
        return rows_of_lanes(ids, values), names, refused

    def _read_numbers(self, array: pyarrow.Array, column: str, lane: Lane, wrong: np.ndarray) -> list[Names]:
        """Numbers by value; what is null, or not a number, is missing."""
        ids, values = lane
        numbers = numbers_of(array, np.nan)
        fit = np.abs(numbers) <= LARGEST
        ids[:] = self.ids[column]
        if fit.all():
            values[:] = numbers
            self._take_numbers(column, values, fit)
            return self._own_name(column)
        missing = np.isnan(numbers)
        wrong[~(fit | missing)] = NOT_FINITE
        values[:] = np.where(fit, numbers, 0.0)
        self._take_numbers(column, values, fit)
        return self._own_name(column) + (self._mark(column, lane, missing) if self.options.indicator else [])

    def _mark(self, column: str, lane: Lane, missing: np.ndarray, words: bool = False) -> list[Names]:
        """Have the rows where a column, which may have several `words` in a row, is missing (n,) bool say so."""
        if not missing.any():
            return []
        (ids, values), name = lane, f"{column}={MARK}"
        hashed = feature_id(name, self.options.seed, 32)
        place = self.options.space._replace(indicator=True).place_of_missing(column)
        ids[missing], values[missing] = hashed & int(self.mask) if place is None else place, 1.0
        if self._factors.wants(column, words):
            rows = np.flatnonzero(missing)
            self._factors.add_one(column, rows, hashed, np.ones(len(rows), np.float32), name)
        return [Names.of_one(int(ids[missing][0]), name)]

    def _take_numbers(self, column: str, values: np.ndarray, present: np.ndarray) -> None:
        """Have others made of the numbers of a column, if that is asked for."""
        if self._factors.wants(column):
            rows = np.flatnonzero(present)
            self._factors.add_one(column, rows, self._id(column, 32), values[rows], column)

    def _own_name(self, column: str) -> list[Names]:
        """The name of a column's feature, unless that has a number of its own."""
        has_one = self.options.space.places() or isinstance(own_name(column), str)
        return [Names.of_one(self.ids[column], column)] if has_one else []

    def _read_cells(
        self, array: pyarrow.Array, column: str, own: int | None, lane: Lane, wrong: np.ndarray, indicator: bool
    ) -> list[Names]:
        """Words, and numbers if the column has an `own` id; what is missing is a feature if that is asked for.

        Cells of a dictionary are read in the stead of those of rows.
        """
        ids, values = lane
        prefix = f"{column}=".encode()
        if is_coded(array):
            known, codes = self._decode(column, array, own)
            text, cells, new = known.text, known.cells, known.pick(codes, self.mask, self._noted, ids, values)
        else:
            codes, words = None, words_of_cells(array)
            text, (cells, new) = words.data, self._read_words(words, prefix, own, self._noted)
            ids[:], values[:] = cells.ids, cells.values
        found = [self._names(cells, new, text, prefix)]

        def of_rows(part: np.ndarray) -> np.ndarray:
            return part if codes is None else part[codes]

        if cells.wrong.any():
            bad = of_rows(cells.wrong)
            np.copyto(wrong, bad, where=bad != 0)
        if own is not None or self.hashed != self.mask or self.options.space.places():
            named = of_rows(cells.starts < cells.ends)
            if self._factors.wants(column):
                chosen = Cells._make(of_rows(part)[named] for part in cells)
                self._take_words(column, np.flatnonzero(named), chosen, text, prefix)
            if self.hashed != self.mask:
                ids[named] &= self.mask
            if own is not None:
                if self.options.space.places() or self.kinds.is_strict(column):
                    wrong[named] = NO_NUMBER
                elif named.any():
                    self.kinds.note_other(column, CATEGORY)
                self._take_numbers(column, values, ~(named | of_rows(cells.missing) | (wrong != 0)))
                found += self._own_name(column) if not (named | of_rows(cells.missing) | (wrong != 0)).all() else []
        return found + (self._mark(column, lane, of_rows(cells.missing)) if indicator else [])

    def _decode(self, column: str, array: pyarrow.Array, own: int | None = None) -> tuple[Coded, np.ndarray]:
        """The cells of a dictionary, and which of them each row (n,) has."""
        prefix = f"{column}=".encode()
        return self._dictionaries.read((column, own), array, lambda words: self._read_words(words, prefix, own)[0])

    def _read_words(
        self, words: Words, prefix: bytes, own: int | None = None, noted: np.ndarray = NOTHING
    ) -> tuple[Cells, np.ndarray]:
        """The cells of text, hashes not yet cut to ids, and which of them are words that are not `noted`."""
        n = len(words.valid)
        cells, new, before = no_cells(n), np.empty(n, np.int64), np.frombuffer(prefix, np.uint8)
        longest, seed = self.options.limits.word, self.options.seed
        asked = words, before, np.uint32(own or 0), own is not None, longest, seed, self.hashed, self.mask
        return cells, new[: read_cells(*asked, noted, cells, new)]

    def _names(self, cells: Cells, which: np.ndarray, text: np.ndarray, prefix: bytes) -> Names:
        """The names of some cells."""
        ids, starts, ends = (part[which] for part in (cells.ids, cells.starts, cells.ends))
        return names_of_cells(ids & self.mask, np.frombuffer(prefix, np.uint8), text, starts, ends)

    def _take_words(
        self, column: str, rows: np.ndarray, cells: Cells, text: np.ndarray, prefix: bytes, several: bool = False
    ) -> None:
        """Have others made of the words of a column, if that is asked for: of those cells, which rows (k,) have."""
        if self._factors.wants(column, several):
            where = cells.starts, cells.ends, text
            self._factors.add(column, rows, cells.ids, cells.values, *where, prefix=prefix)

    def _tokens(self, array: pyarrow.Array, column: str, wrong: np.ndarray) -> Tokens:
        """The words of a column that may have several in a row: offsets (n + 1,), their ids, and names."""
        longest, seed = self.options.limits.word, self.options.seed
        prefix = f"{column}=".encode() if is_list(array.type) or self.kinds.several_texts else b""
        if is_list(array.type):
            return self._items(array, column, prefix, wrong)
        words = words_of_cells(array)
        offsets, ids, *spans = read_tokens(words, np.frombuffer(prefix, np.uint8), longest, seed, self.hashed, wrong)
        if self._factors.wants(column, words=True):
            rows = np.repeat(np.arange(len(array)), np.diff(offsets))
            starts, ends, text = spans
            where = starts + np.uint64(len(prefix)), ends, text
            self._factors.add(column, rows, ids, np.ones(len(rows), np.float32), *where, prefix=prefix)
        ids = ids & self.mask
        return offsets, ids, Names(ids, *spans)

    def _items(self, array: pyarrow.Array, column: str, prefix: bytes, wrong: np.ndarray) -> Tokens:
        """The same of lists."""
        items = array.flatten()
        if is_empty(items.type):  # however many there are, they take no room in a file
            array = pyarrow.nulls(len(array), array.type)
            items = array.flatten()
        words = words_of_cells(items)
        offsets = list_rows(array, len(items))
        cells, new = self._read_words(words, prefix, noted=self._noted)
        names = self._names(cells, new, words.data, prefix)
        if is_number(items.type):
            cells.wrong[np.abs(numbers_of(items, 0.0)) > LARGEST] = NOT_FINITE  # what is not a number is missing
        for kind in (NOT_FINITE, TOO_LONG):
            wrong[any_in_row(cells.wrong == kind, offsets)] = kind
        named = cells.starts < cells.ends
        rows = np.repeat(np.arange(len(array)), np.diff(offsets))[named]
        self._take_words(column, rows, Cells._make(part[named] for part in cells), words.data, prefix, several=True)
        return np.concatenate([[0], np.cumsum(named)])[offsets], cells.ids[named] & self.mask, names
