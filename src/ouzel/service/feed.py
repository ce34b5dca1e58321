"""Feed of a model: a log that the service reads as long as it runs, and learns exactly once.

One commit stores the position in the log and the examples up to it, so the two never disagree. After a stop the service
resumes after the last message that it has learnt.
"""

from __future__ import annotations

import asyncio
import copy
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from ouzel.errors import ContradictionError, DataError, OuzelError, listed
from ouzel.service import example_log
from ouzel.service.limits import Refused
from ouzel.service.metrics import PerSecond
from ouzel.service.owner import Owner
from ouzel.service.reading import Reading as LineReading
from ouzel.service.submission import Result, Source, Submitted
from ouzel.streams.formats.catalogue import FORMATS, MESSAGE_FORMATS, Family, by_content
from ouzel.streams.formats.records import rows_as_json
from ouzel.streams.logs.arrow import rows_of_message
from ouzel.streams.logs.messages import check_metadata, lines_of, metadata_fields
from ouzel.streams.logs.opening import open_log
from ouzel.streams.logs.protocol import Batch, Idle, Place, Position, shown
from ouzel.streams.logs.reading import Reading
from ouzel.streams.options import OF_MESSAGES, make_options
from ouzel.streams.sources.addresses import EXAMPLE, address_of, is_database, is_log, name_of
from ouzel.training.log_records import LogRecords

AT_ONCE = 1024  # lines of a part: other examples wait for no more than these
TABLE = "sql"  # format of rows of a database, which are not messages


class Part(NamedTuple):
    """Successive lines, and the position after the last of them."""

    lines: list[Submitted]
    position: Position


class FeedLines:
    """Reader of the lines of one log, in one format: the given one, or that of the first message with a known one."""

    def __init__(self, reading: LineReading, name: str, format: str | None) -> None:
        self.reading, self.name, self.format = reading, name, format

    def parts(self, batch: Batch, position: Position) -> Iterator[Part]:
        """Yield the lines of a batch that follows a position, in parts."""
        begun = position.within[1] if position.within[0] == batch.partition else 0
        messages = self._messages(batch)
        lines = [
            (line, place, k) for place, found in enumerate(messages) for k, line in enumerate(found, 1)
        ]  # with the place of the message, and the number of the line within it
        lines = [line for line in lines if line[1] or line[2] > begun]
        for start in range(0, len(lines) or 1, AT_ONCE):
            some = lines[start : start + AT_ONCE]
            behind, within = len(messages), 0
            if start + len(some) < len(lines):
                _, place, number = some[-1]
                ended = number == len(messages[place])
                behind, within = (place + 1, 0) if ended else (place, number)
            position = copy.deepcopy(position)
            position.advance(batch, behind)
            position.within = (batch.partition, within) if within else ("", 0)
            position.format = self.format or ""
            yield Part(self._submitted([line for line, _, _ in some]), position)

    def _messages(self, batch: Batch) -> list[list[bytes]]:
        """Return the lines of each message; a row of a table counts as a message."""
        if self.format == TABLE:
            return [[line] for line in rows_as_json(batch.values)]
        if self.format is None:
            self.format = self._detect_format(batch)
        format = FORMATS.get(self.format or "")
        if format is not None and format.is_columnar:
            return [
                self._rows(value, batch.metadata[k] if batch.metadata else {}) for k, value in enumerate(batch.values)
            ]
        return lines_of(batch, format)

    def _rows(self, value: bytes | None, metadata: Mapping[str, str]) -> list[bytes]:
        """Return the rows of a message as lines; an unreadable message is one line, which will be refused."""
        try:
            return (
                rows_as_json(rows_of_message(value, metadata, self.name, self.reading.options.limits)) if value else []
            )
        except DataError:
            return [value or b""]

    def _detect_format(self, batch: Batch) -> str | None:
        for value in filter(None, batch.values):
            with suppress(DataError):
                found = by_content(value[:4096], self.name)
                if found.in_messages:
                    return found.name
        return None

    def _submitted(self, lines: list[bytes]) -> list[Submitted]:
        """Return lines to submit, parsed unless they are JSON objects, or with the reason why they are refused."""
        if self.format is None:
            refused = Refused(f"found a message of no known format; expected {', '.join(MESSAGE_FORMATS)}")
            return [Submitted(line, refused=refused) for line in lines]
        format = FORMATS.get(self.format)
        if format is None or format.family is not Family.LINES or not lines:
            return [Submitted(line) for line in lines]
        return [
            Submitted(line).read_as(found)
            for line, found in zip(lines, self.reading.parsed(lines, format), strict=True)
        ]


