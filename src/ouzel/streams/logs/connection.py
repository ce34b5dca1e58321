"""Common parts of logs that are read over a connection: their base class, outages, timeouts."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ouzel.errors import DataError
from ouzel.streams.logs.offsets import parse_start
from ouzel.streams.logs.protocol import TIMEOUT, Say
from ouzel.streams.logs.reading import Reading

RESPONSE_TIMEOUT = 10.0  # seconds that a server has to answer
SHORTEST_WAIT, LONGEST_WAIT = 0.1, 5.0  # seconds between two attempts to connect


class Outage:
    """Outages of a connection: reports the start and the end of each."""

    def __init__(self, name: str, say: Say) -> None:
        self.name, self.say = name, say
        self.reason = ""
        self._since: float | None = None
        self._wait = SHORTEST_WAIT

    def begin(self, reason: str) -> None:
        """Record that the connection is lost."""
        self.reason = " ".join(reason.split())
        if self._since is None:
            self._since, self._wait = time.monotonic(), SHORTEST_WAIT
            self.say(f"{self.name}: the connection is lost ({self.reason}); trying again")

    def end(self) -> None:
        """Record that the server has answered."""
        if self._since is not None:
            self.say(f"{self.name}: the connection is back after {time.monotonic() - self._since:.0f} s")
            self._since = None

    def check(self, follow: bool) -> None:
        """Raise DataError if the server has been gone longer than the timeout, unless the log is to be followed."""
        if not follow and self._since is not None and time.monotonic() - self._since > TIMEOUT:
            raise DataError.at(self.name, f"has not answered for {TIMEOUT:.0f} s ({self.reason})")

    def pause(self) -> float:
        """Return the seconds to wait before the next attempt; they double each time."""
        wait, self._wait = self._wait, min(LONGEST_WAIT, 2 * self._wait)
        return wait


class ConnectedLog:
    """Base class of logs that are read over a connection; one partition unless a class says otherwise."""

    partitions: Sequence[str] = ("",)

    def __init__(self, name: str, topic: str, reading: Reading) -> None:
        self.name, self.topic = name, topic
        self.reading, self.start = reading, parse_start(reading.begin)
        self.say: Say = lambda line: None
        self.lost = 0
        self.outage = Outage(self.name, lambda line: self.say(line))
