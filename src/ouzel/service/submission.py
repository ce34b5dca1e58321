"""What is submitted to be learnt: lines one by one, or many as a whole; and the log that they come from, if any."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from ouzel.service.answers import Answer
from ouzel.service.example_log import Feed
from ouzel.service.packed_rows import packed, rows_as_json
from ouzel.service.reading import ID, Line, Reading, Refused, line_of, longest_line
from ouzel.streams.block import Block
from ouzel.streams.logs.protocol import Position

if TYPE_CHECKING:
    import pyarrow

Result = Answer | Refused


class KeyOf(Enum):
    """What the key that comes with a line is the key of."""

    REQUEST = "a request of several, for those of its lines that have no id"
    EXAMPLE = "the line itself, whose id is the same if it has one"
    PLACE = "the line's place in another log, whatever its id"


class Given(NamedTuple):
    """A line to learn, the key by which it is learnt once, and whether it was waiting for its label."""

    text: bytes
    key: str | None = None
    waited: bool = False
    refused: Refused | None = None  # why it is not even a line of JSON
    key_of: KeyOf = KeyOf.REQUEST

    def keyed(self, line: Line) -> Line | Refused:
        """What was read of the line, with the key that counts; refused if it has two."""
        if self.key is None or line.key == self.key or self.key_of is KeyOf.REQUEST:
            return line
        if self.key_of is KeyOf.PLACE:
            return line._replace(key=self.key)
        return Refused(
            f"found the Idempotency-Key {self.key!r} and {ID!r}: {line.key!r}; expected one of them, or both the same",
            ID,
        )


class Text(NamedTuple):
    """Whole lines of a stream, as they came; and whether what was predicted of each is to be told."""

    text: bytes  # each line with its newline
    lines: int  # how many, blank ones too
    told: bool

    @property
    def nbytes(self) -> int:
        """Bytes of memory that they take."""
        return len(self.text)

    def numbers(self) -> list[int]:
        """The numbers of the lines that are not blank, from 1."""
        return [k for k, line in enumerate(self.text.split(b"\n"), 1) if line.strip()]

    def given(self) -> list[Given]:
        """The lines that are not blank, one by one."""
        return [Given(line) for line in self.text.split(b"\n") if line.strip()]

    def block(self, reading: Reading) -> Block | None:
        """The lines as a block; None unless all are plain."""
        return reading.whole(self.text, self.lines)

    def longest(self, reading: Reading, enough: int) -> int:
        """Bytes of the longest line, or at least as many, if they are no more than `enough`."""
        return longest_line(self.text, enough)

    def kept(self) -> bytes:
        """The lines as the log keeps them."""
        return self.text[:-1]


class Rows(NamedTuple):
    """Rows of an Arrow record batch; and whether what was predicted of each is to be told. As `Text` is."""

    batch: pyarrow.RecordBatch
    told: bool

    @property
    def lines(self) -> int:
        """How many."""
        return int(self.batch.num_rows)

    @property
    def nbytes(self) -> int:
        """Bytes of memory that they take."""
        return int(self.batch.nbytes)

    def numbers(self) -> list[int]:
        """The numbers of the rows, from 1."""
        return [*range(1, self.lines + 1)]

    def given(self) -> list[Given]:
        """The rows as lines."""
        return [Given(line) for line in rows_as_json(self.batch)]

    def block(self, reading: Reading) -> Block | None:
        """The rows as a block; None unless all are plain."""
        return reading.numbers.block(self.batch)

    def longest(self, reading: Reading, enough: int) -> int:
        """Bytes that a row takes at most as a line."""
        return reading.numbers.longest(self.batch.schema)

    def kept(self) -> bytes:
        """The rows as the log keeps them."""
        return packed(self.batch)


class Source(NamedTuple):
    """The log that lines come from, and where it is read up to with them: on disk in one commit with them."""

    identity: dict[str, str]
    position: Position

    def noted(self, results: Sequence[Result | None]) -> Feed:
        """What the example log notes, now that it is known which lines are refused and which are to be learnt."""
        self.position.skipped += sum(isinstance(result, Refused) for result in results)
        self.position.examples += sum(result is None for result in results)
        return {"identity": self.identity, "position": self.position.to_json()}


class Submission(NamedTuple):
    """Lines that are answered together. A whole is a group by itself, read and learnt as a block if it can be."""

    lines: Sequence[Given]
    answered: asyncio.Future[list[Result] | int]
    source: Source | None = None
    whole: Text | Rows | None = None

    @property
    def size(self) -> int:
        """How many examples at most."""
        return len(self.lines) if self.whole is None else self.whole.lines

    @property
    def nbytes(self) -> int:
        """Bytes of memory that it takes while it waits."""
        return sum(len(line.text) for line in self.lines) if self.whole is None else self.whole.nbytes


def text_of(group: Sequence[Submission]) -> Text | None:
    """The lines of a group as one text, all of which are told; None if there is more to each than its line."""
    given = [one for submission in group for one in submission.lines]
    if any(submission.source is not None for submission in group):
        return None
    if not given or any(one.key is not None or one.waited or one.refused is not None for one in given):
        return None
    lines = [line_of(one.text) for one in given]
    return Text(b"\n".join([*lines, b""]), len(lines), True) if all(lines) else None
