"""Lines of a request or of a log: examples, as objects or as rows of a block, or refused."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.streams.block import Block
from ouzel.streams.formats.json_python import Example
from ouzel.streams.formats.packed_rows import same_rows, take_rows
from ouzel.streams.formats.records import is_rows, rows_of
from ouzel.streams.labels import Label, labels_in


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
