"""Rows of a growing table as examples; each is a message."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow

from ouzel.streams.formats.catalogue import find
from ouzel.streams.logs.arrow_values import as_one_batch
from ouzel.streams.logs.messages import Bad, Decoded
from ouzel.streams.logs.protocol import Batch, shown
from ouzel.streams.logs.table_rows import TableRows
from ouzel.streams.options import Options, check_format
from ouzel.streams.tables.arrow_types import flat
from ouzel.streams.tables.kinds import ColumnKinds


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