def shown_places(position: Position) -> dict[str, Place]:
    """Return the place of the last learnt message of each partition, for people."""
    return {partition: shown(place) for partition, place in position.last.items()}


SHORTEST, LONGEST = 1.0, 30.0  # seconds from a failure to the next attempt
PATIENCE = 15.0  # seconds to wait for the reading thread to end
ADVICE = "begin in the new one with --feed-reset, and with --feed-from TIME from a time on"


class Learning(Protocol):
    """The part of a learning model that a feed uses."""

    owner: Owner
    log: example_log.Log

    async def learn(self, lines: Sequence[Submitted], patient: bool, source: Source | None) -> list[Result]:
        """Learn lines, and store the position of their source with them."""


@dataclass(frozen=True)
class Plan:
    """Options of a feed: the log to read, and how to read it."""

    url: str
    reading: Reading = field(default_factory=lambda: Reading(follow=True))
    format: str | None = None
    anew: bool = False  # whether to start over in another log of a known name

    def check(self) -> None:
        """Raise OuzelError if this is not a log, or if its library is not installed."""
        if not is_log(self.url):
            raise OuzelError(
                f"--feed takes the address of a log, such as {EXAMPLE}, or of a query with a cursor; got {self.url!r}"
            )
        if self.format not in (None, *MESSAGE_FORMATS):
            raise OuzelError(f"--feed-format takes {', '.join(MESSAGE_FORMATS)}; got {self.format!r}")
        if not is_database(self.url):
            address_of(self.url).kind.check_library()

    @property
    def name(self) -> str:
        """The name of the log, without its server and secrets."""
        return name_of(self.url)


def plans_of(
    feed: Sequence[str] | None, feed_begin: str, feed_format: str | None, feed_anew: bool, on_gap: str | None
) -> list[Plan]:
    """Return the plans that options of the command line describe; each log may be named once."""
    reading = Reading(begin=feed_begin, follow=True, on_gap=on_gap or "raise")
    plans = [Plan(url, reading, feed_format, feed_anew) for url in feed or ()]
    for plan in plans:
        plan.check()
    names = [plan.name for plan in plans]
    if len(set(names)) < len(names):
        raise OuzelError(f"--feed names a log twice: {listed(names)}")
    return plans


def check_messages(plans: Sequence[Plan], reading: dict[str, Any]) -> None:
    """Refuse --with-key and --with-headers without logs, or with logs whose messages have neither."""
    options = make_options({name: reading[name] for name in OF_MESSAGES if name in reading})
    if any(metadata_fields(options)) and not plans:
        raise OuzelError("--with-key and --with-headers are of a log; name it with --feed URL")
    for plan in plans:
        check_metadata(options, plan.name, plan.url)


