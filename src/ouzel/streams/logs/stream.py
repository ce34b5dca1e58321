"""A log as a stream of blocks: its position after every row, its end, and its quarantine of bad messages."""

from __future__ import annotations

import base64
import copy
import json
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.errors import DataError, EmptyError, OuzelError
from ouzel.streams.block import Block
from ouzel.streams.block_stream import BlockIterator
from ouzel.streams.feature_space import NOTHING_KNOWN, FeatureSpace, reconcile
from ouzel.streams.interactions.deriver import Deriver
from ouzel.streams.logs.bounds import Ending
from ouzel.streams.logs.messages import check_metadata, metadata_fields
from ouzel.streams.logs.opening import open_log
from ouzel.streams.logs.protocol import Batch, Idle, JoinState, JoinStats, Log, Position, shown
from ouzel.streams.logs.reading import Reading, take_reading
from ouzel.streams.options import Options, make_options
from ouzel.streams.sources.addresses import address_of, is_database, query_of
from ouzel.streams.sources.databases import LIBRARIES as DATABASE_LIBRARIES
from ouzel.streams.sources.error_context import is_library_error, reason_of
from ouzel.streams.sources.prefetch import prefetch

if TYPE_CHECKING:
    from ouzel.streams.logs.arrow import TableDecoder
    from ouzel.streams.logs.decode import Decoder
    from ouzel.streams.logs.messages import Bad, Decoded


Recall = Callable[[dict[str, str]], Position | None]  # the stored position of the log with an identity

LIBRARIES = ("confluent_kafka", "cimpl", "redis", "nats", *DATABASE_LIBRARIES)


class Quarantine:
    """File of JSON lines to which bad messages are appended; does nothing without a path.

    A reading that was killed and resumes at its last checkpoint appends the messages after that again.
    """

    def __init__(self, path: str | None, name: str) -> None:
        self.path, self.name = path, name

    def put(self, batch: Batch, bad: Bad) -> None:
        """Append a message that is skipped."""
        if self.path is None:
            return
        entry = {"log": self.name, "partition": batch.partition, "offset": shown(batch.places[bad.message])}
        try:
            entry["message"] = bad.original.decode()
        except UnicodeDecodeError:
            entry["base64"] = base64.b64encode(bad.original).decode()
        entry["reason"] = bad.reason
        try:
            with Path(self.path).open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        except OSError as error:
            raise OuzelError(f"{self.path}: cannot be written ({error.strerror})") from None


@dataclass
class InFlight:
    """A batch that is being learnt."""

    decoded: Decoded
    row: int  # rows learnt
    line: int  # lines passed, with bad ones
    rows: int  # to learn
    stop: int  # lines passed once these are learnt


