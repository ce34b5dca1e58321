"""The columns of a record batch that hold features, as rows of ids and values with the names of the features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pyarrow
import pyarrow.compute as compute

from ouzel.errors import DataError
from ouzel.sketches.hashing import MOST_ID, feature_id
from ouzel.streams.block import LARGEST, Names
from ouzel.streams.crosses.collecting import Collector
from ouzel.streams.crosses.factors import Factors
from ouzel.streams.dates import PARTS
from ouzel.streams.feature_space import CATEGORY, DATE, NUMBER, FeatureSpace, numbered, own_name
from ouzel.streams.guard import is_of_library, reason_of
from ouzel.streams.missing import MARK
from ouzel.streams.options import Options
from ouzel.streams.tables.arrow_types import is_list, is_number, numbers_of, text_size
from ouzel.streams.tables.cells import (
    NO_MARK,
    NOT_FINITE,
    Spans,
    Words,
    any_in_row,
    check_offsets,
    join_rows,
    read_cells,
    read_list,
    read_tokens,
    words_of,
)
from ouzel.streams.tables.date_columns import read_dates
from ouzel.streams.tables.kinds import ColumnKinds

MOST_TEXT = 1 << 26  # bytes of names that the examples of one block may bring
Lane = tuple[np.ndarray, np.ndarray, np.ndarray]  # ids (n,), values (n,), and which are present (n,)
Refused = tuple[str, np.ndarray]  # a column, and what is wrong with each of its cells (n,) uint8, 0 if nothing


class Features(NamedTuple):
    """Rows of features: row i has `ids[offsets[i]:offsets[i + 1]]` and their `values`."""

    offsets: np.ndarray  # (n + 1,) int64
    ids: np.ndarray  # (features,) uint32
    values: np.ndarray  # (features,) float32
    names: Names | None
    space: FeatureSpace
    factors: Factors | None = None  # of crosses


class FeatureColumns:
    """The columns of a table that are features: numbers by value, words as `column=word`, lists, and text by words.

    `typed` says that the types of columns tell what they hold; else text may be numbers, as in CSV files. What a column
    holds is decided, and so what its features are known by, when its first cells are read.
    """

    def __init__(self, columns: Sequence[str], options: Options, typed: bool, name: str, kinds: ColumnKinds) -> None:
        self.columns = columns
        self.options = options
        self.typed = typed
        self.name = name
        self.kinds = kinds
        self.mask = np.uint32((1 << options.bits) - 1)
        self.hashed = np.uint32(2**32 - 1) if options.crossed else self.mask  # bits of hashes, before they are ids
        self.mark = np.array(bytearray(MARK.encode())) if options.indicator else NO_MARK
        self._factors = Collector(options.crossed)  # of the batch that is read
        try:
            self.ids = {column: self._id(column, options.bits) for column in columns}
        except ValueError as error:
            raise DataError(f"{name}: found {error}") from None
        self._decided: tuple[dict[str, str], FeatureSpace] | None = None

    def _id(self, column: str, bits: int) -> int:
        places = self.options.space.places()
        return places[column] if places else feature_id(own_name(column), self.options.seed, bits)

    def decided(self, batch: Any) -> tuple[dict[str, str], FeatureSpace]:
        """What each column holds, and what the features of all of them are known by."""
        if self._decided is None:
            kinds = {column: self.kinds.decide(column, batch.column(column), self.typed) for column in self.columns}
            space = self._space({column: kind for column, kind in kinds.items() if column in self.kinds.known})
            if not batch.num_rows:
                return kinds, space
            self._decided = kinds, space
        return self._decided

    def _space(self, kinds: dict[str, str]) -> FeatureSpace:
        places = self.options.space.places()
        if places:
            return FeatureSpace(width=len(places), lowest=0, highest=len(places) - 1, kinds=self.options.space.kinds)
        own = [own_name(column) for column in self.columns]
        numbers = [name for name in own if isinstance(name, int)]
        named = len(numbers) < len(own) or set(kinds.values()) - {NUMBER} != set()
        lowest, highest = min(numbers, default=None), max(numbers, default=None)
        return FeatureSpace(named, lowest, highest, kinds=kinds, indicator=self.options.indicator)

    def read(self, batch: Any) -> tuple[Features, list[Refused]]:
        """The features of a batch, and the columns with bad cells."""
        n = batch.num_rows
        self._factors = Collector(self.options.crossed)
        kinds, space = self.decided(batch)
        plain = [column for column in self.columns if kinds[column] in (NUMBER, CATEGORY, DATE)]
        room = len(plain) + len(PARTS) * [kinds[column] for column in plain].count(DATE)
        ids = np.zeros((room, n), np.uint32)
        values = np.zeros((room, n), np.float32)
        present = np.zeros((room, n), np.bool_)
        lanes = zip(ids, values, present, strict=True)
        spans: list[Spans] = []
        refused: list[Refused] = []
        for column in plain:
            with converting(batch, column, self.name):
                array = batch.column(column)
                wrong = np.zeros(n, np.uint8)
                if kinds[column] == DATE:
                    array, parts = read_dates(array, wrong)
                    for part, words in parts.items():
                        spans += self._read_cells(
                            words_of(words), f"{column}.{part}", None, NO_MARK, next(lanes), wrong
                        )
                if kinds[column] != CATEGORY and is_number(array.type):
                    spans += self._read_numbers(array, column, next(lanes), wrong)
                else:
                    own = self.ids[column] if kinds[column] == NUMBER else None
                    spans += self._read_cells(words_of(array), column, own, self.mark, next(lanes), wrong)
            if wrong.any():
                refused.append((column, wrong))
        mask = present.T
        offsets = np.concatenate([[0], np.cumsum(mask.sum(axis=1))])
        indices, flat = ids.T[mask], values.T[mask]
        for column in [column for column in self.columns if column not in plain]:
            wrong = np.zeros(n, np.uint8)
            with converting(batch, column, self.name):
                more, tokens, starts, ends, text = self._tokens(batch.column(column), column, wrong)
            if self._factors.wants(column):
                rows = np.repeat(np.arange(n), np.diff(more))
                self._factors.add(column, rows, tokens, np.ones(len(rows), np.float32), starts, ends, text)
            tokens &= self.mask
            offsets, indices, flat = join_rows(offsets, indices, flat, more, tokens)
            spans.append(Spans(tokens, starts, ends, text))
            if wrong.any():
                refused.append((column, wrong))
        return Features(offsets, indices, flat, _join(spans), space, self._factors.factors(n)), refused

    def _read_numbers(self, array: Any, column: str, lane: Lane, wrong: np.ndarray) -> list[Spans]:
        """Numbers by value; what is null, or not a number, is missing."""
        ids, values, present = lane
        numbers = numbers_of(array, np.nan)
        fit = np.abs(numbers) <= LARGEST
        ids[:] = self.ids[column]
        if fit.all():
            values[:] = numbers
            present[:] = values != 0.0
            self._cross_numbers(column, values, present)
            return self._own_name(column)
        missing = np.isnan(numbers)
        wrong[~(fit | missing)] = NOT_FINITE
        values[:] = np.where(fit, numbers, 0.0)
        present[:] = values != 0.0
        self._cross_numbers(column, values, present)
        if not len(self.mark) or not missing.any():
            return self._own_name(column)
        text = np.frombuffer(f"{column}={MARK}".encode(), np.uint8)
        hashed = feature_id(f"{column}={MARK}", self.options.seed, 32)
        ids[missing] = mark = hashed & int(self.mask)
        if self._factors.wants(column):
            rows = np.flatnonzero(missing)
            self._factors.add_one(column, rows, hashed, np.ones(len(rows), np.float32), f"{column}={MARK}")
        values[missing] = 1.0
        present[missing] = True
        return [*self._own_name(column), _one_name(mark, text)]

    def _cross_numbers(self, column: str, values: np.ndarray, present: np.ndarray) -> None:
        """Have the numbers of a column crossed, if that is asked for."""
        if self._factors.wants(column):
            rows = np.flatnonzero(present)
            self._factors.add_one(column, rows, self._id(column, 32), values[rows], column)

    def _own_name(self, column: str) -> list[Spans]:
        """The name of a column's feature, unless that has a number of its own."""
        if not self.options.space.places() and not isinstance(own_name(column), str):
            return []
        return [_one_name(self.ids[column], np.frombuffer(column.encode(), np.uint8))]

    def _read_cells(
        self,
        words: Words,
        column: str,
        own: int | None,
        mark: np.ndarray,
        lane: Lane,
        wrong: np.ndarray,
    ) -> list[Spans]:
        """Words, and numbers if the column has an `own` id; what is missing is read as the mark, if there is one."""
        ids, values, present = lane
        prefix = np.frombuffer(f"{column}=".encode(), np.uint8)
        n = len(ids)
        room = n * (len(prefix) + len(mark))
        text = np.empty(int(words.offsets[-1] - words.offsets[0]) + room, np.uint8)
        starts, ends = np.empty(n, np.uint64), np.empty(n, np.uint64)
        longest, seed = self.options.limits.word, self.options.seed
        out = ids, values, present, wrong, starts, ends, text
        read_cells(words, prefix, np.uint32(own or 0), own is not None, mark, longest, seed, self.hashed, *out)
        named = starts < ends
        if self._factors.wants(column):
            rows = np.flatnonzero(named)
            self._factors.add(column, rows, ids[named], values[named], starts[named], ends[named], text)
            self._cross_numbers(column, values, present & ~named)
        if self.hashed != self.mask:
            ids[named] &= self.mask
        if self.options.space.places() and named.any():
            wrong[named] = NOT_FINITE  # the model's array had no features but its columns
        found = [Spans(ids[named], starts[named], ends[named], text)]
        return found + self._own_name(column) if (present & ~named).any() else found

    def _tokens(self, array: Any, column: str, wrong: np.ndarray) -> tuple[np.ndarray, ...]:
        """The words of a column that may have several in a row: offsets (n + 1,), ids, starts, ends, text."""
        longest, seed, mask = self.options.limits.word, self.options.seed, self.hashed
        if is_list(array.type):
            words = words_of(array.flatten())
            return read_list(array, words, np.frombuffer(f"{column}=".encode(), np.uint8), longest, seed, mask, wrong)
        prefix = f"{column}=".encode() if self.kinds.several_texts else b""
        return read_tokens(words_of(array), np.frombuffer(prefix, np.uint8), longest, seed, mask, wrong)

    def parts(self, batch: Any) -> Iterator[Any]:
        """A batch in parts, each of so many rows that the names of their features are not too much text."""
        words = [column for column in self.columns if not is_number(batch.schema.field(column).type)]
        size = sum(text_size(batch.column(column)) + len(column.encode()) * batch.num_rows for column in words)
        if size <= MOST_TEXT or batch.num_rows == 1:
            yield batch
            return
        half = batch.num_rows // 2
        yield from self.parts(batch.slice(0, half))
        yield from self.parts(batch.slice(half))


