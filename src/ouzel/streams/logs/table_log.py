"""A growing table of a database as a log: its rows in the order of one column, the cursor.

The values of the cursor must be unique, and later rows must have larger ones. The position is the value of the cursor
in the last row learnt.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Generator, Iterator
from datetime import UTC, datetime
from typing import Any

import pyarrow

from ouzel.errors import DataError, OuzelError
from ouzel.streams.logs.connection import ConnectedLog
from ouzel.streams.logs.protocol import POLL_INTERVAL, Batch, Idle, Place, Position
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources.addresses import Query
from ouzel.streams.sources.databases import batches_of, connect

POLLS = 5  # times POLL_INTERVAL between two queries for new rows


class TableLog(ConnectedLog):
    """The rows of a query, in the order of its cursor."""

    def __init__(self, query: Query, reading: Reading) -> None:
        assert query.cursor is not None
        if reading.timed:
            raise OuzelError(f"{query.name}: rows have no time of their own; say it in the query (WHERE …)")
        super().__init__(query.name, f"rows by {query.cursor}", reading)
        self.query = query
        self._column = '"' + query.cursor.replace('"', '""') + '"'
        self._connection: Any = connect(query)
        self._connected_once = False

    def identity(self) -> dict[str, str]:
        """Digest of the query, so that a model does not reveal its text."""
        digest = hashlib.sha256(" ".join(self.query.sql.split()).encode()).hexdigest()[:16]
        return {"kind": "table", "topic": self.topic, "query": digest}

    def order(self, place: Place) -> tuple[int, Place]:
        """Order numbers before text."""
        text = str(place)
        return (0, int(text)) if text.lstrip("-").isdigit() else (1, text)

    def lag(self, position: Position) -> int | None:
        """Return None: a database would have to count all rows."""
        return None

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def read(self, position: Position, follow: bool) -> Generator[Batch | Idle, None, None]:
        """Yield the rows after a position."""
        last = position.last.get("")
        while True:
            try:
                if self._connection is None:
                    self._connection = connect(self.query)
                if last is None and self.start != "beginning":
                    last = self._start_place()
                for found in self._rows_after(last):
                    yield found
                    last = found.places[-1]
                self._connected_once = True
                self.outage.end()
            except Exception as error:
                if isinstance(error, RowsError) or not self._connected_once:
                    raise
                self._connection = None
                self.outage.begin(str(error))
                self.outage.check(follow)
                yield Idle.WAITING
                time.sleep(self.outage.pause())
                continue
            yield Idle.AT_END
            if not follow:
                return
            for _ in range(POLLS):
                time.sleep(POLL_INTERVAL)
                yield Idle.AT_END

    def _rows_after(self, last: Place | None) -> Iterator[Batch]:
        """Yield the rows after a place, in order."""
        if last is None:
            where = f"{self._column} IS NOT NULL"
        else:
            where = f"{self._column} > {last if isinstance(last, int) else _quoted(last)}"
        sql = f"SELECT * FROM ({self.query.sql}) AS asked WHERE {where} ORDER BY {self._column}"
        for batch in batches_of(self.query, self._connection, sql):
            if not batch.num_rows:
                continue
            if self.query.cursor not in batch.schema.names:
                raise RowsError.at(self.name, f"has no column {self.query.cursor!r}; name one of it with --cursor")
            batch.validate(full=True)  # kernels trust the offsets
            places = self._places(batch.column(self.query.cursor), last)
            last = places[-1]
            yield Batch("", places, batch.drop_columns([self.query.cursor]))
            self._connected_once = True

    def _places(self, column: pyarrow.Array, last: Place | None) -> list[Place]:
        """Return the values of the cursor as places; DataError if one occurs twice."""
        whole = pyarrow.types.is_integer(column.type)
        places = (column if whole else column.cast(pyarrow.string())).to_pylist()
        if not whole and pyarrow.types.is_floating(column.type):
            raise RowsError.at(self.name, f"column {self.query.cursor!r} holds fractions; a cursor is a key, or a time")
        for before, place in zip([last, *places], places, strict=False):
            if place is None or place == before:
                raise RowsError.at(
                    self.name,
                    f"column {self.query.cursor!r} has {place} twice; a cursor is a column whose values "
                    "differ, such as the table's key",
                )
        return places

    def _start_place(self) -> Place | None:
        if self.start == "end":
            sql = f"SELECT MAX({self._column}) AS last FROM ({self.query.sql}) AS asked"
            (batch,) = [batch for batch in batches_of(self.query, self._connection, sql) if batch.num_rows]
            found = batch.column(0)
            whole = pyarrow.types.is_integer(found.type)
            return (found if whole else found.cast(pyarrow.string()))[0].as_py()
        return datetime.fromtimestamp(int(self.start) / 1000, UTC).isoformat(sep=" ")


class RowsError(DataError):
    """The rows of a query cannot be read as a log."""


def _quoted(text: str) -> str:
    """Quote text for SQL."""
    return "'" + text.replace("'", "''") + "'"
