"""The log of a model: it stores every acknowledged example as it was sent, on disk before the model learns it.

SQLite in WAL mode with full sync: a commit returns when the disk has the rows. The requests of a group share one
commit. A row is a record of `streams/formats/records.py`: lines of JSON, packed rows, or Arrow, as the examples came.
The examples of a group that have no keys share a row, under the number of the last (older logs have a row for each).
Every row has a checksum over its number, key and record.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from ouzel.errors import OuzelError
from ouzel.streams.formats.records import count_in, examples_in, is_batch, is_rows, part_of

SCHEMA = """
CREATE TABLE IF NOT EXISTS examples (
    number INTEGER PRIMARY KEY, key TEXT, line BLOB NOT NULL, at REAL NOT NULL, checksum INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS keys ON examples (key) WHERE key IS NOT NULL;
CREATE TABLE IF NOT EXISTS waiting (id TEXT PRIMARY KEY, line BLOB NOT NULL, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS feeds (name TEXT PRIMARY KEY, stood TEXT NOT NULL);
"""
ROW_OVERHEAD = 256  # bytes that an example waiting for its label takes in addition to its line
DELETE_BEYOND_LIMITS = f"""
DELETE FROM waiting WHERE rowid IN (
    SELECT rowid FROM (
        SELECT rowid, sum({ROW_OVERHEAD} + length(id) + length(line)) OVER newest AS size, count(*) OVER newest AS place
        FROM waiting WINDOW newest AS (ORDER BY at DESC, rowid DESC ROWS UNBOUNDED PRECEDING)
    ) WHERE size > ? OR place > ?
)
"""
AT_ONCE = 500  # keys in one query
PAGE = 1 << 13  # bytes of a page of the database
MOST_ROW = 1 << 22  # bytes of a row, unless one line is longer
DELETED_AT_ONCE = 2000  # examples
BUSY = 30.0  # seconds to wait for the lock of a reader


Feed = dict[str, Any]  # the identity of a log that examples are read from, and the position in it


class Entry(NamedTuple):
    """One example of the log: its number, from 1, its key if it has one, and its record.

    An entry to append, or a row, may hold several examples without keys: the number is that of the last, and the record
    has them all.
    """

    number: int
    key: str | None
    record: bytes

    @property
    def first(self) -> int:
        """The number of the first example."""
        return self.number + 1 - count_in(self.record)


class Waiting(NamedTuple):
    """An example that was predicted and waits for its label."""

    id: str
    line: bytes
    at: float  # seconds since the epoch

    @property
    def size(self) -> int:
        """Bytes that the example takes."""
        return len(self.line) + len(self.id) + ROW_OVERHEAD


class LogFullError(OuzelError):
    """A write failed: none of it is on disk or acknowledged."""


class Log:
    """The log in one file. One thread writes; every reader opens its own connection.

    >>> import tempfile
    >>> log = Log(Path(tempfile.mkdtemp(), "log.sqlite"))
    >>> log.append([Entry(1, None, b'{"label": 1}'), Entry(2, "order-7", b'{"label": 0}')])
    >>> log.find(["order-7", "order-8"])
    {'order-7': Entry(number=2, key='order-7', record=b'{"label": 0}')}
    >>> [entry.number for entry in log.entries(after=1)]
    [2]
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._wrap_errors():
            self._connection = self._connect()
            self._connection.execute(f"PRAGMA page_size = {PAGE}")  # of a new file
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.executescript(SCHEMA)

    def close(self) -> None:
        """Close the file; all appended entries are on disk already."""
        self._connection.close()

    def append(
        self,
        entries: Sequence[Entry],
        waiting: Iterable[Waiting] = (),
        labelled: Iterable[str] = (),
        feeds: Iterable[Feed] = (),
    ) -> None:
        """Write entries to disk, all or none of them, in one commit.

        The commit also stores examples that wait for labels, removes the ids in `labelled`, and stores the positions
        of the logs that the entries were read from.
        """
        now = time.time()
        rows = [(row.number, row.key, row.record, now, _checksum(row)) for row in _rows(entries)]
        with self._wrap_errors(), self._transaction() as connection:
            connection.executemany("INSERT INTO examples VALUES (?, ?, ?, ?, ?)", rows)
            connection.executemany("INSERT OR REPLACE INTO waiting VALUES (?, ?, ?)", waiting)
            connection.executemany("DELETE FROM waiting WHERE id = ?", [(id,) for id in labelled])
            _write_feeds(connection, feeds)

    def find(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the entries of those keys that the log has."""
        found = {}
        with self._wrap_errors():
            for start in range(0, len(keys), AT_ONCE):
                some = keys[start : start + AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = self._connection.execute(f"SELECT number, key, line FROM examples WHERE key IN ({marks})", some)
                found.update({row[1]: Entry(*row) for row in rows})
        return found

    def entry(self, key: str) -> Entry | None:
        """Return the entry of a key, if it is on disk. Any thread may call this, also during a write."""
        with self._wrap_errors(), closing(self._connect()) as connection:
            found = connection.execute("SELECT number, key, line FROM examples WHERE key = ?", (key,)).fetchone()
        return found and Entry(*found)

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Yield the entries after a number, in order, one example each; raise OuzelError as `rows` does."""
        for row in self.rows(after):
            for number, record in enumerate(examples_in(row.record), row.first):
                yield Entry(number, row.key, record)

    def rows(self, after: int = 0) -> Iterator[Entry]:
        """Yield the examples after a number, in order, as their rows; raise OuzelError if one is damaged or missing."""
        number = after
        with self._wrap_errors(), closing(self._connect()) as connection:
            rows = connection.execute(
                "SELECT number, key, line, checksum FROM examples WHERE number > ? ORDER BY number", (after,)
            )
            for *found, checksum in rows:
                row = Entry(*found)
                if checksum != _checksum(row) or row.first > number + 1:
                    raise self._damaged(number + 1, row, checksum == _checksum(row))
                yield row._replace(record=part_of(row.record, number + 1 - row.first))
                number = row.number

    def last(self) -> int:
        """Return the number of the last example, 0 if there is none."""
        with self._wrap_errors():
            found = self._connection.execute("SELECT MAX(number) FROM examples").fetchone()[0]
        return int(found or 0)

    def last_key(self) -> str | None:
        """Return the key of the last example, if it has one."""
        with self._wrap_errors(), closing(self._connect()) as connection:
            found = connection.execute("SELECT key FROM examples ORDER BY number DESC LIMIT 1").fetchone()
        return found[0] if found else None

    def first(self) -> int:
        """Return the number of the first stored example, one more than the last if there is none."""
        with self._wrap_errors(), closing(self._connect()) as connection:
            found = connection.execute("SELECT number, key, line FROM examples ORDER BY number LIMIT 1").fetchone()
        return self.last() + 1 if found is None else Entry(*found).first

    def forget(self, up_to: int) -> None:
        """Delete the rows up to this number, a few at a time; the last row stays, so that numbers continue."""
        with self._wrap_errors(), closing(self._connect()) as connection:
            start, up_to = self.first(), min(up_to, self.last() - 1)
            for number in range(start, up_to + 1, DELETED_AT_ONCE):
                end = min(number + DELETED_AT_ONCE - 1, up_to)
                connection.execute("DELETE FROM examples WHERE number <= ?", (end,))

    def cut(self, last: int) -> None:
        """Delete the examples after the number `last`, all or none of them."""
        with self._wrap_errors(), self._transaction() as connection:
            query = "SELECT at, number, key, line FROM examples WHERE number > ? ORDER BY number LIMIT 1"
            at, *found = connection.execute(query, (last,)).fetchone() or (0.0, last + 1, None, b"")
            connection.execute("DELETE FROM examples WHERE number > ?", (last,))
            if (row := Entry(*found)).first <= last:  # it holds examples of both sides
                kept = Entry(last, None, part_of(row.record, 0, last + 1 - row.first))
                connection.execute("INSERT INTO examples VALUES (?, ?, ?, ?, ?)", (*kept, at, _checksum(kept)))

    def waiting(self, since: float, most: int = 1 << 62, size: int = 1 << 62) -> list[Waiting]:
        """Return the examples that wait for labels, the oldest first.

        Delete those from before `since`, and the oldest ones beyond `most` or beyond `size` bytes.
        """
        with self._wrap_errors():
            with self._transaction() as connection:
                connection.execute("DELETE FROM waiting WHERE at < ?", (since,))
                connection.execute(DELETE_BEYOND_LIMITS, (size, most))
            rows = self._connection.execute("SELECT id, line, at FROM waiting ORDER BY at, rowid")
            return [Waiting(*row) for row in rows]

    def feeds(self) -> list[Feed]:
        """Return the positions of the logs that examples were read from."""
        with self._wrap_errors(), closing(self._connect()) as connection:
            return [json.loads(row[0]) for row in connection.execute("SELECT stood FROM feeds ORDER BY name")]

    def take_over(self, feeds: Iterable[Feed]) -> None:
        """Store the positions that another log of examples has, which holds the same examples."""
        with self._wrap_errors(), closing(self._connect()) as connection:
            _write_feeds(connection, feeds)

    def bytes_used(self) -> int:
        """Return the bytes on disk."""
        wal = self.path.with_name(f"{self.path.name}-wal")
        return sum(os.path.getsize(path) for path in (self.path, wal) if path.exists())

    def _damaged(self, number: int, row: Entry, sound: bool) -> OuzelError:
        """Return the error of a damaged row, or of an example missing before it."""
        if sound:
            found = f"example {number:,} is missing"
        elif row.number > number:
            found = f"examples {number:,} to {row.number:,} are damaged (their checksum does not match)"
        else:
            found = f"example {number:,} is damaged (its checksum does not match)"
        return OuzelError(
            f"{self.path}: {found}; put back a sound copy of the folder, in which every example before it is"
        )

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=BUSY, isolation_level=None, check_same_thread=False)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _wrap_errors(self) -> Iterator[None]:
        """Raise the errors of SQLite as an OuzelError of one line."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise LogFullError(f"{self.path}: cannot be written or read ({error})") from None
        except sqlite3.DatabaseError as error:
            raise OuzelError(
                f"{self.path}: the log is damaged ({error}); put back a sound copy of the folder"
            ) from None


def _write_feeds(connection: sqlite3.Connection, feeds: Iterable[Feed]) -> None:
    rows = [("{kind}:{topic}".format(**feed["identity"]), json.dumps(feed)) for feed in feeds]
    connection.executemany("INSERT OR REPLACE INTO feeds VALUES (?, ?)", rows)


def _rows(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yield entries as rows: successive lines without keys share a row of at most MOST_ROW bytes."""
    for together, some in groupby(entries, lambda entry: entry.key is None and not _is_packed(entry.record)):
        lines: list[bytes] = []
        number = size = 0
        for entry in some:
            if not together:
                yield entry
                continue
            if lines and (entry.first != number + 1 or size + len(entry.record) > MOST_ROW):
                yield Entry(number, None, b"\n".join(lines))
                lines, size = [], 0
            number = entry.number
            lines.append(entry.record)
            size += len(entry.record)
        if lines:
            yield Entry(number, None, b"\n".join(lines))


def _is_packed(record: bytes) -> bool:
    return is_rows(record) or is_batch(record)


def _checksum(entry: Entry) -> int:
    return crc32(entry.record, crc32(f"{entry.number}:{entry.key or ''}".encode()))
