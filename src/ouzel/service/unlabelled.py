"""Examples that were predicted and wait for their labels: bounded in number and in time."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable

from ouzel.service.example_log import Waiting
from ouzel.service.limits import ServiceLimits


class Unlabelled:
    """The lines of examples by their ids, the oldest first; it is asked from the loop alone."""

    def __init__(self, limits: ServiceLimits, waiting: Iterable[Waiting] = ()) -> None:
        self._most = limits.unlabelled
        self._limits = limits
        self._waiting = OrderedDict((entry.id, entry) for entry in waiting)

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, id: str, line: bytes) -> Waiting:
        """Keep an example; one of the same id is replaced."""
        self._waiting.pop(id, None)
        entry = self._waiting[id] = Waiting(id, line, time.time())
        while len(self._waiting) > self._most or next(iter(self._waiting.values())).at < oldest(self._limits):
            self._waiting.popitem(last=False)
        return entry

    def find(self, id: str) -> Waiting | None:
        """The example of an id, unless it is too old."""
        entry = self._waiting.get(id)
        return entry if entry is not None and entry.at >= oldest(self._limits) else None

    def remove(self, id: str) -> None:
        """Keep an example no longer: it is learnt."""
        self._waiting.pop(id, None)


def oldest(limits: ServiceLimits) -> float:
    """When an example must have come that still waits, in seconds since the epoch."""
    return time.time() - limits.unlabelled_hours * 3600.0
