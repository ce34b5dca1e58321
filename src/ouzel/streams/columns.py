"""Batches of table columns as blocks of examples: which column is what, and what becomes of its cells."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow

from ouzel.classes import Label
from ouzel.errors import DataError, bad_line
from ouzel.numerals import as_number
from ouzel.sketches.hashing import MOST_ID, feature_id
from ouzel.streams.arrow_types import cells_of, encoded, is_list, is_number, is_single, numbers_of
from ouzel.streams.block import LARGEST, Block, Names
from ouzel.streams.canonical import canonical_rows
from ouzel.streams.cells import Spans, Words, join_rows, read_cells, read_list, read_sparse, read_tokens, words_of
from ouzel.streams.labels import INFINITE, as_sign, group_id, is_infinite, label_of, own_name
from ouzel.streams.options import Options

FINITE = "expected a finite number that fits 32-bit floating point, or nothing"
WEIGHT = "expected a weight, a finite number of 0 or more"
GROUP = "expected the name or number of a group"


class Columns:
    """The roles of a table's columns. `numeric_text` says that text may hold numbers, as in CSV files.

    A number is the value of the feature named as its column (a column named by an integer has that id); a word is the
    feature `column=word`, and so is each of a list. Cells that are null are absent, and so are zeros. A table with list
    columns `indices` and `values` holds sparse rows in them, and no other features. A column without a name, or with
    that which pandas gives to an index without one, numbers the rows: it is left out.
    """

    def __init__(
        self, options: Options, schema: Any, label: str | None, numeric_text: bool = False, name: str = "table"
    ) -> None:
        self.options = options
        self.name = name
        self.label = label
        self.numeric_text = numeric_text
        self.rows = 0  # rows seen, for messages
        names = [column for column in schema.names if is_named(column)]
        if len(set(names)) < len(names):
            twice = next(column for column in names if names.count(column) > 1)
            raise DataError(f"{name}: two columns are named {twice!r}; give each a name of its own")
        given = [label, options.weight, options.group, *options.text, *options.ignore]
        for column in filter(None, given):
            if column not in names:
                raise DataError(f"{name}: has no column {column!r}; its columns are {', '.join(names)}")
            kind = schema.field(column).type
            if column in (label, options.group) and not is_single(kind):
                raise DataError(f"{name}: column {column!r} holds {kind}; expected numbers or names")
        self.sparse = {"indices", "values"} <= set(names) and all(
            is_list(schema.field(column).type) for column in ("indices", "values")
        )
        aside = set(names) if self.sparse else {label, options.weight, options.group, *options.ignore}
        self.features = [column for column in names if column not in aside]
        self.numbers = [column for column in self.features if is_number(schema.field(column).type)]
        try:
            self.ids = {column: feature_id(own_name(column), options.seed, options.bits) for column in self.features}
        except ValueError as error:
            raise DataError(f"{name}: found {error}") from None
        self.mask = np.uint32((1 << options.bits) - 1)

    def blocks(self, batch: Any, skipped: Callable[[int], None]) -> Iterator[Block]:
        """The examples of a record batch. Rows that are refused are left out if the options say so.

        Else DataError is raised for the first of them, after the rows before it are given out.
        """
        sparse = read_sparse(batch) if self.sparse else None
        refused = self._refused(batch, sparse)
        if not refused:
            yield self._block(batch, sparse)
        elif self.options.on_error == "skip":
            kept = np.ones(batch.num_rows, np.bool_)
            kept[list(refused)] = False
            skipped(len(refused))
            yield self._block(batch.filter(pyarrow.array(kept)))
        else:
            row = min(refused)
            yield self._block(batch.slice(0, row))
            column, advice = refused[row]
            cell = batch.column(column)[row].as_py()
            found = "nothing" if cell is None else repr(cell)
            raise bad_line(
                f"{self.name}: row {self.rows + row + 1}, column {column!r}: found {found}; {advice}", "rows"
            )
        self.rows += batch.num_rows

    def _refused(self, batch: Any, sparse: tuple[np.ndarray, ...] | None) -> dict[int, tuple[str, str]]:
        """The bad rows of a batch: for each a column and what was expected there."""
        refused: dict[int, tuple[str, str]] = {}

        def refuse(bad: np.ndarray, column: str, advice: str) -> None:
            for row in np.flatnonzero(bad).tolist():
                refused.setdefault(row, (column, advice))

        for column in self.numbers:
            refuse(~(np.abs(numbers_of(batch.column(column), 0.0)) <= LARGEST), column, FINITE)
        if sparse is not None:
            *_, unsound, wrong = sparse
            refuse(unsound, "values", "expected as many finite values as indices")
            refuse(wrong, "indices", f"expected ids from 0 to {MOST_ID}")
        if self.label is not None:
            refuse(_infinite(batch.column(self.label)), self.label, INFINITE)
        if self.options.weight is not None:
            weights = self._weights(batch)
            refuse(~((weights >= 0.0) & (weights <= LARGEST)), self.options.weight, WEIGHT)
        if self.options.group is not None:
            nulls = batch.column(self.options.group).is_null().to_numpy(zero_copy_only=False)
            refuse(nulls, self.options.group, GROUP)
        return refused

    def _block(self, batch: Any, sparse: tuple[np.ndarray, ...] | None = None) -> Block:
        if self.sparse:
            offsets, indices, numbers, *_ = sparse or read_sparse(batch)
            spans: list[Spans] = []
        else:
            offsets, indices, numbers, spans = self._features(batch)
        row_starts = offsets.astype(np.uint64)
        end = canonical_rows(row_starts, indices, numbers)
        labels, label_names = self._labels(batch)
        return Block(
            row_starts,
            indices[:end],
            numbers[:end],
            labels,
            self._weights(batch).astype(np.float32),
            groups=self._groups(batch),
            label_names=label_names,
            names=_join(spans),
        )

    def _features(self, batch: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[Spans]]:
        """Offsets (n + 1,), ids and values of the features in each row, and their names."""
        n = batch.num_rows
        lists = [column for column in self.features if is_list(batch.column(column).type)]
        plain = [column for column in self.features if column not in (*self.options.text, *lists)]
        ids = np.zeros((len(plain), n), np.uint32)
        values = np.zeros((len(plain), n), np.float32)
        present = np.zeros((len(plain), n), np.bool_)
        spans: list[Spans] = []
        for k, column in enumerate(plain):
            array = batch.column(column)
            if is_number(array.type):
                ids[k] = self.ids[column]
                values[k] = numbers_of(array, 0.0)
                present[k] = values[k] != 0.0
                if isinstance(own_name(column), str):
                    spans.append(_named(column, self.ids[column]))
            else:
                spans += self._read_cells(self._words(array, column), column, ids[k], values[k], present[k])
        mask = present.T
        offsets = np.concatenate([[0], np.cumsum(mask.sum(axis=1))])
        indices, numbers = ids.T[mask], values.T[mask]
        for more, tokens, starts, ends, text in self._tokens(batch, lists):
            offsets, indices, numbers = join_rows(offsets, indices, numbers, more, tokens)
            spans.append(Spans(tokens, starts, ends, text))
        return offsets, indices, numbers, spans

    def _words(self, array: Any, column: str) -> Words:
        try:
            return words_of(array)
        except (pyarrow.ArrowNotImplementedError, pyarrow.ArrowInvalid):
            raise DataError(
                f"{self.name}: column {column!r} holds {array.type}, neither number nor text; leave it out with",
                ignore=column,
            ) from None

    def _read_cells(
        self, words: Words, column: str, ids: np.ndarray, values: np.ndarray, present: np.ndarray
    ) -> list[Spans]:
        prefix = np.frombuffer(f"{column}=".encode(), np.uint8)
        n = len(ids)
        text = np.empty(int(words.offsets[-1] - words.offsets[0]) + n * len(prefix), np.uint8)
        starts, ends = np.empty(n, np.uint64), np.empty(n, np.uint64)
        own = np.uint32(self.ids[column])
        seed = self.options.seed
        read_cells(words, prefix, own, self.numeric_text, seed, self.mask, ids, values, present, starts, ends, text)
        named = starts < ends
        found = [Spans(ids[named], starts[named], ends[named], text)]
        if isinstance(own_name(column), str) and (present & ~named).any():
            found.append(_named(column, self.ids[column]))
        return found

    def _tokens(self, batch: Any, lists: list[str]) -> Iterator[tuple[np.ndarray, ...]]:
        """The words of each column that may have several in a row: offsets (n + 1,), ids, starts, ends, text."""
        seed, mask = self.options.seed, self.mask
        for column in lists:
            array = batch.column(column)
            words = self._words(array.flatten(), column)
            yield read_list(array, words, np.frombuffer(f"{column}=".encode(), np.uint8), seed, mask)
        for column in self.options.text:
            if column not in lists:
                prefix = f"{column}=".encode() if len(self.options.text) > 1 else b""
                words = self._words(batch.column(column), column)
                yield read_tokens(words, np.frombuffer(prefix, np.uint8), seed, mask)

    def _weights(self, batch: Any) -> np.ndarray:
        """Importance weights (n,) float64; NaN where there is none that reads as a number."""
        if self.options.weight is None:
            return np.ones(batch.num_rows)
        array = batch.column(self.options.weight)
        return (
            numbers_of(array, math.nan)
            if is_number(array.type)
            else np.array([as_number(str(cell)) for cell in cells_of(array)])
        )

    def _groups(self, batch: Any) -> np.ndarray | None:
        """Group ids (n,) int64: whole numbers as they are, names by their hash."""
        if self.options.group is None:
            return None
        codes, known = encoded(batch.column(self.options.group))
        return np.array([*(group_id(cell, self.options.seed) for cell in known), 0], np.int64)[codes]

    def _labels(self, batch: Any) -> tuple[np.ndarray, list[Label] | None]:
        """Labels (n,): numbers, or positions in the names if any label is no number; NaN where null."""
        if self.label is None:
            return np.full(batch.num_rows, np.nan), None
        codes, cells = encoded(batch.column(self.label))
        known = [label_of(cell) for cell in cells]
        if self.options.label_positive is not None:
            known = [as_sign(label, self.options.label_positive) for label in known]
        names: list[Label] | None = None
        if any(isinstance(label, (str, bool)) for label in known):
            names = [label for label in dict.fromkeys(known) if label is not None]
            known = [None if label is None else names.index(label) for label in known]
        numbers = np.array([math.nan if label is None else float(label) for label in known] + [math.nan])
        return numbers[codes], names


def _infinite(labels: Any) -> np.ndarray:
    """Which labels (n,) are infinite numbers."""
    if is_number(labels.type):
        return np.isinf(numbers_of(labels, 0.0))
    codes, known = encoded(labels)
    return np.array([*map(is_infinite, known), False])[codes]


def is_named(column: str) -> bool:
    """Whether a column has a name of its own.

    >>> is_named("price"), is_named(""), is_named("__index_level_0__")
    (True, False, False)
    """
    return bool(column) and re.fullmatch(r"__index_level_\d+__", column) is None


def _named(column: str, feature: int) -> Spans:
    text = np.frombuffer(column.encode(), np.uint8)
    return Spans(np.array([feature], np.uint32), np.zeros(1, np.uint64), np.array([len(text)], np.uint64), text)


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
