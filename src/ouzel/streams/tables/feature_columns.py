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
from ouzel.streams.guard import is_of_library, reason_of
from ouzel.streams.options import Options
from ouzel.streams.tables.arrow_types import is_list, is_number, numbers_of, text_size
from ouzel.streams.tables.cells import (
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
from ouzel.streams.tables.labels import own_name

MOST_TEXT = 1 << 26  # bytes of names that the examples of one block may bring
Refused = tuple[str, np.ndarray]  # a column, and what is wrong with each of its cells (n,) uint8, 0 if nothing


class Features(NamedTuple):
    """Rows of features: row i has `ids[offsets[i]:offsets[i + 1]]` and their `values`."""

    offsets: np.ndarray  # (n + 1,) int64
    ids: np.ndarray  # (features,) uint32
    values: np.ndarray  # (features,) float32
    names: Names | None


class FeatureColumns:
    """The columns of a table that are features: numbers by value, words as `column=word`, lists, and text by words."""

    def __init__(self, columns: Sequence[str], schema: Any, options: Options, numeric_text: bool, name: str) -> None:
        self.options = options
        self.numeric_text = numeric_text
        self.name = name
        self.lists = [column for column in columns if is_list(schema.field(column).type)]
        self.plain = [column for column in columns if column not in (*options.text, *self.lists)]
        try:
            self.ids = {column: feature_id(own_name(column), options.seed, options.bits) for column in columns}
        except ValueError as error:
            raise DataError(f"{name}: found {error}") from None
        self.words = [column for column in columns if not is_number(schema.field(column).type)]
        self.mask = np.uint32((1 << options.bits) - 1)

    def read(self, batch: Any) -> tuple[Features, list[Refused]]:
        """The features of a batch, and the columns with bad cells."""
        n = batch.num_rows
        ids = np.zeros((len(self.plain), n), np.uint32)
        values = np.zeros((len(self.plain), n), np.float32)
        present = np.zeros((len(self.plain), n), np.bool_)
        spans: list[Spans] = []
        refused: list[Refused] = []
        for k, column in enumerate(self.plain):
            with converting(batch, column, self.name):
                array = batch.column(column)
                wrong = np.zeros(n, np.uint8)
                if is_number(array.type):
                    numbers = numbers_of(array, 0.0)
                    fit = np.abs(numbers) <= LARGEST
                    if not fit.all():
                        wrong[~fit] = NOT_FINITE
                        numbers = np.where(fit, numbers, 0.0)
                    ids[k], values[k] = self.ids[column], numbers
                    present[k] = values[k] != 0.0
                    spans += self._own_name(column)
                else:
                    spans += self._read_cells(words_of(array), column, ids[k], values[k], present[k], wrong)
            if wrong.any():
                refused.append((column, wrong))
        mask = present.T
        offsets = np.concatenate([[0], np.cumsum(mask.sum(axis=1))])
        indices, flat = ids.T[mask], values.T[mask]
        for column in (*self.lists, *(column for column in self.options.text if column not in self.lists)):
            wrong = np.zeros(n, np.uint8)
            with converting(batch, column, self.name):
                more, tokens, starts, ends, text = self._tokens(batch.column(column), column, wrong)
            offsets, indices, flat = join_rows(offsets, indices, flat, more, tokens)
            spans.append(Spans(tokens, starts, ends, text))
            if wrong.any():
                refused.append((column, wrong))
        return Features(offsets, indices, flat, _join(spans)), refused

    def _own_name(self, column: str) -> list[Spans]:
        """The name of a column's feature, unless that has a number of its own."""
        if not isinstance(own_name(column), str):
            return []
        text = np.frombuffer(column.encode(), np.uint8)
        ends = np.array([len(text)], np.uint64)
        return [Spans(np.array([self.ids[column]], np.uint32), np.zeros(1, np.uint64), ends, text)]

    def _read_cells(
        self,
        words: Words,
        column: str,
        ids: np.ndarray,
        values: np.ndarray,
        present: np.ndarray,
        wrong: np.ndarray,
    ) -> list[Spans]:
        prefix = np.frombuffer(f"{column}=".encode(), np.uint8)
        n = len(ids)
        text = np.empty(int(words.offsets[-1] - words.offsets[0]) + n * len(prefix), np.uint8)
        starts, ends = np.empty(n, np.uint64), np.empty(n, np.uint64)
        own, longest, seed = np.uint32(self.ids[column]), self.options.limits.word, self.options.seed
        numeric, mask = self.numeric_text, self.mask
        read_cells(words, prefix, own, numeric, longest, seed, mask, ids, values, present, wrong, starts, ends, text)
        named = starts < ends
        found = [Spans(ids[named], starts[named], ends[named], text)]
        return found + self._own_name(column) if (present & ~named).any() else found

    def _tokens(self, array: Any, column: str, wrong: np.ndarray) -> tuple[np.ndarray, ...]:
        """The words of a column that may have several in a row: offsets (n + 1,), ids, starts, ends, text."""
        longest, seed, mask = self.options.limits.word, self.options.seed, self.mask
        if column in self.lists:
            words = words_of(array.flatten())
            return read_list(array, words, np.frombuffer(f"{column}=".encode(), np.uint8), longest, seed, mask, wrong)
        prefix = f"{column}=".encode() if len(self.options.text) > 1 else b""
        return read_tokens(words_of(array), np.frombuffer(prefix, np.uint8), longest, seed, mask, wrong)

    def parts(self, batch: Any) -> Iterator[Any]:
        """A batch in parts, each of so many rows that the names of their features are not too much text."""
        size = sum(text_size(batch.column(column)) + len(column.encode()) * batch.num_rows for column in self.words)
        if size <= MOST_TEXT or batch.num_rows == 1:
            yield batch
            return
        half = batch.num_rows // 2
        yield from self.parts(batch.slice(0, half))
        yield from self.parts(batch.slice(half))


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
    return Features(offsets, whole.astype(np.uint32), numbers.copy(), None), unsound, wrong


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