def _one_name(feature: int, text: np.ndarray) -> Spans:
    """One feature with one name."""
    ends = np.array([len(text)], np.uint64)
    return Spans(np.array([feature], np.uint32), np.zeros(1, np.uint64), ends, text)


def read_sparse(batch: Any) -> tuple[Features, np.ndarray, np.ndarray]:
    """Rows whose features stand in two list columns.

    And which rows (n,) have other values than a finite one for each id, and which have what is not an id.
    """
    ids = batch.column("indices").cast(pyarrow.large_list(pyarrow.int64()))
    values = batch.column("values").cast(pyarrow.large_list(pyarrow.float32()))
    lengths, others = (compute.list_value_length(lists).fill_null(0).to_numpy() for lists in (ids, values))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    numbers = values.flatten().fill_null(np.nan).to_numpy()
    whole = ids.flatten().fill_null(-1).to_numpy()
    check_offsets(offsets, batch.num_rows, len(whole))
    unsound = lengths != others
    if not unsound.any():
        unsound = any_in_row(~np.isfinite(numbers), offsets)
    wrong = any_in_row((whole < 0) | (whole > MOST_ID), offsets)
    return Features(offsets, whole.astype(np.uint32), numbers.copy(), None, numbered(whole)), unsound, wrong


@contextmanager
def converting(batch: Any, column: str, name: str, role: str = "ignore") -> Iterator[None]:
    """Convert the cells of a column in here: what a library refuses is one line that names the column.

    `role` is the option that names such a column, or that leaves it out.
    """
    try:
        yield
    except Exception as error:
        if not is_of_library(error) or isinstance(error, MemoryError):
            raise
        kind = batch.schema.field(column).type
        found = f"{name}: column {column!r} holds {kind}, which does not read as numbers or text ({reason_of(error)})"
        if role == "ignore":
            raise DataError(f"{found}; leave it out with", ignore=column) from error
        raise DataError(f"{found}; name another column with", **{role: "NAME"}) from error


def _join(spans: list[Spans]) -> Names | None:
    """The names of several columns in one text."""
    if not spans:
        return None
    shifts = np.cumsum([0] + [len(part.text) for part in spans[:-1]]).astype(np.uint64)
    return Names(
        np.concatenate([part.ids for part in spans]),
        np.concatenate([part.starts + shift for part, shift in zip(spans, shifts, strict=True)]),
        np.concatenate([part.ends + shift for part, shift in zip(spans, shifts, strict=True)]),
        np.concatenate([part.text for part in spans]),
    )
