"""A stream that skips the examples that a model has learnt, and records those that it learns."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from ouzel.streams.block import Block
from ouzel.streams.block_stream import BlockStream, DelegatingStream
from ouzel.training.source_matcher import SourceMatcher, Status
from ouzel.training.source_records import Ledger


class ResumedStream(DelegatingStream):
    """The blocks of a stream, or of its groups, without the examples that the ledger has recorded.

    A source is recognised by its first examples, whatever its name, and must still contain everything learnt from it:
    if not, OuzelError is raised before anything new is yielded. `on_known` is called with the skipped examples, and
    `on_wait` before the stream is waited for: at any other time an interruption would leave records incomplete.
    """

    leaves_out = True  # what the run has learnt

    def __init__(
        self,
        stream: BlockStream,
        paths: Sequence[str],
        ledger: Ledger,
        learnt_so_far: dict[int, int] | None = None,
        on_known: Callable[[Block], object] = lambda block: None,
        on_wait: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(stream)
        self._stream = stream
        self._paths = paths
        self._ledger = ledger
        self._learnt_so_far = learnt_so_far or {}
        self._on_known = on_known
        self._on_wait = on_wait
        self.waiting = False  # for the stream
        self.incomplete = False  # whether an interruption left records incomplete
        self._read = 0  # examples of the stream
        self._sources: list[SourceMatcher] = []  # up to the one that is being read
        self._ready: deque[tuple[SourceMatcher, Block, Status]] = deque()
        self._in_flight: deque[tuple[SourceMatcher, Block, Status]] = deque()  # yielded, and not known to be learnt
        self._yielded = self._learnt = 0  # examples
        self._ended = False

    def _next(self) -> Block:
        self.learnt(self._yielded)
        while not self._ready:
            if self._ended:
                raise StopIteration
            self._fetch()
        self._in_flight.append(self._ready.popleft())
        block = self._in_flight[-1][1]
        self._yielded += block.rows
        return block

    def close(self) -> None:
        """Stop reading."""
        self._stream.close()

    @property
    def resumed(self) -> bool:
        """Whether a source belongs to the interrupted run."""
        return self._ledger.resumed

    def recognise(self) -> None:
        """Read until a source is known to belong to an interrupted run, or something is new."""
        while not (self._ready or self._ended or self._ledger.resumed):
            self._fetch()

    def learnt(self, examples: int) -> None:
        """Record that the first `examples` of those yielded have been learnt."""
        self.incomplete = True
        while self._in_flight and self._learnt < examples:
            source, block, status = self._in_flight.popleft()
            rows = min(block.rows, examples - self._learnt)
            if status is Status.NEW:
                source.learnt(block.slice(0, rows))
            if rows < block.rows:
                self._in_flight.appendleft((source, block.slice(rows, block.rows), status))
            self._learnt += rows
        self.incomplete = False

    def _fetch(self) -> None:
        self.waiting = True
        self._on_wait()
        block = next(self._stream, None)
        self.waiting = False
        if block is None:
            self._start_sources(len(self._paths))
            self._sort(self._sources[-1].end())
            self._ended = True
            return
        start, begins = 0, self._stream.begins
        while start < block.rows:
            place = bisect_right(begins, self._read) - 1
            end = begins[place + 1] - self._read if place + 1 < len(begins) else block.rows
            stop = min(block.rows, start + end)
            self._start_sources(place + 1)
            self._sort(self._sources[-1].match(block.slice(start, stop)))
            self._read += stop - start
            start = stop

    def _start_sources(self, count: int) -> None:
        """Start matching sources up to this number; those before it are at their end."""
        while len(self._sources) < count:
            if self._sources:
                self._sort(self._sources[-1].end())
            place = len(self._sources)
            self._sources.append(SourceMatcher(self._paths[place], self._ledger, place, self._learnt_so_far))

    def _sort(self, parts: Iterable[tuple[Block, Status]]) -> None:
        source = self._sources[-1]
        for block, status in parts:
            if status is Status.LEARNT:
                self._on_known(block)
            else:
                self._ready.append((source, block, status))
