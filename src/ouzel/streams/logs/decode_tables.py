"""Rows of a growing table as examples, by the very path of tables in files."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ouzel.errors import DataError
from ouzel.streams.logs.decode import Bad, Decoded
from ouzel.streams.logs.protocol import Batch, shown
from ouzel.streams.options import Options, check_format
from ouzel.streams.tables.arrow_types import flat
from ouzel.streams.tables.columns import Columns
from ouzel.streams.tables.kinds import ColumnKinds
from ouzel.streams.tables.labels import find_label


class TableDecoder:
    """Reads the rows of one table."""

    format: str | None = "sql"
    ready = True  # columns have types: no rows need be looked at

    def __init__(self, format: str | None, options: Options, name: str, say: Callable[[str], None]) -> None:
        check_format(options, name, "arrow")
        self.options, self.name = options, name
        self.looked = False
        self._kinds = ColumnKinds(options, say)
        self._columns: Columns | None = None

    def look(self, batches: Sequence[Batch]) -> None:
        """Nothing is to be told by the first rows."""

    def decode(self, batch: Batch) -> Decoded:
        """The examples of a batch; rows that are none are told apart, with what is wrong with them."""
        rows = _table_of(batch.values)
        columns = self._columns = self._columns or self._columns_of(rows, "skip")
        blocks = [block for block in columns.blocks(rows, lambda count: None) if block.rows]
        numbers = [block.numbers for block in blocks if block.numbers is not None]
        lines = np.concatenate(numbers) - (columns.rows - rows.num_rows) if numbers else np.empty(0, np.int64)
        bad = []
        for row in np.setdiff1d(np.arange(rows.num_rows), lines, assume_unique=True).tolist():
            original = json.dumps(batch.values.slice(row, 1).to_pylist()[0], default=str).encode()  # type: ignore[attr-defined]
            bad.append(Bad(row, row, self._reason(batch, rows, row), original))
        return Decoded(batch, blocks, lines, np.arange(rows.num_rows + 1), bad)

    def _columns_of(self, rows: Any, on_error: str, name: str = "") -> Columns:
        label = find_label(self.options, rows.schema.names, self.name)
        options = replace(self.options, on_error=on_error)
        return Columns(options, rows.schema, label, True, name or self.name, self._kinds)

    def _reason(self, batch: Batch, rows: Any, row: int) -> DataError:
        where = f"{self.name}: row with cursor {shown(batch.places[row])}"
        try:
            list(self._columns_of(rows, "raise", where).blocks(rows.slice(row, 1), lambda count: None))
        except DataError as error:
            return DataError(str(error).replace(": row 1,", ",", 1))
        return DataError(f"{where}: is not an example")


def _table_of(values: Any) -> Any:
    """Rows with an object parted into a column a member, as one record batch."""
    import pyarrow

    (batch,) = flat(pyarrow.Table.from_batches([values])).combine_chunks().to_batches()
    return batch
