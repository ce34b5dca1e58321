"""Decoders of Arrow: messages that are streams of record batches, and rows of a growing table, one message each."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pyarrow

from ouzel.errors import DataError
from ouzel.streams.block import Block
from ouzel.streams.formats.arrow_ipc import batches_in
from ouzel.streams.formats.catalogue import find
from ouzel.streams.labels import find_label
from ouzel.streams.limits import Limits
from ouzel.streams.logs.messages import Bad, Decoded, location_of
from ouzel.streams.logs.protocol import Batch, shown
from ouzel.streams.options import Options, check_format
from ouzel.streams.sources.error_context import wrap_errors
from ouzel.streams.tables.arrow_types import flat, holds_blocks
from ouzel.streams.tables.columns import Columns
from ouzel.streams.tables.schema import ColumnKinds, KindError

CACHED_SCHEMAS = 64


def rows_of_message(value: bytes, metadata: Mapping[str, str], name: str, limits: Limits) -> pyarrow.RecordBatch:
    """Read a message as one checked record batch with nested columns flattened; DataError if it is not one.

    The `metadata` become columns, and replace columns of the same names.
    """
    if not value.startswith(find("arrow").magic):
        raise DataError.at(name, "is not a stream of Arrow")
    with wrap_errors(name):
        table = pyarrow.concat_tables(batches_in(io.BufferedReader(io.BytesIO(value)), name, limits))
        table.validate(full=True)  # kernels trust the offsets
        if holds_blocks(table.schema):
            raise DataError.at(name, "holds finished examples, which are for files; send the columns that they are of")
        table = flat(table)
        for member, text in metadata.items():
            table = table.drop_columns([member] if member in table.column_names else [])
            table = table.append_column(member, pyarrow.array([text] * table.num_rows, pyarrow.string()))
        return as_one_batch(table)


def as_one_batch(table: pyarrow.Table) -> pyarrow.RecordBatch:
    """Return a table as one record batch, which may have no rows."""
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pyarrow.RecordBatch.from_pylist([], table.schema)


class TableRows:
    """Reader of the rows of one log: its schema may change, but the kind of a column is inferred once."""

    def __init__(self, options: Options, name: str, kinds: ColumnKinds) -> None:
        self.options, self.name = options, name
        self._kinds = kinds
        self._columns: dict[str, Columns] = {}  # by schema

    def examples(self, rows: pyarrow.RecordBatch) -> tuple[list[Block], np.ndarray]:
        """Return the examples of a record batch, and the row numbers (n,) of these."""
        columns = self.columns_of(rows)
        before = columns.rows
        try:
            blocks = [block for block in columns.blocks(rows, lambda count: None) if block.rows]
        except KindError:  # `reason` explains it for each row
            return [], np.empty(0, np.int64)
        numbers = [block.numbers for block in blocks if block.numbers is not None]
        return blocks, np.concatenate(numbers) - before if numbers else np.empty(0, np.int64)

    def columns_of(self, rows: pyarrow.RecordBatch) -> Columns:
        """Return the reader for the schema of a record batch; DataError if its columns cannot be examples."""
        schema = str(rows.schema)
        if schema not in self._columns:
            if len(self._columns) >= CACHED_SCHEMAS:
                self._columns.clear()
            self._columns[schema] = self._make_columns(rows, "skip", self.name)
        return self._columns[schema]

    def reason(self, rows: pyarrow.RecordBatch, row: int, where: str) -> DataError:
        """Return the error of a bad row, as the same readers report it."""
        try:
            list(self._make_columns(rows, "raise", where).blocks(rows.slice(row, 1), lambda count: None))
        except DataError as error:
            return error.elsewhere(where)
        return DataError.at(where, "is not an example")

    def _make_columns(self, rows: pyarrow.RecordBatch, on_error: str, name: str) -> Columns:
        label = find_label(self.options, rows.schema.names, self.name, self._kinds.say_once)
        return Columns(replace(self.options, on_error=on_error), rows.schema, label, True, name, self._kinds)


class MessageRows(NamedTuple):
    """The rows of one message, or its error, which counts as one line."""

    message: int
    line: int  # its first
    rows: pyarrow.RecordBatch | None
    error: DataError | None

    @property
    def lines(self) -> int:
        """Number of lines."""
        return 1 if self.rows is None else int(self.rows.num_rows)


class ArrowDecoder:
    """Decoder of the messages of one log; consecutive messages with the same schema are read together."""

    def __init__(self, options: Options, name: str, kinds: ColumnKinds) -> None:
        self.options, self.name = options, name
        self._rows = TableRows(options, name, kinds)

    def decode(self, batch: Batch) -> Decoded:
        """Return the examples of a batch, and its bad rows and messages with their errors."""
        messages = self._messages(batch)
        blocks, lines, bad = [], [np.empty(0, np.int64)], []
        for schema, group in groupby(messages, lambda one: None if one.rows is None else one.rows.schema):
            some = list(group)
            if schema is None:
                bad += [self._bad(batch, one.message, one.line, one.error) for one in some if one.error is not None]
                continue
            rows = as_one_batch(pyarrow.Table.from_batches([one.rows for one in some]))
            more, found = self._rows.examples(rows)
            blocks += more
            lines.append(found + some[0].line)
            for row in np.setdiff1d(np.arange(rows.num_rows), found, assume_unique=True).tolist():
                line = some[0].line + row
                (message,) = [one.message for one in some if one.line <= line < one.line + one.lines]
                error = self._rows.reason(rows, row, location_of(self.name, batch, message))
                bad.append(self._bad(batch, message, line, error))
        counts = np.zeros(len(batch.values), np.int64)
        counts[[one.message for one in messages]] = [one.lines for one in messages]
        return Decoded(batch, blocks, np.concatenate(lines), np.cumsum([0, *counts.tolist()]), bad)

    def _messages(self, batch: Batch) -> list[MessageRows]:
        """Return the rows or the error of each message that has a value."""
        found: list[MessageRows] = []
        for message, value in enumerate(batch.values):
            if not value:
                continue
            line = found[-1].line + found[-1].lines if found else 0
            metadata = batch.metadata[message] if batch.metadata else {}
            where = location_of(self.name, batch, message)
            try:
                rows = rows_of_message(value, metadata, where, self.options.limits)
                self._rows.columns_of(rows)
                found.append(MessageRows(message, line, rows, None))
            except DataError as error:
                found.append(MessageRows(message, line, None, error.elsewhere(where, "messages")))
        return found

    def _bad(self, batch: Batch, message: int, line: int, error: DataError) -> Bad:
        return Bad(message, line, error, batch.values[message] or b"")


class TableDecoder:
    """Decoder of the rows of one table, with the same methods as `Decoder`."""

    format_name = "sql"  # rows of a table are no messages
    ready = True  # columns have types: nothing is inferred from rows

    def __init__(self, format: str | None, options: Options, name: str, say: Callable[[str], None]) -> None:
        check_format(options, name, find("arrow"))
        self.options, self.name = options, name
        self.schema_known = False
        self._rows = TableRows(options, name, ColumnKinds(options, say))

    def infer(self, batches: Sequence[Batch]) -> None:
        """Do nothing: a table has a schema."""

    def decode(self, batch: Batch) -> Decoded:
        """Return the examples of a batch, and its bad rows with their errors."""
        values = batch.values
        rows = as_one_batch(flat(pyarrow.Table.from_batches([values])))
        blocks, lines = self._rows.examples(rows)
        bad = []
        for row in np.setdiff1d(np.arange(rows.num_rows), lines, assume_unique=True).tolist():
            original = json.dumps(values.slice(row, 1).to_pylist()[0], default=str).encode()  # type: ignore[attr-defined]
            error = self._rows.reason(rows, row, f"{self.name}: row with cursor {shown(batch.places[row])}")
            bad.append(Bad(row, row, error, original))
        return Decoded(batch, blocks, lines, np.arange(rows.num_rows + 1), bad)
