"""The log of a model: every acknowledged example as the line it came as, on disk before it is learnt.

SQLite in WAL mode with full sync: a commit returns when the disk has the rows. Many requests share one commit, which is
what a group costs, not an example. Examples of a group that have no keys share a row as well, a line each, with the
number of the last of them (older logs have a row for each); those that came as Arrow are kept as that (`packed_rows`).
Every row has a checksum over its number, key and lines.
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
from ouzel.service.packed_rows import lines_in, rows_in

SCHEMA = """
CREATE TABLE IF NOT EXISTS examples (
    number INTEGER PRIMARY KEY, key TEXT, line BLOB NOT NULL, at REAL NOT NULL, checksum INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS keys ON examples (key) WHERE key IS NOT NULL;
CREATE TABLE IF NOT EXISTS waiting (id TEXT PRIMARY KEY, line BLOB NOT NULL, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS feeds (name TEXT PRIMARY KEY, stood TEXT NOT NULL);
"""
EACH = 256  # bytes that an example which waits for its label takes beside its line
BEYOND = f"""
DELETE FROM waiting WHERE rowid IN (
    SELECT rowid FROM (
        SELECT rowid, sum({EACH} + length(id) + length(line)) OVER newest AS size, count(*) OVER newest AS place
        FROM waiting WINDOW newest AS (ORDER BY at DESC, rowid DESC ROWS UNBOUNDED PRECEDING)
    ) WHERE size > ? OR place > ?
)
"""
AT_ONCE = 500  # keys in one question
PAGE = 1 << 13  # bytes that are written together
MOST_ROW = 1 << 22  # bytes of a row, but for one long line
FORGOTTEN = 2000  # examples that are removed at a time
BUSY = 30.0  # seconds that a reader's lock is waited for


Feed = dict[str, Any]  # the identity of a log that examples come from, and the position in it


class Entry(NamedTuple):
    """One example of the log: its place, from 1, its key if it has one, and its line without the newline.

    To append, and in a row: it may be several without a key, by the place of the last, their lines parted by newlines
    or packed rows.
    """

    number: int
    key: str | None
    line: bytes

    @property
    def first(self) -> int:
        """The place of the first of them."""
        return self.number + 1 - rows_in(self.line)


class Waiting(NamedTuple):
    """An example that was predicted and waits for its label."""

    id: str
    line: bytes
    at: float  # seconds since the epoch

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return len(self.line) + len(self.id) + EACH


class LogFullError(OuzelError):
    """What was to be written is not on disk; nothing of it counts as acknowledged."""


class Log:
    """The log in one file. One thread writes; whoever reads opens a connection of its own.

    >>> import tempfile
    >>> log = Log(Path(tempfile.mkdtemp(), "log.sqlite"))
    >>> log.append([Entry(1, None, b'{"label": 1}'), Entry(2, "order-7", b'{"label": 0}')])
    >>> log.find(["order-7", "order-8"])
    {'order-7': Entry(number=2, key='order-7', line=b'{"label": 0}')}
    >>> [entry.number for entry in log.entries(after=1)]
    [2]
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._speaking():
            self._connection = self._connect()
            self._connection.execute(f"PRAGMA page_size = {PAGE}")  # of a new file
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.executescript(SCHEMA)

    def close(self) -> None:
        """Close the file; what was appended is on disk already."""
        self._connection.close()

    def append(
        self,
        entries: Sequence[Entry],
        waiting: Iterable[Waiting] = (),
        labelled: Iterable[str] = (),
        feeds: Iterable[Feed] = (),
    ) -> None:
        """Have entries on disk, all or none, with what waits for labels since, the ids that have theirs now, and how
        far the logs were read that the entries are from.
        """
        now = time.time()
        rows = [(row.number, row.key, row.line, now, _checksum(row)) for row in _rows(entries)]
        with self._speaking(), self._transaction() as connection:
            connection.executemany("INSERT INTO examples VALUES (?, ?, ?, ?, ?)", rows)
            connection.executemany("INSERT OR REPLACE INTO waiting VALUES (?, ?, ?)", waiting)
            connection.executemany("DELETE FROM waiting WHERE id = ?", [(id,) for id in labelled])
            _note_feeds(connection, feeds)

    def find(self, keys: Sequence[str]) -> dict[str, Entry]:
        """The entries of those of the keys that the log has."""
        found = {}
        with self._speaking():
            for start in range(0, len(keys), AT_ONCE):
                asked = keys[start : start + AT_ONCE]
                marks = ",".join("?" * len(asked))
                rows = self._connection.execute(f"SELECT number, key, line FROM examples WHERE key IN ({marks})", asked)
                found.update({row[1]: Entry(*row) for row in rows})
        return found

    def entry(self, key: str) -> Entry | None:
        """The entry of a key, if it is on disk; for any thread, whatever is being written."""
        with self._speaking(), closing(self._connect()) as connection:
            found = connection.execute("SELECT number, key, line FROM examples WHERE key = ?", (key,)).fetchone()
        return found and Entry(*found)

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """The entries behind a number, in order; OuzelError at the first that is damaged or missing."""
        number = after
        with self._speaking(), closing(self._connect()) as connection:
            rows = connection.execute(
                "SELECT number, key, line, checksum FROM examples WHERE number > ? ORDER BY number", (after,)
            )
            for *found, checksum in rows:
                row = Entry(*found)
                if checksum != _checksum(row) or row.first > number + 1:
                    raise self._damaged(number + 1, row, checksum == _checksum(row))
                for line in lines_in(row.line)[number + 1 - row.first :]:
                    number += 1
                    yield Entry(number, row.key, line)

    def last(self) -> int:
        """The number of the last example, 0 if there is none."""
        with self._speaking():
            found = self._connection.execute("SELECT MAX(number) FROM examples").fetchone()[0]
        return int(found or 0)

    def last_key(self) -> str | None:
        """The key of the last example, if it has one."""
        with self._speaking(), closing(self._connect()) as connection:
            found = connection.execute("SELECT key FROM examples ORDER BY number DESC LIMIT 1").fetchone()
        return found[0] if found else None

    def first(self) -> int:
        """The number of the first example that is kept, one more than the last if none is."""
        with self._speaking(), closing(self._connect()) as connection:
            found = connection.execute("SELECT number, key, line FROM examples ORDER BY number LIMIT 1").fetchone()
        return self.last() + 1 if found is None else Entry(*found).first

    def forget(self, up_to: int) -> None:
        """Keep the rows up to this number no longer, a few at a time; the last one stays, so that numbers go on."""
        with self._speaking(), closing(self._connect()) as connection:
            start, up_to = self.first(), min(up_to, self.last() - 1)
            for number in range(start, up_to + 1, FORGOTTEN):
                end = min(number + FORGOTTEN - 1, up_to)
                connection.execute("DELETE FROM examples WHERE number <= ?", (end,))

    def waiting(self, since: float, most: int = 1 << 62, size: int = 1 << 62) -> list[Waiting]:
        """Examples that wait for labels, the oldest first.

        Those from before `since` are forgotten, and so are the oldest where there are more than `most`, or they take
        more than `size` bytes.
        """
        with self._speaking():
            with self._transaction() as connection:
                connection.execute("DELETE FROM waiting WHERE at < ?", (since,))
                connection.execute(BEYOND, (size, most))
            rows = self._connection.execute("SELECT id, line, at FROM waiting ORDER BY at, rowid")
            return [Waiting(*row) for row in rows]

    def feeds(self) -> list[Feed]:
        """How far each log was read that examples came from."""
        with self._speaking(), closing(self._connect()) as connection:
            return [json.loads(row[0]) for row in connection.execute("SELECT stood FROM feeds ORDER BY name")]

    def take_over(self, feeds: Iterable[Feed]) -> None:
        """Have logs read as far as another log of examples says, which has the same ones."""
        with self._speaking(), closing(self._connect()) as connection:
            _note_feeds(connection, feeds)

    def bytes_used(self) -> int:
        """Bytes on disk."""
        beside = self.path.with_name(f"{self.path.name}-wal")
        return sum(os.path.getsize(path) for path in (self.path, beside) if path.exists())

    def _damaged(self, number: int, row: Entry, sound: bool) -> OuzelError:
        """What is wrong with a row, or absent before it."""
        if sound:
            found = f"example {number:,} is missing"
        elif row.first < row.number:
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
    def _speaking(self) -> Iterator[None]:
        """What SQLite raises as one line."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise LogFullError(f"{self.path}: cannot be written or read ({error})") from None
        except sqlite3.DatabaseError as error:
            raise OuzelError(
                f"{self.path}: the log is damaged ({error}); put back a sound copy of the folder"
            ) from None


def _note_feeds(connection: sqlite3.Connection, feeds: Iterable[Feed]) -> None:
    rows = [("{kind}:{topic}".format(**feed["identity"]), json.dumps(feed)) for feed in feeds]
    connection.executemany("INSERT OR REPLACE INTO feeds VALUES (?, ?)", rows)


def _rows(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Entries as rows: those behind one another that have no key as one, as long as it is not too large."""
    for key, some in groupby(entries, lambda entry: entry.key):
        lines: list[bytes] = []
        number = size = 0
        for entry in some:
            if lines and (key is not None or entry.first != number + 1 or size + len(entry.line) > MOST_ROW):
                yield Entry(number, key, b"\n".join(lines))
                lines, size = [], 0
            number = entry.number
            lines.append(entry.line)
            size += len(entry.line)
        yield Entry(number, key, b"\n".join(lines))


def _checksum(entry: Entry) -> int:
    return crc32(entry.line, crc32(f"{entry.number}:{entry.key or ''}".encode()))
