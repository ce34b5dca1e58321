"""What the logs of brokers have in common."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ouzel.errors import DataError
from ouzel.streams.logs.offsets import begin_of
from ouzel.streams.logs.protocol import PATIENCE, Say
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources.addresses import Address

SHORTEST, LONGEST = 0.1, 5.0  # seconds between two attempts to connect


class Outage:
    """The times without a connection, each told at its beginning and its end."""

    def __init__(self, name: str, say: Say) -> None:
        self.name, self.say = name, say
        self.reason = ""
        self._since: float | None = None
        self._wait = SHORTEST

    def begin(self, reason: str) -> None:
        """Take note that the connection is lost."""
        self.reason = " ".join(reason.split())
        if self._since is None:
            self._since, self._wait = time.monotonic(), SHORTEST
            self.say(f"{self.name}: the connection is lost ({self.reason}); trying again")

    def end(self) -> None:
        """Take note that the server has answered."""
        if self._since is not None:
            self.say(f"{self.name}: the connection is back after {time.monotonic() - self._since:.0f} s")
            self._since = None

    def check(self, follow: bool) -> None:
        """DataError if the server has been gone for long, and nobody is to `follow` it for ever."""
        if not follow and self._since is not None and time.monotonic() - self._since > PATIENCE:
            raise DataError.at(self.name, f"has not answered for {PATIENCE:.0f} s ({self.reason})")

    def pause(self) -> float:
        """Seconds to wait before the next attempt, more from one to the next."""
        wait, self._wait = self._wait, min(LONGEST, 2 * self._wait)
        return wait


class Topic:
    """A log at an address, of one partition unless it says otherwise."""

    partitions: Sequence[str] = ("",)

    def __init__(self, address: Address, reading: Reading) -> None:
        self.name, self.topic = address.name, address.path
        self.reading, self.begin = reading, begin_of(reading.begin)
        self.say: Say = lambda line: None
        self.lost = 0
        self.outage = Outage(self.name, lambda line: self.say(line))
