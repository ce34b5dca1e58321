"""A log as a stream of blocks that knows, after every row, where it stands."""

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
from ouzel.streams.logs.join_state import JoinState, Matching
from ouzel.streams.logs.metadata import beside_of, check_beside
from ouzel.streams.logs.offsets import Ending
from ouzel.streams.logs.opening import open_log
from ouzel.streams.logs.protocol import Batch, Log, Pause, Position, shown
from ouzel.streams.logs.reading import Reading, take_reading
from ouzel.streams.options import Options, make_options
from ouzel.streams.sources.addresses import address_of, is_database, query_of
from ouzel.streams.sources.databases import LIBRARIES as DATABASE_LIBRARIES
from ouzel.streams.sources.error_context import is_of_library, reason_of
from ouzel.streams.sources.prefetch import made_ahead

if TYPE_CHECKING:
    from ouzel.streams.logs.arrow import TableDecoder
    from ouzel.streams.logs.decode import Decoder
    from ouzel.streams.logs.messages import Bad, Decoded


class Quarantine:
    """A file of JSON lines that grows; without a path it takes nothing.

    A reading that was killed, and goes on from its last checkpoint, writes what it meets again once more.
    """

    def __init__(self, path: str | None, name: str) -> None:
        self.path, self.name = path, name

    def put(self, batch: Batch, bad: Bad) -> None:
        """Add a message that is left out."""
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


Recall = Callable[[dict[str, str]], Position | None]

LIBRARIES = ("confluent_kafka", "cimpl", "redis", "nats", *DATABASE_LIBRARIES)


@dataclass
class Taken:
    """A batch as it is learnt."""

    decoded: Decoded
    row: int  # rows behind us
    line: int  # lines behind us, bad ones with them
    rows: int  # to be learnt
    stop: int  # lines that are behind us when they are


