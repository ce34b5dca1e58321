"""Batches of table columns as blocks of examples: which column is what, and what becomes of its cells."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow

from ouzel.classes import Label, tidy
from ouzel.errors import DataError
from ouzel.sketches.hashing import feature_id
from ouzel.streams.block import Block, Names
from ouzel.streams.canonical import canonical_rows
from ouzel.streams.cells import Spans, join_rows, read_cells, read_tokens, words_of
from ouzel.streams.options import Options

LABELS = ("label", "target", "class", "y")  # columns taken for the label unless one is named
types = pyarrow.types


class Columns:
    """The roles of a table's columns. `numeric_text` says that text may hold numbers, as in CSV files.

    A number is the value of the feature named as its column (a column named by an integer has that id); words are the
    feature `column=word`. Cells that are null are absent, and so are zeros.
    """

    def __init__(
        self, options: Options, schema: Any, label: str | None, numeric_text: bool = False, name: str = "table"
    ) -> None:
        self.options = options
        self.name = name
        self.label = label
        self.numeric_text = numeric_text
        self.rows = 0  # rows seen, for messages
        given = [label, options.weight, options.group, *options.text, *options.ignore]
        for column in given:
            if column is not None and column not in schema.names:
                raise DataError(f"{name}: has no column {column!r}; its columns are {', '.join(schema.names)}")
        aside = {label, options.weight, options.group, *options.ignore}
        self.features = [column for column in schema.names if column not in aside]
        self.ids = {column: column_id(column, options) for column in self.features}
        self.mask = np.uint32((1 << options.bits) - 1)

    def block(self, batch: Any) -> Block:
        """The examples of a record batch."""
        n = batch.num_rows
        plain = [column for column in self.features if column not in self.options.text]
        ids = np.zeros((len(plain), n), np.uint32)
        values = np.zeros((len(plain), n), np.float32)
        present = np.zeros((len(plain), n), np.bool_)
        spans: list[Spans] = []
        for k, column in enumerate(plain):
            array = batch.column(column)
            if is_number(array.type):
                ids[k] = self.ids[column]
                values[k] = self._numbers(array, column)
                present[k] = values[k] != 0.0
                if not column.isdigit():
                    spans.append(_named(column, self.ids[column]))
            else:
                spans += self._read_cells(array, column, ids[k], values[k], present[k])
        mask = present.T
        offsets = np.concatenate([[0], np.cumsum(mask.sum(axis=1))])
        indices, numbers = ids.T[mask], values.T[mask]
        for column in self.options.text:
            prefix = f"{column}=".encode() if len(self.options.text) > 1 else b""
            more, tokens, starts, ends, text = read_tokens(
                words_of(batch.column(column)), np.frombuffer(prefix, np.uint8), self.options.seed, self.mask
            )
            offsets, indices, numbers = join_rows(offsets, indices, numbers, more, tokens)
            spans.append(Spans(tokens, starts, ends, text))
        row_starts = offsets.astype(np.uint64)
        end = canonical_rows(row_starts, indices, numbers)
        labels, label_names = self._labels(batch)
        block = Block(
            row_starts,
            indices[:end],
            numbers[:end],
            labels,
            self._weights(batch),
            groups=None if self.options.group is None else self._numbers(batch.column(self.options.group), "group"),
            label_names=label_names,
            names=_join(spans),
        )
        self.rows += n
        return block

    def _read_cells(
        self, array: Any, column: str, ids: np.ndarray, values: np.ndarray, present: np.ndarray
    ) -> list[Spans]:
        words = words_of(array)
        prefix = np.frombuffer(f"{column}=".encode(), np.uint8)
        n = len(array)
        text = np.empty(int(words.offsets[-1] - words.offsets[0]) + n * len(prefix), np.uint8)
        starts, ends = np.empty(n, np.uint64), np.empty(n, np.uint64)
        own = np.uint32(self.ids[column])
        seed = self.options.seed
        read_cells(words, prefix, own, self.numeric_text, seed, self.mask, ids, values, present, starts, ends, text)
        named = starts < ends
        found = [Spans(ids[named], starts[named], ends[named], text)]
        if not column.isdigit() and (present & ~named).any():
            found.append(_named(column, self.ids[column]))
        return found

    def _numbers(self, array: Any, column: str) -> np.ndarray:
        """A numeric column (n,) float64, 0 where null."""
        if not is_number(array.type):
            raise DataError(f"{self.name}: column {column!r} holds {array.type}; expected numbers")
        numbers = array.cast(pyarrow.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
        bad = ~(np.abs(numbers) < 3.4028235e38)
        if bad.any():
            row = int(np.argmax(bad))
            raise DataError(
                f"{self.name}: row {self.rows + row + 1}, column {column!r}: found {numbers[row]}; "
                "expected a finite number that fits 32-bit floating point, or null"
            )
        return numbers

    def _weights(self, batch: Any) -> np.ndarray:
        if self.options.weight is None:
            return np.ones(batch.num_rows, np.float32)
        array = batch.column(self.options.weight)
        if types.is_large_string(array.type) or types.is_string(array.type):
            try:
                array = array.cast(pyarrow.float64())
            except pyarrow.ArrowInvalid as error:
                raise DataError(f"{self.name}: column {self.options.weight!r}: {error}; expected weights") from None
        weights = self._numbers(array, self.options.weight)
        if (weights < 0.0).any():
            row = int(np.argmax(weights < 0.0))
            raise DataError(
                f"{self.name}: row {self.rows + row + 1}, column {self.options.weight!r}: found {weights[row]}; "
                "expected a weight of 0 or more"
            )
        return weights.astype(np.float32)

    def _labels(self, batch: Any) -> tuple[np.ndarray, list[Label] | None]:
        """Labels (n,): numbers, or positions in the names if any label is no number; NaN where null."""
        if self.label is None:
            return np.full(batch.num_rows, np.nan), None
        encoded = batch.column(self.label).dictionary_encode()
        known = [_label(value) for value in encoded.dictionary.to_pylist()]
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        positive = self.options.label_positive
        if positive is not None:
            known = [None if label is None else 1 if label in (positive, _label(positive)) else -1 for label in known]
        names: list[Label] | None = None
        if any(isinstance(label, str) for label in known):
            names = [label for label in dict.fromkeys(known) if label is not None]
            known = [None if label is None else names.index(label) for label in known]
        numbers = np.array([math.nan if label is None else float(label) for label in known] + [math.nan])
        return numbers[codes], names


def column_id(column: str, options: Options) -> int:
    """The feature id of a column: the integer it is named by, or the hash of its name."""
    return feature_id(int(column) if column.isdigit() else column, options.seed, options.bits)


def is_number(kind: Any) -> bool:
    """Whether an Arrow type holds numbers (or truth values, which count 0 and 1)."""
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind))


def _label(value: Any) -> Label | None:
    """A label as its cell says it: a number if it reads as one, nothing if it is empty."""
    if value is None or isinstance(value, bool):
        return value
    if not isinstance(value, (int, float)):
        value = str(value).strip()
        try:
            value = float(value)
        except ValueError:
            return value or None
    return tidy(value) if math.isfinite(value) else None


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
