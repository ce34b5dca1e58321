"""Rows of a growing table as examples; each is a message."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow

from ouzel.errors import DataError
from ouzel.streams.block import Block
from ouzel.streams.formats.arrow_ipc import batches_in
from ouzel.streams.formats.catalogue import find
from ouzel.streams.label_columns import find_label
from ouzel.streams.limits import Limits
from ouzel.streams.logs.messages import Bad, Decoded, place_of
from ouzel.streams.logs.protocol import Batch, shown
from ouzel.streams.options import Options, check_format
from ouzel.streams.sources.error_context import one_line
from ouzel.streams.tables.arrow_types import flat, holds_blocks
from ouzel.streams.tables.columns import Columns
from ouzel.streams.tables.schema import ColumnKinds, KindError

if TYPE_CHECKING:
    import pyarrow


def rows_of_message(value: bytes, beside: Mapping[str, str], name: str, limits: Limits) -> pyarrow.RecordBatch:
    """The rows of a message as one sound record batch, objects parted into columns; DataError if it is not one.

    Columns of the names of what is `beside` it give way.
    """
    if not value.startswith(find("arrow").magic):
        raise DataError.at(name, "is not a stream of Arrow")
    with one_line(name):
        table = pyarrow.concat_tables(batches_in(io.BufferedReader(io.BytesIO(value)), name, limits))
        table.validate(full=True)  # a kernel trusts the offsets it is given
        if holds_blocks(table.schema):
            raise DataError.at(name, "holds finished examples, which are for files; send the columns that they are of")
        table = flat(table)
        for member, text in beside.items():
            table = table.drop_columns([member] if member in table.column_names else [])
            table = table.append_column(member, pyarrow.array([text] * table.num_rows, pyarrow.string()))
        return as_one_batch(table)


def as_one_batch(table: pyarrow.Table) -> pyarrow.RecordBatch:
    """A table as one record batch, which may have no rows."""
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pyarrow.RecordBatch.from_pylist([], table.schema)


MOST_KEPT = 64  # schemas


class TableRows:
    """Reads rows of one log, whose columns may change; what a column holds is decided once."""

    def __init__(self, options: Options, name: str, kinds: ColumnKinds) -> None:
        self.options, self.name = options, name
        self._kinds = kinds
        self._columns: dict[str, Columns] = {}  # by their schema

    def examples(self, rows: pyarrow.RecordBatch) -> tuple[list[Block], np.ndarray]:
        """The examples of a record batch, and which of its rows (n,) they are."""
        columns = self.columns_of(rows)
        before = columns.rows
        try:
            blocks = [block for block in columns.blocks(rows, lambda count: None) if block.rows]
        except KindError:  # which `reason` says of each row
            return [], np.empty(0, np.int64)
        numbers = [block.numbers for block in blocks if block.numbers is not None]
        return blocks, np.concatenate(numbers) - before if numbers else np.empty(0, np.int64)

    def columns_of(self, rows: pyarrow.RecordBatch) -> Columns:
        """What the columns of a record batch are; DataError if they are not those of examples."""
        schema = str(rows.schema)
        if schema not in self._columns:
            if len(self._columns) >= MOST_KEPT:
                self._columns.clear()
            self._columns[schema] = self._made(rows, "skip", self.name)
        return self._columns[schema]

    def reason(self, rows: pyarrow.RecordBatch, row: int, where: str) -> DataError:
        """What is wrong with a row that is not an example: the same readers say it."""
        try:
            list(self._made(rows, "raise", where).blocks(rows.slice(row, 1), lambda count: None))
        except DataError as error:
            return error.elsewhere(where)
        return DataError.at(where, "is not an example")

    def _made(self, rows: pyarrow.RecordBatch, on_error: str, name: str) -> Columns:
        label = find_label(self.options, rows.schema.names, self.name, self._kinds.say_once)
        return Columns(replace(self.options, on_error=on_error), rows.schema, label, True, name, self._kinds)


class Held(NamedTuple):
    """What a message holds: rows, or what is wrong with it, which stands for one line."""

    message: int
    line: int  # the first
    rows: pyarrow.RecordBatch
    error: DataError | None

    @property
    def lines(self) -> int:
        """Lines that it takes."""
        return 1 if self.error is not None else int(self.rows.num_rows)


class ArrowDecoder:
    """Reads the messages of one log; those that follow one another with the same columns are read together."""

    def __init__(self, options: Options, name: str, kinds: ColumnKinds) -> None:
        self.options, self.name = options, name
        self._rows = TableRows(options, name, kinds)

    def decode(self, batch: Batch) -> Decoded:
        """The examples of a batch; rows and messages that are none are told apart, with what is wrong with them."""
        held = self._held(batch)
        blocks, lines, bad = [], [np.empty(0, np.int64)], []
        for schema, group in groupby(held, lambda one: None if one.rows is None else one.rows.schema):
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
                error = self._rows.reason(rows, row, place_of(self.name, batch, message))
                bad.append(self._bad(batch, message, line, error))
        counts = np.zeros(len(batch.values), np.int64)
        counts[[one.message for one in held]] = [one.lines for one in held]
        return Decoded(batch, blocks, np.concatenate(lines), np.cumsum([0, *counts.tolist()]), bad)

    def _held(self, batch: Batch) -> list[Held]:
        """What each message holds that has a value."""
        found, line = [], 0
        for message, rows, error in self._read(batch):
            found.append(Held(message, line, rows, error))
            line += found[-1].lines
        return found

    def _read(self, batch: Batch) -> Iterator[tuple[int, pyarrow.RecordBatch | None, DataError | None]]:
        for message, value in enumerate(batch.values):
            if not value:
                continue
            beside = batch.beside[message] if batch.beside else {}
            where = place_of(self.name, batch, message)
            try:
                rows = rows_of_message(value, beside, where, self.options.limits)
                self._rows.columns_of(rows)
                yield message, rows, None
            except DataError as error:
                yield message, None, error.elsewhere(where, "messages")

    def _bad(self, batch: Batch, message: int, line: int, error: DataError) -> Bad:
        return Bad(message, line, error, batch.values[message] or b"")


class TableDecoder:
    """Reads the rows of one table."""

    format_name = "sql"  # of rows of a table, which are no messages
    ready = True  # columns have types: no rows need be looked at

    def __init__(self, format: str | None, options: Options, name: str, say: Callable[[str], None]) -> None:
        check_format(options, name, find("arrow"))
        self.options, self.name = options, name
        self.looked = False
        self._rows = TableRows(options, name, ColumnKinds(options, say))

    def look(self, batches: Sequence[Batch]) -> None:
        """Nothing is to be told by the first rows."""

    def decode(self, batch: Batch) -> Decoded:
        """The examples of a batch; rows that are none are told apart, with what is wrong with them."""
        values = batch.values
        rows = as_one_batch(flat(pyarrow.Table.from_batches([values])))
        blocks, lines = self._rows.examples(rows)
        bad = []
        for row in np.setdiff1d(np.arange(rows.num_rows), lines, assume_unique=True).tolist():
            original = json.dumps(values.slice(row, 1).to_pylist()[0], default=str).encode()  # type: ignore[attr-defined]
            error = self._rows.reason(rows, row, f"{self.name}: row with cursor {shown(batch.places[row])}")
            bad.append(Bad(row, row, error, original))
        return Decoded(batch, blocks, lines, np.arange(rows.num_rows + 1), bad)