class LogStream(BlockIterator):
    """Blocks of the examples in a log, from a position on. `close` it, or use it with `with`."""

    leaves_out = True  # what a run that goes on has behind it

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
        self.learnt_to = copy.deepcopy(position) if position is not None else Position()
        if reading.labels is not None:
            self.learnt_to.joined = self.learnt_to.joined or JoinState(reading.within)
            self.learnt_to.joined.within = reading.within
        self.examples = 0  # given out
        self.remarks: list[str] = []
        self.begins = [0]
        self.size: int | None = None  # bytes, of which nothing is known
        self.position = 0
        self.space: FeatureSpace = NOTHING_KNOWN
        self.waiting, self.incomplete = False, False
        self.caught_up = False  # whether the log had no more when it was last asked
        self.on_say: Callable[[str], None] = self.remarks.append  # called with lines for people
        log.say = lambda line: self.on_say(line)
        self.on_wait: Callable[[], object] = lambda: None  # called before the log is waited for, and while it is
        self._quarantine = Quarantine(reading.quarantine, log.name)
        self._deriver = Deriver(options)
        self._decoder = kind(format or self.learnt_to.format or None, options, log.name, self.remarks.append)
        self._decoder.looked = self._begun = self._resumed
        self._until = reading.ending
        self._lost_before = self.learnt_to.lost
        self._ready: deque[tuple[Taken, Block]] = deque()
        self._given: deque[tuple[Taken, Block]] = deque()
        self._given_out = self._learnt = 0
        self._error: DataError | None = None
        self._decoded = made_ahead(self._read(copy.deepcopy(self.learnt_to)))

    @property
    def resumed(self) -> bool:
        """Whether it begins at a position, which says what was learnt."""
        return self._resumed

    @property
    def skipped(self) -> int:
        """Bad lines left out, by earlier runs with this."""
        return self.learnt_to.skipped

    @property
    def behind(self) -> int | None:
        """How many messages are still to be learnt, as far as is known."""
        return self.log.behind(self.learnt_to)

    @property
    def matching(self) -> Matching | None:
        """Of two logs: how far events and labels have found one another in what was learnt."""
        return None if self.learnt_to.joined is None else self.learnt_to.joined.matching

    def close(self) -> None:
        """Stop reading, and leave the server."""
        self._decoded.close()
        self.log.close()

    def _next(self) -> Block:
        self.learnt(self._given_out)
        while not self._ready:
            self._wait()
        self._given.append(self._ready.popleft())
        block = self._given[-1][1]
        self._given_out += block.rows
        return block

    def learnt(self, examples: int) -> None:
        """Take note that so many of the examples given out have been learnt."""
        self.incomplete = True
        while self._given and self._learnt < examples:
            taken, block = self._given.popleft()
            rows = min(block.rows, examples - self._learnt)
            self._learnt += rows
            self.learnt_to.examples += rows
            taken.row += rows
            self._move(taken)
            if rows < block.rows:
                self._given.appendleft((taken, block.slice(rows, block.rows)))
        self.incomplete = False

    def _wait(self) -> None:
        """Have ready what comes next of the log; StopIteration at its end."""
        self.waiting = True
        self.on_wait()
        if self._error is not None:
            raise self._error
        found = None if self._full else next(self._decoded, None)
        self.waiting = False
        self.caught_up = found is Pause.CAUGHT_UP
        if found is None:
            if not self.learnt_to.examples:
                raise EmptyError.at(self.log.name, "there are no examples in it; there is nothing to learn from")
            raise StopIteration
        if not isinstance(found, Pause):
            self._take(found)

    @property
    def _full(self) -> bool:
        """Whether as many examples were learnt as were asked for."""
        most = self._until.examples
        return most is not None and self.learnt_to.examples >= most

    def _take(self, decoded: Decoded) -> None:
        """Have the rows of a batch ready, up to a bad one if that is not to be left out."""
        partition, begun = self.learnt_to.within
        begun = begun if partition == decoded.batch.partition else 0  # lines of the first message that were learnt
        start = int(np.searchsorted(decoded.lines, begun))
        taken = Taken(decoded, start, begun, len(decoded.lines), int(decoded.firsts[-1]))
        bad = next((bad for bad in decoded.bad if bad.line >= begun), None)
        if bad is not None and self.options.on_error != "skip":
            taken.rows, taken.stop = int(np.searchsorted(decoded.lines, bad.line)), bad.line
            self._error = bad.error
        if self._until.examples is not None:
            most = start + self._until.examples - self.learnt_to.examples
            if most < taken.rows:
                taken.rows, taken.stop, self._error = most, int(decoded.lines[most - 1]) + 1, None
        first = 0
        for whole in decoded.blocks:
            part = whole.slice(max(0, start - first), max(0, min(whole.rows, taken.rows - first)))
            first += whole.rows
            for block in self._deriver.derive([part] if part.rows else [], whole=False):
                self.space = reconcile(self.space, block.space, learning=True)
                numbers = np.arange(self.examples, self.examples + block.rows)
                self._ready.append((taken, block._replace(space=self.space, numbers=numbers)))
                self.examples += block.rows
        if not self._ready:
            self._move(taken)

    def _move(self, taken: Taken) -> None:
        """Stand where a batch was learnt up to, with what is bad before that behind us."""
        position, batch, firsts = self.learnt_to, taken.decoded.batch, taken.decoded.firsts
        line = taken.stop if taken.row == taken.rows else int(taken.decoded.lines[taken.row - 1]) + 1
        message = int(np.searchsorted(firsts, line, side="right")) - 1
        position.pass_over(batch, message)
        within = line - int(firsts[message])
        position.within = (batch.partition, within) if within else ("", 0)
        position.format = self._decoder.format_name
        position.lost = self._lost_before + self.log.lost
        for bad in taken.decoded.bad:
            if taken.line <= bad.line < line:
                position.skipped += 1
                self._quarantine.put(batch, bad)
        taken.line = line

    def _read(self, position: Position) -> Iterator[Decoded | Pause]:
        """Batches as examples, and pauses between them; in a thread of its own."""
        try:
            yield from self._batches(position)
        except Exception as error:
            library = type(error).__module__.partition(".")[0] in LIBRARIES
            if isinstance(error, OuzelError) or not (library or is_of_library(error)):
                raise
            raise DataError.at(self.log.name, f"cannot be read ({reason_of(error)})") from error

    def _batches(self, position: Position) -> Iterator[Decoded | Pause]:
        ending = Ending(self._until, self.log, position)
        held: list[Batch] = []  # the first ones, until there are enough of them to tell what they hold
        with closing(made_ahead(self.log.read(position, self._until.follow))) as found:
            for batch in found if not ending.over else ():
                if isinstance(batch, Batch):
                    held.append(ending.cut(batch))
                else:
                    ending.pause()
                messages = sum(len(batch.places) for batch in held)
                if self._begun or messages >= self.options.sample or batch is Pause.CAUGHT_UP:
                    yield from self._examples(held)
                if isinstance(batch, Pause):
                    yield batch
                if ending.over:
                    break
        yield from self._examples(held)

    def _examples(self, held: list[Batch]) -> Iterator[Decoded]:
        """The examples of batches, which are taken away; the first ones tell what is told by first examples."""
        batches = [batch for batch in held if len(batch.places)]
        held.clear()
        if not self._begun and batches:
            self._decoder.look(batches)
        if self._begun or not self._decoder.ready:
            yield from map(self._decoder.decode, batches)
            return
        self._begun = True
        first = list(map(self._decoder.decode, batches))
        for block in chain.from_iterable(decoded.blocks for decoded in first):
            self._deriver.observe(block)
        self._deriver.fix()
        yield from first


def read_log(url: str, format: str | None, given: dict[str, Any], recall: Recall = lambda identity: None) -> LogStream:
    """The log at an address as a stream, from the position that is recalled by its identity, if there is one.

    `given` are fields of `Options` and of `Reading`.
    """
    given = dict(given)
    reading = take_reading(given)
    options = make_options(given)
    check_beside(options, query_of(url).name if is_database(url) else address_of(url).name, url)
    reading = replace(reading, beside=beside_of(options))
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
