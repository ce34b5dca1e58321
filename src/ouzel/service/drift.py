"""Whether a model has begun to err more than it did: the test of Page (1954) and Hinkley, as River has it.

With m the mean of what was seen and x what comes, the sum s = max(0, alpha s + x - m - delta) stays small while the
mean does; beyond the threshold the error has risen, and the test begins anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

FEWEST = 30  # examples before it says anything
DELTA, THRESHOLD, ALPHA = 0.005, 50.0, 1.0 - 0.0001
MOST_EVENTS = 100


class Drift(NamedTuple):
    """A rise of the error: after which example of the log, and what the mean of the errors was before it."""

    example: int
    before: float


class PageHinkley:
    """The test on errors that come one by one: mistakes (0 or 1), or losses divided by their mean.

    >>> test = PageHinkley()
    >>> test.add([0.0] * 1000)
    >>> test.add([1.0] * 100)
    >>> [event.example for event in test.events]
    [1052]
    """

    def __init__(self) -> None:
        self.events: deque[Drift] = deque(maxlen=MOST_EVENTS)
        self.examples = 0
        self._seen, self._mean, self._sum = 0, 0.0, 0.0

    def add(self, errors: Iterable[float]) -> None:
        """Take note of some more."""
        for error in errors:
            self.examples += 1
            self._seen += 1
            self._mean += (error - self._mean) / self._seen
            self._sum = max(0.0, ALPHA * self._sum + error - self._mean - DELTA)
            if self._sum > THRESHOLD and self._seen >= FEWEST:
                self.events.append(Drift(self.examples, self._mean))
                self._seen, self._mean, self._sum = 0, 0.0, 0.0
