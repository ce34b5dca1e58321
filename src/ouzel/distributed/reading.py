"""Reading of a shard from a position. A process keeps its streams open, as it mostly reads on from the last position.

This affects speed alone: for a position without an open stream, the piece is read from its beginning and the rows
before the position are skipped.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

from ouzel.distributed.partitions import Shard
from ouzel.errors import DataError, EmptyError
from ouzel.streams.block import Block
from ouzel.streams.block_stream import BlockStream
from ouzel.streams.groups import Groups
from ouzel.streams.options import Options
from ouzel.streams.read import Stream

MOST_OPEN = 16  # streams that a process keeps open, and rounds that it remembers
UNREADABLE = (DataError, OSError)


class Position(NamedTuple):
    """Position in a shard: piece and row."""

    piece: int = 0
    row: int = 0


class RowsRead(NamedTuple):
    """Rows of one reading, with the position after them."""

    blocks: list[Block]
    behind: Position
    ended: bool
    skipped: int  # bad lines left out
    unreadable: list[str]  # why pieces were given up


class _Open:
    """Open piece with its position."""

    def __init__(self, shard: Shard, piece: int, options: Options, groups: bool) -> None:
        source = shard[piece].source()
        stream = Stream([source], shard[piece].format, options)
        self.stream: BlockStream = Groups(stream) if groups else stream
        self.row = 0
        self.rest: Block | None = None
        self.skipped = 0

    def next(self, rows: int, whole: bool) -> Block | None:
        """Return the next examples, at most `rows` unless blocks stay `whole`; None at the end."""
        block = self.rest if self.rest is not None else next(self.stream, None)
        self.rest = None
        if block is None:
            return None
        if block.rows > rows and not whole:
            self.rest, block = block.slice(rows, block.rows), block.slice(0, rows)
        self.row += block.rows
        return block

    def newly_skipped(self) -> int:
        """Return the bad lines since the last call."""
        before, self.skipped = self.skipped, self.stream.skipped
        return self.skipped - before


OPEN: OrderedDict[tuple[Any, ...], _Open] = OrderedDict()
"""Open streams of this process, by shard, options, piece and row."""


RECENT: OrderedDict[tuple[Any, ...], RowsRead] = OrderedDict()
"""Recent readings, which a repeated task needs again."""


def read_rows(shard: Shard, start: Position, rows: int, options: Options, groups: bool) -> RowsRead:
    """Return the next `rows` examples of a shard, or whole groups up to at least as many."""
    key = (shard, repr(options), repr(options.space), groups)
    if (key, start, rows) not in RECENT:
        RECENT[key, start, rows] = _read_rows(key, shard, start, rows, options, groups)
        while len(RECENT) > MOST_OPEN:
            RECENT.popitem(last=False)
    return RECENT[key, start, rows]


def _read_rows(key: Any, shard: Shard, start: Position, rows: int, options: Options, groups: bool) -> RowsRead:
    blocks: list[Block] = []
    skipped, unreadable = 0, []
    piece, row = start
    while piece < len(shard) and rows > 0:
        opened = None
        try:
            opened = OPEN.pop((key, piece, row), None) or _at(shard, piece, row, options, groups)
            while rows > 0 and (block := opened.next(rows, groups)) is not None:
                blocks.append(block)
                rows -= block.rows
                row = opened.row
            skipped += opened.newly_skipped()
            if rows > 0:
                _close(opened)
                piece, row = piece + 1, 0
            else:
                _keep((key, piece, row), opened)
        except UNREADABLE as error:
            if opened is not None:
                _close(opened)
            if isinstance(error, EmptyError):  # other pieces may have examples
                skipped += opened.newly_skipped() if opened is not None else 0
            elif options.on_error == "skip":
                unreadable.append(str(error))
            else:
                raise
            piece, row = piece + 1, 0
    return RowsRead(blocks, Position(piece, row), piece >= len(shard), skipped, unreadable)


def _at(shard: Shard, piece: int, row: int, options: Options, groups: bool) -> _Open:
    """Open a piece and skip to a row."""
    opened = _Open(shard, piece, options, groups)
    while opened.row < row and opened.next(row - opened.row, False) is not None:
        pass
    opened.newly_skipped()
    return opened


def _keep(key: tuple[Any, ...], opened: _Open) -> None:
    OPEN[key] = opened
    while len(OPEN) > MOST_OPEN:
        _close(OPEN.popitem(last=False)[1])


def _close(opened: _Open) -> None:
    opened.stream.close()
