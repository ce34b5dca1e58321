"""Messages as lines, what is read of them, and what is wrong with those that are no examples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.errors import DataError
from ouzel.streams.block import Block
from ouzel.streams.formats.catalogue import Family, Format
from ouzel.streams.formats.json_python import object_of, with_members
from ouzel.streams.logs.protocol import Batch, shown


class Bad(NamedTuple):
    """A line that is not an example."""

    message: int  # of the batch
    line: int  # of the batch
    error: DataError
    original: bytes  # the whole message

    @property
    def reason(self) -> str:
        """What is wrong with it, and what else helps than to leave it out."""
        return self.error.reason if self.error.options == {"on_error": "skip"} else str(self.error)


class Decoded(NamedTuple):
    """What a batch holds."""

    batch: Batch
    blocks: list[Block]
    lines: np.ndarray  # (rows,) int64, which line of the batch each row is
    firsts: np.ndarray  # (n + 1,) int64, the first line of each message, and the number of all lines
    bad: list[Bad]


def content(value: bytes | None, format: Format | None) -> list[bytes]:
    """The lines of a message that hold something; a JSON object may stand on several. None is a format not known yet.

    >>> from ouzel.streams.formats.catalogue import find
    >>> json_lines, svmlight = find("jsonl"), find("svmlight")
    >>> content(b'{"a":\\n1}', json_lines), content(b"1 2:3\\n\\n0 4:5\\n", svmlight), content(None, svmlight)
    ([b'{"a": 1}'], [b'1 2:3', b'0 4:5'], [])
    """
    lines = [line for line in (value or b"").splitlines() if line.strip()]
    if format is not None and format.family is Family.OBJECTS and len(lines) > 1:
        try:
            object_of(b" ".join(lines))
        except (ValueError, RecursionError):
            return lines
        return [b" ".join(lines)]
    return [line for line in lines if format is None or not format.comment or not line.startswith(format.comment)]


def lines_of(batch: Batch, format: Format | None) -> list[list[bytes]]:
    """The lines of each message, with the members that come beside it."""
    lines = [content(value, format) for value in batch.values]
    if not batch.beside:
        return lines
    return [[with_members(line, members) for line in some] for some, members in zip(lines, batch.beside, strict=True)]


def place_of(name: str, batch: Batch, message: int) -> str:
    """Where a message is, for people."""
    partition = f"partition {batch.partition}, " if batch.partition else ""
    return f"{name}: {partition}offset {shown(batch.places[message])}"
