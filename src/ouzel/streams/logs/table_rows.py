"""Record batches of a log as examples, by the very path of tables in files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ouzel.errors import DataError
from ouzel.streams.block import Block
from ouzel.streams.options import Options
from ouzel.streams.tables.columns import Columns
from ouzel.streams.tables.kinds import ColumnKinds, KindError
from ouzel.streams.tables.labels import find_label

if TYPE_CHECKING:
    import pyarrow

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
            return DataError(str(error).replace(": row 1,", ",", 1))
        return DataError(f"{where}: is not an example")

    def _made(self, rows: pyarrow.RecordBatch, on_error: str, name: str) -> Columns:
        label = find_label(self.options, rows.schema.names, self.name, self._kinds.say_once)
        return Columns(replace(self.options, on_error=on_error), rows.schema, label, True, name, self._kinds)
