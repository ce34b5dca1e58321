"""Lines of a request or of a log, and limits: nothing that comes from outside may grow without end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.learners.rows import largest_id
from ouzel.model.model import Model
from ouzel.numerals import as_size
from ouzel.streams.block import Block
from ouzel.streams.formats.json_python import Example
from ouzel.streams.formats.packed_rows import same_rows, take_rows
from ouzel.streams.formats.records import is_rows, rows_of
from ouzel.streams.labels import Label, labels_in

Answer = dict[str, Any]
"""An answer to an example as JSON values."""


class Refused(NamedTuple):
    """The reason why a line is not learnt or predicted: the sentence of the readers, and its place in the line."""

    error: str
    field: str | None = None
    column: int | None = None


class Row(NamedTuple):
    """An example that was read together with others: a row of their block."""

    features: range  # of their number
    label: Label | None
    block: Block
    place: int
    text: bytes = b""  # of a JSON object; others are rows of a canonical block


class Line(NamedTuple):
    """A line that is an example."""

    text: bytes  # without newlines
    example: Example | Row
    key: str | None

    @property
    def packed(self) -> Row | None:
        """The row that the log stores, unless it stores the line."""
        return self.example if isinstance(self.example, Row) and not self.example.text else None

    def same_as(self, other: Line) -> bool:
        """Return whether another line is the same example."""
        row, its = self.packed, other.packed
        if row is None or its is None:
            return row is its and self.text == other.text
        return same_rows(take_rows(row.block, [row.place]), take_rows(its.block, [its.place]))

    def is_in(self, record: bytes) -> bool:
        """Return whether a record of one example has this one."""
        row = self.packed
        if row is None or not is_rows(record):
            return row is None and record == self.text
        return same_rows(rows_of(record), take_rows(row.block, [row.place]))


def rows_in(block: Block) -> list[Row]:
    """Return the rows of a canonical block."""
    sizes = np.diff(block.offsets).tolist()
    return [
        Row(range(size), label, block, place)
        for place, (size, label) in enumerate(zip(sizes, labels_in(block), strict=True))
    ]


def taken(block: Block, places: list[int]) -> Block:
    """Return some rows of a block, or the block itself."""
    return block if places == list(range(block.rows)) else take_rows(block, places)


class BusyError(OuzelError):
    """Too much waits already."""


@dataclass(frozen=True)
class ServiceLimits:
    """Limits of one service; limits on a model apply to each model of the service."""

    body: int = 16 << 20  # bytes of a request that is read whole
    examples: int = 100_000  # of one request to predict
    line: int = 1 << 20  # bytes of one example
    features: int = 100_000  # of one example
    largest_id: int = (1 << 24) - 1  # of a feature without a name, unless the model knows larger ones
    queue: int = 20_000  # examples that may wait to be learnt
    queue_bytes: int = 256 << 20  # of those examples, and of long requests that wait to be answered
    connections: int = 1_000
    streams: int = 200  # of events, and at most half of the connections
    seconds: float = 30.0  # allowed for the next part of a body
    unlabelled: int = 100_000  # examples that wait for their labels
    unlabelled_bytes: int = 256 << 20  # of those examples, in memory and on disk
    unlabelled_hours: float = 168.0
    quarantine: int = 100  # refused lines that are kept for inspection

    @property
    def most_streams(self) -> int:
        """Streams of events that may be open: others are answered whatever their number."""
        return max(1, min(self.streams, self.connections // 2))

    def exceeded(self, line: Line) -> Refused | None:
        """Return why a line is too large for one example; None if it is not."""
        if len(line.text) > self.line:
            return Refused(f"found {len(line.text):,} bytes; expected an example of at most {self.line:,}")
        if len(line.example[0]) > self.features:
            return Refused(f"found {len(line.example[0]):,} features; expected an example of at most {self.features:,}")
        return None

    def exceeds(self, longest: int, block: Block) -> bool:
        """Return whether a line of a block is too large for one example; the longest has `longest` bytes."""
        return longest > self.line or int(np.diff(block.offsets).max(initial=0)) > self.features

    def check(self, block: Block, model: Model) -> None:
        """Raise OuzelError on a feature id that would waste memory."""
        if model.budgeted or not block.nonzeros:
            return
        largest = int(largest_id(block.indices, block.offsets[0], block.offsets[-1]))
        if largest > max(self.largest_id, model.dimension - 2):
            raise OuzelError(f"found the feature {largest}; expected an id of at most {self.largest_id}, or a name")


def limits_of(given: Sequence[str]) -> ServiceLimits:
    """Return the default limits, changed by settings NAME=VALUE.

    >>> limits_of(["body=1MB", "seconds=5"]).body
    1048576
    """
    known = {field.name for field in fields(ServiceLimits)}
    values: dict[str, Any] = {}
    for pair in given:
        name, _, value = map(str.strip, pair.partition("="))
        if name not in known:
            raise OuzelError(f"--limit: there is no limit {name!r}; there are {', '.join(sorted(known))}")
        number = as_size(value)
        if not 0 < number < 1 << 62:
            raise OuzelError(f"--limit {name} takes a number above 0, or a size such as 16MB; got {value!r}")
        values[name] = number if isinstance(getattr(ServiceLimits, name), float) else int(number)
    return ServiceLimits(**values)
