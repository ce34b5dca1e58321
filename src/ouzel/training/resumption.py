"""A stream that leaves out what a model has learnt of it, and takes note of what is learnt now."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from ouzel.streams.block import Block
from ouzel.streams.block_stream import BlockStream, DelegatingStream
from ouzel.training.following import NEW, OLD, Following
from ouzel.training.source_records import Ledger


class GoingOn(DelegatingStream):
    """The blocks of a stream, or of its groups, without the examples that the ledger knows; else it is that stream.

    A source is recognised by its first examples, whatever it is called, and must hold all that was learnt of it: before
    anything new is given out, OuzelError says what contradicts. `on_known` is called with the examples left out, and
    `on_wait` before the stream is waited for: at any other time an interruption would leave notes half written.
    """

    leaves_out = True  # what the run has behind it

    def __init__(
        self,
        stream: BlockStream,
        paths: Sequence[str],
        ledger: Ledger,
        behind: dict[int, int] | None = None,
        on_known: Callable[[Block], object] = lambda block: None,
        on_wait: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(stream)
        self._stream = stream
        self._paths = paths
        self._ledger = ledger
        self._behind = behind or {}
        self._on_known = on_known
        self._on_wait = on_wait
        self.waiting = False  # for the stream
        self.incomplete = False  # whether an interruption fell into taking note of what was learnt
        self._read = 0  # examples of the stream
        self._sources: list[Following] = []  # up to the one that is being read
        self._ready: deque[tuple[Following, Block, int]] = deque()
        self._given: deque[tuple[Following, Block, int]] = deque()  # and not known to be learnt
        self._given_out = self._learnt = 0  # examples
        self._ended = False

    def _next(self) -> Block:
        self.learnt(self._given_out)
        while not self._ready:
            if self._ended:
                raise StopIteration
            self._read_on()
        self._given.append(self._ready.popleft())
        block = self._given[-1][1]
        self._given_out += block.rows
        return block

    def close(self) -> None:
        """Stop reading."""
        self._stream.close()

    @property
    def resumed(self) -> bool:
        """Whether a source is one of the run that was cut off."""
        return self._ledger.resumed

    def recognise(self) -> None:
        """Read until a source is known to be one of a run that was cut off, or there is something new."""
        while not (self._ready or self._ended or self._ledger.resumed):
            self._read_on()

    def learnt(self, examples: int) -> None:
        """Take note that so many of the examples given out have been learnt."""
        self.incomplete = True
        while self._given and self._learnt < examples:
            source, block, kind = self._given.popleft()
            rows = min(block.rows, examples - self._learnt)
            if kind == NEW:
                source.learnt(block.slice(0, rows))
            if rows < block.rows:
                self._given.appendleft((source, block.slice(rows, block.rows), kind))
            self._learnt += rows
        self.incomplete = False

    def _read_on(self) -> None:
        self.waiting = True
        self._on_wait()
        block = next(self._stream, None)
        self.waiting = False
        if block is None:
            self._begin_sources(len(self._paths))
            self._sort(self._sources[-1].end())
            self._ended = True
            return
        start, begins = 0, self._stream.begins
        while start < block.rows:
            place = bisect_right(begins, self._read) - 1
            end = begins[place + 1] - self._read if place + 1 < len(begins) else block.rows
            stop = min(block.rows, start + end)
            self._begin_sources(place + 1)
            self._sort(self._sources[-1].take(block.slice(start, stop)))
            self._read += stop - start
            start = stop

    def _begin_sources(self, count: int) -> None:
        """Be at the source of this number; those before it are at their end."""
        while len(self._sources) < count:
            if self._sources:
                self._sort(self._sources[-1].end())
            place = len(self._sources)
            self._sources.append(Following(self._paths[place], self._ledger, place, self._behind))

    def _sort(self, parts: Iterable[tuple[Block, int]]) -> None:
        source = self._sources[-1]
        for block, kind in parts:
            if kind == OLD:
                self._on_known(block)
            else:
                self._ready.append((source, block, kind))