class LogStream(BlockIterator):
    """Stream of blocks of the examples in a log, from a position on. `close` it, or use it with `with`."""

    leaves_out = True  # what a resumed run has learnt

    def __init__(
        self,
        log: Log,
        kind: type[Decoder] | type[TableDecoder],
        format: str | None,
        options: Options,
        reading: Reading,
        position: Position | None = None,
    ) -> None:
        self.log, self.options, self.reading = log, options, reading
        self.name = log.name
        self._resumed = position is not None
        self.committed = copy.deepcopy(position) if position is not None else Position()
        if reading.labels is not None:
            self.committed.joined = self.committed.joined or JoinState(reading.within)
            self.committed.joined.window = reading.within
        self.examples = 0  # yielded
        self.remarks: list[str] = []
        self.begins = [0]
        self.size: int | None = None  # in bytes, not known
        self.position = 0
        self.space: FeatureSpace = NOTHING_KNOWN
        self.waiting, self.incomplete = False, False
        self.caught_up = False  # whether the log was at its end when last read
        self.on_say: Callable[[str], None] = self.remarks.append  # called with lines for people
        log.say = lambda line: self.on_say(line)
        self.on_wait: Callable[[], object] = lambda: None  # called before and while the log is waited for
        self._quarantine = Quarantine(reading.quarantine, log.name)
        self._deriver = Deriver(options)
        self._decoder = kind(format or self.committed.format or None, options, log.name, self.remarks.append)
        self._decoder.schema_known = self._started = self._resumed
        self._until = reading.ending
        self._lost_before = self.committed.lost
        self._ready: deque[tuple[InFlight, Block]] = deque()
        self._in_flight: deque[tuple[InFlight, Block]] = deque()
        self._yielded = self._learnt = 0
        self._error: DataError | None = None
        self._decoded = prefetch(self._read(copy.deepcopy(self.committed)))

    @property
    def resumed(self) -> bool:
        """Whether it starts at a stored position."""
        return self._resumed

    @property
    def skipped(self) -> int:
        """Bad lines skipped, with those of earlier runs."""
        return self.committed.skipped

    @property
    def lag(self) -> int | None:
        """Number of messages still to be learnt, if known."""
        return self.log.lag(self.committed)

    @property
    def join_stats(self) -> JoinStats | None:
        """Counts of a join of two logs, in what was learnt."""
        return None if self.committed.joined is None else self.committed.joined.stats

    def close(self) -> None:
        """Stop reading and disconnect."""
        self._decoded.close()
        self.log.close()

    def _next(self) -> Block:
        self.learnt(self._yielded)
        while not self._ready:
            self._fetch()
        self._in_flight.append(self._ready.popleft())
        block = self._in_flight[-1][1]
        self._yielded += block.rows
        return block

    def learnt(self, examples: int) -> None:
        """Record that the first `examples` of those yielded have been learnt."""
        self.incomplete = True
        while self._in_flight and self._learnt < examples:
            in_flight, block = self._in_flight.popleft()
            rows = min(block.rows, examples - self._learnt)
            self._learnt += rows
            self.committed.examples += rows
            in_flight.row += rows
            self._commit(in_flight)
            if rows < block.rows:
                self._in_flight.appendleft((in_flight, block.slice(rows, block.rows)))
        self.incomplete = False

    def _fetch(self) -> None:
        """Fetch the next item of the log; StopIteration at its end."""
        self.waiting = True
        self.on_wait()
        if self._error is not None:
            raise self._error
        found = None if self._limit_reached else next(self._decoded, None)
        self.waiting = False
        self.caught_up = found is Idle.AT_END
        if found is None:
            if not self.committed.examples:
                raise EmptyError.at(self.log.name, "there are no examples in it; there is nothing to learn from")
            raise StopIteration
        if not isinstance(found, Idle):
            self._enqueue(found)

    @property
    def _limit_reached(self) -> bool:
        """Whether the requested number of examples has been learnt."""
        most = self._until.examples
        return most is not None and self.committed.examples >= most

    def _enqueue(self, decoded: Decoded) -> None:
        """Queue the rows of a batch, up to a bad one unless it is to be skipped."""
        partition, learnt = self.committed.within
        learnt = learnt if partition == decoded.batch.partition else 0  # lines of the first message
        start = int(np.searchsorted(decoded.lines, learnt))
        in_flight = InFlight(decoded, start, learnt, len(decoded.lines), int(decoded.firsts[-1]))
        bad = next((bad for bad in decoded.bad if bad.line >= learnt), None)
        if bad is not None and self.options.on_error != "skip":
            in_flight.rows, in_flight.stop = int(np.searchsorted(decoded.lines, bad.line)), bad.line
            self._error = bad.error
        if self._until.examples is not None:
            most = start + self._until.examples - self.committed.examples
            if most < in_flight.rows:
                in_flight.rows, in_flight.stop, self._error = most, int(decoded.lines[most - 1]) + 1, None
        first = 0
        for whole in decoded.blocks:
            part = whole.slice(max(0, start - first), max(0, min(whole.rows, in_flight.rows - first)))
            first += whole.rows
            for block in self._deriver.derive([part] if part.rows else [], whole=False):
                self.space = reconcile(self.space, block.space, learning=True)
                numbers = np.arange(self.examples, self.examples + block.rows)
                self._ready.append((in_flight, block._replace(space=self.space, numbers=numbers)))
                self.examples += block.rows
        if not self._ready:
            self._commit(in_flight)

    def _commit(self, in_flight: InFlight) -> None:
        """Advance the position past what was learnt of a batch, in memory; a saved model makes it durable."""
        position, decoded = self.committed, in_flight.decoded
        batch, firsts = decoded.batch, decoded.firsts
        finished = in_flight.row == in_flight.rows
        line = in_flight.stop if finished else int(decoded.lines[in_flight.row - 1]) + 1
        message = int(np.searchsorted(firsts, line, side="right")) - 1
        position.advance(batch, message)
        within = line - int(firsts[message])
        position.within = (batch.partition, within) if within else ("", 0)
        position.format = self._decoder.format_name
        position.lost = self._lost_before + self.log.lost
        for bad in decoded.bad:
            if in_flight.line <= bad.line < line:
                position.skipped += 1
                self._quarantine.put(batch, bad)
        in_flight.line = line

    def _read(self, position: Position) -> Iterator[Decoded | Idle]:
        """Yield decoded batches and idle items; runs in a thread of its own."""
        try:
            yield from self._batches(position)
        except Exception as error:
            library = type(error).__module__.partition(".")[0] in LIBRARIES
            if isinstance(error, OuzelError) or not (library or is_library_error(error)):
                raise
            raise DataError.at(self.log.name, f"cannot be read ({reason_of(error)})") from error

    def _batches(self, position: Position) -> Iterator[Decoded | Idle]:
        ending = Ending(self._until, self.log, position)
        pending: list[Batch] = []  # the first batches, until there are enough to infer the format
        with closing(prefetch(self.log.read(position, self._until.follow))) as found:
            for batch in found if not ending.over else ():
                if isinstance(batch, Batch):
                    pending.append(ending.cut(batch))
                else:
                    ending.pause()
                messages = sum(len(batch.places) for batch in pending)
                if self._started or messages >= self.options.sample or batch is Idle.AT_END:
                    yield from self._examples(pending)
                if isinstance(batch, Idle):
                    yield batch
                if ending.over:
                    break
        yield from self._examples(pending)

    def _examples(self, pending: list[Batch]) -> Iterator[Decoded]:
        """Decode and remove pending batches; infer from the first ones what is inferred once."""
        batches = [batch for batch in pending if len(batch.places)]
        pending.clear()
        if not self._started and batches:
            self._decoder.infer(batches)
        if self._started or not self._decoder.ready:
            yield from map(self._decoder.decode, batches)
            return
        self._started = True
        first = list(map(self._decoder.decode, batches))
        for block in chain.from_iterable(decoded.blocks for decoded in first):
            self._deriver.observe(block)
        self._deriver.fix()
        yield from first


def read_log(url: str, format: str | None, given: dict[str, Any], recall: Recall = lambda identity: None) -> LogStream:
    """Read the log at an address as a stream, from the position that `recall` finds by its identity, if any.

    `given` are fields of `Options` and of `Reading`.
    """
    given = dict(given)
    reading = take_reading(given)
    options = make_options(given)
    check_metadata(options, query_of(url).name if is_database(url) else address_of(url).name, url)
    reading = replace(reading, metadata=metadata_fields(options))
    log: Log
    if reading.labels is None:
        log = open_log(url, reading)
    else:
        from ouzel.streams.logs.join import join

        if format not in (None, "jsonl"):
            raise OuzelError(f"labels are joined to messages of JSON; got format={format!r}")
        log, format = join(url, reading, options.label or "label"), "jsonl"
    try:
        position = recall(log.identity())
        if not is_database(url):
            from ouzel.streams.logs.decode import Decoder

            return LogStream(log, Decoder, format, options, reading, position)
        from ouzel.streams.logs.arrow import TableDecoder

        return LogStream(log, TableDecoder, format, options, reading, position)
    except BaseException:
        log.close()
        raise
