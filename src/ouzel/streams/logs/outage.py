"""What is said, and how long is waited, while a server is gone."""

from __future__ import annotations

import time

from ouzel.errors import DataError
from ouzel.streams.logs.protocol import PATIENCE, Say

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
