"""A log that feeds a model beside the requests: it is read for as long as the service lives, and learnt exactly once.

The position in it is written in the commit that has its examples on disk, so that the two never disagree. Wherever the
service stops, it goes on behind the last message that it has learnt.
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
from ouzel.service.metrics import PerSecond
from ouzel.service.owner import Owner
from ouzel.service.reading import Refused
from ouzel.service.submission import Given, Result, Source
from ouzel.streams.formats.catalogue import MESSAGE_FORMATS
from ouzel.streams.logs.metadata import check_metadata, metadata_fields
from ouzel.streams.logs.opening import open_log
from ouzel.streams.logs.protocol import Batch, Idle, Position
from ouzel.streams.logs.reading import Reading
from ouzel.streams.options import OF_MESSAGES, make_options
from ouzel.streams.sources.addresses import EXAMPLE, address_of, is_database, is_log, name_of
from ouzel.training.log_records import LogRecords
from ouzel.training.resume_options import ContradictionError

SHORTEST, LONGEST = 1.0, 30.0  # seconds from a failure to the next attempt
PATIENCE = 15.0  # seconds that the end of a reading is waited for
ADVICE = "begin in the new one with --feed-reset, and with --feed-from TIME from a time on"


class Learning(Protocol):
    """A model that learns, as a feed needs it."""

    owner: Owner
    log: example_log.Log

    async def learn(self, lines: Sequence[Given], patient: bool, source: Source | None) -> list[Result]:
        """Have lines learnt, and what the source says with them."""


@dataclass(frozen=True)
class Plan:
    """What is to be read, and how."""

    url: str
    reading: Reading = field(default_factory=lambda: Reading(follow=True))
    format: str | None = None
    anew: bool = False  # whether a log of a known name that is another one is to be begun

    def check(self) -> None:
        """OuzelError if this is not a log, or what reads it is absent."""
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
        """What it is called, without the server and what is secret."""
        return name_of(self.url)


def plans_of(
    feed: Sequence[str] | None, feed_begin: str, feed_format: str | None, feed_anew: bool, on_gap: str | None
) -> list[Plan]:
    """What is to be read, of what was said on the command line; each log once."""
    reading = Reading(begin=feed_begin, follow=True, on_gap=on_gap or "raise")
    plans = [Plan(url, reading, feed_format, feed_anew) for url in feed or ()]
    for plan in plans:
        plan.check()
    names = [plan.name for plan in plans]
    if len(set(names)) < len(names):
        raise OuzelError(f"--feed names a log twice: {listed(names)}")
    return plans


def check_messages(plans: Sequence[Plan], reading: dict[str, Any]) -> None:
    """Refuse what is asked beside messages of logs that have nothing there, or of none."""
    asked = make_options({name: reading[name] for name in OF_MESSAGES if name in reading})
    if any(metadata_fields(asked)) and not plans:
        raise OuzelError("--with-key and --with-headers are of a log; name it with --feed URL")
    for plan in plans:
        check_metadata(asked, plan.name, plan.url)


class Feed:
    """A log at work as a source of a model, from `start` to `stop`."""

    def __init__(self, served: Learning, plan: Plan, say: Callable[[str], None] = lambda line: None) -> None:
        self.served, self.plan, self._say = served, plan, say
        self.failure: str | None = None  # why it is not read at present
        self.remark: str | None = None  # what the log had to say last: of an outage, of messages that are gone
        self.caught_up = False
        self.position = Position()  # of what is learnt
        self.behind: int | None = None  # messages that are still to be learnt, as far as is known
        self._messages = PerSecond()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"ouzel-feed-{plan.name}", daemon=True)

    def start(self) -> None:
        """Begin to read; from within the loop."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def stop(self) -> None:
        """Read no more; what is under way is learnt."""
        self._ending.set()
        if self._thread.ident is not None:
            await asyncio.to_thread(self._thread.join, PATIENCE)

    def now(self) -> dict[str, Any]:
        """Where it stands, as JSON values."""
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
        """Where it stands, for counters; what is not known is left out."""
        found = {**self.now(), "failing": self.failure is not None}
        return {name: float(value) for name, value in found.items() if isinstance(value, (int, float))}

    def _work(self) -> None:
        pause = SHORTEST
        while not self._ending.is_set():
            begun = time.monotonic()
            try:
                self._read()
            except Exception as error:  # whatever a client's library raises: it is tried again
                said = error.on_command_line if isinstance(error, OuzelError) else f"{self.plan.name}: {error!r}"
                if said != self.failure:
                    self._say(said)
                self.failure, self.caught_up = said, False
            pause = SHORTEST if time.monotonic() - begun > LONGEST else min(LONGEST, 2.0 * pause)
            self._ending.wait(pause)

    def _read(self) -> None:
        """Learn what the log has behind what was learnt of it, and then what comes, until the feed is stopped."""
        options = self.served.owner.reading.options
        log = open_log(self.plan.url, replace(self.plan.reading, metadata=metadata_fields(options)))
        try:
            log.say = self._told
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
                    self.behind = log.lag(self.position)  # here, for a client is asked by one thread at a time
        finally:
            log.close()

    def _learn(self, part: Part, identity: dict[str, str]) -> None:
        """Have lines learnt, and the position behind them on disk with them; OuzelError if that is not so."""
        source = Source(identity, part.position)
        learning = self.served.learn(part.lines, True, source)
        results = asyncio.run_coroutine_threadsafe(learning, self._loop).result()
        self.position = part.position
        self._messages.add(len(part.lines))
        refused = [result for result in results if isinstance(result, Refused)]
        if refused and not self.position.examples and self.remark is None:
            self._told(
                f"{self.plan.name}: nothing of the first {len(refused):,} messages is learnt ({refused[0].error}); "
                "look at /v1/quarantine, and if it is the label, begin in a new folder with --label NAME"
            )

    def _recall(self, identity: dict[str, str]) -> Position:
        """Where the model stands in the log: by its own log, or by the training that it began with."""
        records = LogRecords(advice=ADVICE)
        noted = [*self.served.log.feeds(), *self.served.owner.logs]
        records.remember(noted, str(self.served.log.path), relearn=False)
        try:
            return records.recall(identity) or Position()
        except ContradictionError:
            if not self.plan.anew:
                raise
            return Position()

    def _told(self, line: str) -> None:
        self.remark = line
        self._say(line)
