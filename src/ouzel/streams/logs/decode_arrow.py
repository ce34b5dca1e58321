"""Messages that are streams of Arrow as examples, by the very path of tables in files; a row is a line of a message."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pyarrow

from ouzel.errors import DataError, bad_line
from ouzel.streams.logs.arrow_values import as_one_batch, rows_of_message
from ouzel.streams.logs.messages import Bad, Decoded, place_of
from ouzel.streams.logs.protocol import Batch
from ouzel.streams.logs.table_rows import TableRows
from ouzel.streams.options import Options
from ouzel.streams.tables.kinds import ColumnKinds


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
                said = str(error)
                said = said if said.startswith(where) else f"{where}{said.removeprefix(self.name)}"
                yield message, None, bad_line(said, "messages")

    def _bad(self, batch: Batch, message: int, line: int, error: DataError) -> Bad:
        return Bad(message, line, error, batch.values[message] or b"")
