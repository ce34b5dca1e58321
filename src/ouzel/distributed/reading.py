"""Examples of a lane from a position on. What a process reads next is mostly what follows: it keeps its streams open.

That changes how fast something is read, and never what: a position that no open stream stands at is read from the
beginning of its piece, and what lies before it passed over.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

from ouzel.distributed.partitions import Lane
from ouzel.errors import DataError, EmptyError
from ouzel.streams.block import Block
from ouzel.streams.block_stream import BlockStream
from ouzel.streams.groups import Groups
from ouzel.streams.options import Options
from ouzel.streams.read import Stream

MOST_OPEN = 16  # streams that a process keeps open, and rounds that it remembers
UNREADABLE = (DataError, OSError)


class Position(NamedTuple):
    """Where a lane stands."""

    piece: int = 0
    row: int = 0


class Taken(NamedTuple):
    """What was read."""

    blocks: list[Block]
    behind: Position
    ended: bool
    skipped: int  # bad lines left out
    unreadable: list[str]  # why pieces were given up


class _Open:
    """A piece that is being read, and where it stands."""

    def __init__(self, lane: Lane, piece: int, options: Options, groups: bool) -> None:
        source = lane[piece].source()
        stream = Stream([source], lane[piece].format, options)
        self.stream: BlockStream = Groups(stream) if groups else stream
        self.row = 0
        self.rest: Block | None = None
        self.skipped = 0

    def next(self, rows: int, whole: bool) -> Block | None:
        """The next examples, at most so many unless blocks stay whole; None at the end."""
        block = self.rest if self.rest is not None else next(self.stream, None)
        self.rest = None
        if block is None:
            return None
        if block.rows > rows and not whole:
            self.rest, block = block.slice(rows, block.rows), block.slice(0, rows)
        self.row += block.rows
        return block

    def newly_skipped(self) -> int:
        """Bad lines since this was asked last."""
        before, self.skipped = self.skipped, self.stream.skipped
        return self.skipped - before


OPEN: OrderedDict[tuple[Any, ...], _Open] = OrderedDict()
"""The streams that this process has open, by the lane and options they are of, the piece and where in it they stand."""


RECENT: OrderedDict[tuple[Any, ...], Taken] = OrderedDict()
"""What was read last, in case that it is asked for again."""


def take(lane: Lane, start: Position, rows: int, options: Options, groups: bool) -> Taken:
    """The next examples of a lane, so many, or whole groups until there are."""
    key = (lane, repr(options), repr(options.space), groups)
    if (key, start, rows) not in RECENT:
        RECENT[key, start, rows] = _take(key, lane, start, rows, options, groups)
        while len(RECENT) > MOST_OPEN:
            RECENT.popitem(last=False)
    return RECENT[key, start, rows]


def _take(key: Any, lane: Lane, start: Position, rows: int, options: Options, groups: bool) -> Taken:
    blocks: list[Block] = []
    skipped, unreadable = 0, []
    piece, row = start
    while piece < len(lane) and rows > 0:
        opened = None
        try:
            opened = OPEN.pop((key, piece, row), None) or _at(lane, piece, row, options, groups)
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
    return Taken(blocks, Position(piece, row), piece >= len(lane), skipped, unreadable)


def _at(lane: Lane, piece: int, row: int, options: Options, groups: bool) -> _Open:
    """A piece opened, and read up to a row."""
    opened = _Open(lane, piece, options, groups)
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
