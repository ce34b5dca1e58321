"""Examples submitted for learning: single lines, or whole batches; and the log that they were read from, if any."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from ouzel.service.example_log import Feed, Log
from ouzel.service.limits import Answer, Line, Refused, Row
from ouzel.service.reading import Reading, line_of, longest_line
from ouzel.streams.block import Block
from ouzel.streams.feature_names import ID
from ouzel.streams.formats.records import record_of_batch, record_of_rows, rows_as_json
from ouzel.streams.logs.protocol import Position

if TYPE_CHECKING:
    import pyarrow

Result = Answer | Refused


class KeyOf(Enum):
    """Scope of the key that comes with a line."""

    REQUEST = "a request of several, for those of its lines that have no id"
    EXAMPLE = "the line itself, whose id is the same if it has one"


class Submitted(NamedTuple):
    """A line to learn, the key by which it is learnt once, and whether it waited for its label."""

    text: bytes
    key: str | None = None
    waited: bool = False
    refused: Refused | None = None  # the reason, if it is known that it is not an example
    key_of: KeyOf = KeyOf.REQUEST
    row: Row | None = None  # the example, if it is parsed already

    def read_as(self, found: Row | Refused) -> Submitted:
        """Return it with the example that it is, or the reason why it is none."""
        return self._replace(refused=found) if isinstance(found, Refused) else self._replace(row=found)

    @property
    def line(self) -> Line | None:
        """The parsed line."""
        return self.row and Line(self.text, self.row, self.key)

    def keyed(self, line: Line) -> Line | Refused:
        """Return a parsed line with the key that counts; refuse it if it has two."""
        if self.key is None or line.key == self.key or self.key_of is KeyOf.REQUEST:
            return line
        return Refused(
            f"found the Idempotency-Key {self.key!r} and {ID!r}: {line.key!r}; expected one of them, or both the same",
            ID,
        )


class TextBatch(NamedTuple):
    """Whole lines of a stream as they came, and whether to return the prediction for each."""

    text: bytes  # each line with its newline
    lines: int  # their number, with blank ones
    return_predictions: bool

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return len(self.text)

    def numbers(self) -> list[int]:
        """Return the numbers of the lines that are not blank, from 1."""
        return [k for k, line in enumerate(self.text.split(b"\n"), 1) if line.strip()]

    def submitted(self) -> list[Submitted]:
        """Return the lines that are not blank, one by one."""
        return [Submitted(line) for line in self.text.split(b"\n") if line.strip()]

    def block(self, reading: Reading) -> Block | None:
        """Return the lines as a block; None unless all are plain."""
        return reading.whole(self.text, self.lines)

    def longest(self, reading: Reading, enough: int) -> int:
        """Return the bytes of the longest line, or of the whole text if that has no more than `enough`."""
        return longest_line(self.text, enough)

    def to_log(self, reading: Reading) -> bytes:
        """Return the lines as an entry of the log."""
        return self.text[:-1]


class ArrowBatch(NamedTuple):
    """Rows of an Arrow batch, and whether to return the prediction for each; its methods are those of `TextBatch`."""

    batch: pyarrow.RecordBatch
    return_predictions: bool

    @property
    def lines(self) -> int:
        """Number of rows."""
        return int(self.batch.num_rows)

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return int(self.batch.nbytes)

    def numbers(self) -> list[int]:
        """Return the numbers of the rows, from 1."""
        return [*range(1, self.lines + 1)]

    def submitted(self) -> list[Submitted]:
        """Return the rows as lines."""
        return [Submitted(line) for line in rows_as_json(self.batch)]

    def block(self, reading: Reading) -> Block | None:
        """Return the rows as a block; None unless all are plain."""
        return reading.numbers.block(self.batch)

    def longest(self, reading: Reading, enough: int) -> int:
        """Return the largest number of bytes that a row takes as a line."""
        return reading.numbers.longest(self.batch.schema)

    def to_log(self, reading: Reading) -> bytes:
        """Return the rows as an entry of the log."""
        return record_of_batch(self.batch)


class RowsBatch(NamedTuple):
    """Parsed lines of another text format, and whether to return predictions; its methods are those of `TextBatch`."""

    given: list[Submitted]  # the lines that are neither blank nor comments
    places: list[int]  # of these among all lines, from 1
    lines: int  # their number, with blank ones
    return_predictions: bool

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return sum(2 * len(one.text) for one in self.given)

    def numbers(self) -> list[int]:
        """Return the numbers of the lines that are not blank, from 1."""
        return self.places

    def submitted(self) -> list[Submitted]:
        """Return the lines, one by one."""
        return self.given

    def block(self, reading: Reading) -> Block | None:
        """Return the rows as a block; None unless all are examples with labels."""
        rows = [one.row for one in self.given]
        if reading.options.derived or not rows or any(row is None or row.label is None for row in rows):
            return None
        block = self._block
        return block if block.rows == len(rows) else None

    @property
    def _block(self) -> Block:
        row = self.given[0].row
        assert row is not None
        return row.block

    def longest(self, reading: Reading, enough: int) -> int:
        """Return the bytes of the longest line."""
        return max(len(one.text) for one in self.given)

    def to_log(self, reading: Reading) -> bytes:
        """Return the rows as an entry of the log."""
        return record_of_rows(self._block, reading.options)


Whole = TextBatch | ArrowBatch | RowsBatch


class Source(NamedTuple):
    """The log that lines were read from, and the position after them, which is stored in the same commit."""

    identity: dict[str, str]
    position: Position

    def as_feed(self, results: Sequence[Result | None]) -> Feed:
        """Return the position for the example log, with the counts of refused lines and of lines to learn."""
        self.position.skipped += sum(isinstance(result, Refused) for result in results)
        self.position.examples += sum(result is None for result in results)
        return {"identity": self.identity, "position": self.position.to_json()}


class Submission(NamedTuple):
    """Lines that are answered together. A whole batch is a group by itself, and learnt as one block if possible."""

    lines: Sequence[Submitted]
    answered: asyncio.Future[list[Result] | int]
    source: Source | None = None
    whole: Whole | None = None

    @property
    def size(self) -> int:
        """Largest number of examples."""
        return len(self.lines) if self.whole is None else self.whole.lines

    @property
    def nbytes(self) -> int:
        """Bytes of memory while it waits."""
        return sum(len(line.text) for line in self.lines) if self.whole is None else self.whole.nbytes


def text_of(group: Sequence[Submission]) -> TextBatch | None:
    """Return the lines of a group as one batch with predictions; None if any has a key, a source or a refusal."""
    given = [one for submission in group for one in submission.lines]
    if any(submission.source is not None for submission in group):
        return None
    if not given or any(one.key is not None or one.waited or one.refused is not None for one in given):
        return None
    lines = [line_of(one.text) for one in given]
    return TextBatch(b"\n".join([*lines, b""]), len(lines), True) if all(lines) else None


def feeds_of(group: Sequence[Submission], results: Sequence[Result | None]) -> list[Feed]:
    """Return the positions of the logs that the lines of a group were read from."""
    found, start = [], 0
    for submission in group:
        stop = start + len(submission.lines)
        if submission.source is not None:
            found.append(submission.source.as_feed(results[start:stop]))
        start = stop
    return found


def remove_repeated(lines: dict[int, Line], results: list[Result | None], log: Log) -> dict[int, int]:
    """Remove lines with known keys; return the places of those repeated within the group, with the first place."""
    keys = {line.key: place for place, line in reversed(lines.items()) if line.key is not None}
    if not keys:
        return {}
    again: dict[int, int] = {}
    known = log.find(list(keys))
    lines_before = dict(lines)
    for place, line in list(lines.items()):
        if line.key is None:
            continue
        entry, first = known.get(line.key), keys[line.key]
        if entry is None and first == place:
            continue
        del lines[place]
        same = line.is_in(entry.record) if entry is not None else line.same_as(lines_before[first])
        if not same:
            results[place] = Refused(f"found the key {line.key!r} of another example; expected one of its own")
        elif entry is not None:
            results[place] = {"number": entry.number, "repeated": True}
        else:
            again[place] = first
    return again