class Feed:
    """A thread that reads a log for a model, from `start` to `stop`."""

    def __init__(self, served: Learning, plan: Plan, say: Callable[[str], None] = lambda line: None) -> None:
        self.served, self.plan, self._say = served, plan, say
        self.failure: str | None = None  # why the log is not read at present
        self.remark: str | None = None  # last remark of the log: an outage, or messages that are gone
        self.caught_up = False
        self.position = Position()  # of the learnt messages
        self.behind: int | None = None  # messages still to be learnt, if known
        self._messages = PerSecond()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"ouzel-feed-{plan.name}", daemon=True)

    def start(self) -> None:
        """Start to read; call this within the event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def stop(self) -> None:
        """Stop reading; the lines being learnt are learnt to the end."""
        self._ending.set()
        if self._thread.ident is not None:
            await asyncio.to_thread(self._thread.join, PATIENCE)

    def now(self) -> dict[str, Any]:
        """Return the state of the feed as JSON values."""
        position = self.position
        return {
            "log": self.plan.name,
            "position": shown_places(position),
            "behind": self.behind,
            "caught_up": self.caught_up,
            "lines_per_second": self._messages.rate(),
            "examples": position.examples,
            "refused": position.skipped,
            "lost": position.lost,
            "failure": self.failure,
            "remark": self.remark,
        }

    def figures(self) -> dict[str, float]:
        """Return the figures of the feed for metrics, without unknown ones."""
        found = {**self.now(), "failing": self.failure is not None}
        return {name: float(value) for name, value in found.items() if isinstance(value, (int, float))}

    def _work(self) -> None:
        pause = SHORTEST
        while not self._ending.is_set():
            begun = time.monotonic()
            try:
                self._read()
            except Exception as error:  # client libraries raise any; the feed tries again
                said = " ".join(f"{self.plan.name}: {error}".split())
                said = error.on_command_line if isinstance(error, OuzelError) else said
                if said != self.failure:
                    self._say(said)
                self.failure, self.caught_up = said, False
            pause = SHORTEST if time.monotonic() - begun > LONGEST else min(LONGEST, 2.0 * pause)
            self._ending.wait(pause)

    def _read(self) -> None:
        """Learn the messages after the last learnt one, and new ones as they come, until the feed stops."""
        options = self.served.owner.reading.options
        log = open_log(self.plan.url, replace(self.plan.reading, metadata=metadata_fields(options)))
        try:
            log.say = self._report
            identity = log.identity()
            position = self.position = self._recall(identity)
            self.failure = None
            format = TABLE if is_database(self.plan.url) else self.plan.format or position.format or None
            lines = FeedLines(self.served.owner.reading, log.name, format)
            lost = position.lost
            with closing(log.read(copy.deepcopy(position), True)) as found:
                for batch in found:
                    if self._ending.is_set():
                        return
                    self.caught_up = batch is Idle.AT_END
                    for part in lines.parts(batch, self.position) if isinstance(batch, Batch) else ():
                        part.position.lost = lost + log.lost
                        self._learn(part, identity)
                    self.behind = log.lag(self.position)  # here, because one thread at a time may use a client
        finally:
            log.close()

    def _learn(self, part: Part, identity: dict[str, str]) -> None:
        """Learn lines and store the position after them; raise OuzelError if that fails."""
        source = Source(identity, part.position)
        learning = self.served.learn(part.lines, True, source)
        results = asyncio.run_coroutine_threadsafe(learning, self._loop).result()
        self.position = part.position
        self._messages.add(len(part.lines))
        refused = [result for result in results if isinstance(result, Refused)]
        if refused and not self.position.examples and self.remark is None:
            self._report(
                f"{self.plan.name}: nothing of the first {len(refused):,} messages is learnt ({refused[0].error}); "
                "look at /v1/quarantine, and if it is the label, begin in a new folder with --label NAME"
            )

    def _recall(self, identity: dict[str, str]) -> Position:
        """Return the position of the model in the log: from its own log, or from the training that it started with."""
        records = LogRecords(advice=ADVICE)
        stored = [*self.served.log.feeds(), *self.served.owner.logs]
        records.remember(stored, str(self.served.log.path), relearn=False)
        try:
            return records.recall(identity) or Position()
        except ContradictionError:
            if not self.plan.anew:
                raise
            return Position()

    def _report(self, line: str) -> None:
        self.remark = line
        self._say(line)
