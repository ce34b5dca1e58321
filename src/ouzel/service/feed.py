"""Feed of a model: a log that the service reads as long as it runs, and learns exactly once.

One commit stores the position in the log and the examples up to it, so the two never disagree. After a stop the service
resumes after the last message that it has learnt.
"""

from __future__ import annotations

import asyncio
import copy
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ouzel.errors import OuzelError, listed
from ouzel.service import example_log
from ouzel.service.feed_lines import TABLE, FeedLines, Part, shown_places
from ouzel.service.lines import Refused
from ouzel.service.metrics import PerSecond
from ouzel.service.owner import Owner
from ouzel.service.submission import Result, Source, Submitted
from ouzel.streams.formats.catalogue import MESSAGE_FORMATS
from ouzel.streams.logs.messages import check_metadata, metadata_fields
from ouzel.streams.logs.opening import open_log
from ouzel.streams.logs.protocol import Batch, Idle, Position
from ouzel.streams.logs.reading import Reading
from ouzel.streams.options import OF_MESSAGES, make_options
from ouzel.streams.sources.addresses import EXAMPLE, address_of, is_database, is_log, name_of
from ouzel.training.log_records import LogRecords
from ouzel.training.resume_options import ContradictionError

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
                said = error.on_command_line if isinstance(error, OuzelError) else f"{self.plan.name}: {error!r}"
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
