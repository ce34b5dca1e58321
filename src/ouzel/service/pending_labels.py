"""Predicted examples that wait for their labels, bounded in number, bytes and time.

The bounds apply in memory and on disk: the next commit deletes an example that made room for a newer one, and never
writes one that was dropped before.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import NamedTuple

from ouzel.service.example_log import Waiting
from ouzel.service.limits import ServiceLimits
from ouzel.streams.block import ROWS

ENOUGH = 1 << 22  # bytes that are written at once


class Changes(NamedTuple):
    """Changes that are not on disk yet: new waiting examples, and ids of those that no longer wait."""

    waiting: list[Waiting]
    gone: list[str]

    def __bool__(self) -> bool:
        return bool(self.waiting or self.gone)


class PendingLabels:
    """Lines of waiting examples by their ids, the oldest first; any thread may use it.

    `dropped` is called with the name of a limit for each example that is dropped because of it.
    """

    def __init__(
        self,
        limits: ServiceLimits,
        waiting: Iterable[Waiting] = (),
        dropped: Callable[[str], None] = lambda limit: None,
    ) -> None:
        self._limits = limits
        self._dropped = dropped
        self._lock = Lock()
        self._waiting = OrderedDict((entry.id, entry) for entry in waiting)
        self.bytes = sum(entry.size for entry in self._waiting.values())
        self._stored = set(self._waiting)  # ids on disk
        self._new: dict[str, Waiting] = {}  # entries that are not on disk
        self._new_bytes = 0
        self._gone: set[str] = set()  # ids on disk that no longer wait

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def changed(self) -> bool:
        """Whether there are changes to write."""
        return bool(self._new or self._gone)

    @property
    def much_to_write(self) -> bool:
        """Whether so much is unwritten that it should be written at once."""
        return len(self._new) >= ROWS or self._new_bytes >= ENOUGH

    def add(self, id: str, line: bytes, at: float | None = None) -> None:
        """Add an example of now, or of a time; replace one with the same id, and drop the oldest to make room."""
        with self._lock:
            self._take_out(id)
            entry = self._waiting[id] = self._new[id] = Waiting(id, line, time.time() if at is None else at)
            self._gone.discard(id)  # the commit replaces it
            self.bytes += entry.size
            self._new_bytes += entry.size
            while self._waiting and (limit := self._exceeded()):
                self._take_out(next(iter(self._waiting)))
                self._dropped(limit)

    def hand_over(self, other: PendingLabels) -> None:
        """Have all examples wait in another place."""
        for entry in list(self._waiting.values()):
            other.add(entry.id, entry.line, entry.at)
            self.remove(entry.id)

    def find(self, id: str) -> Waiting | None:
        """Return the example of an id, unless it is too old."""
        entry = self._waiting.get(id)
        return entry if entry is not None and entry.at >= oldest(self._limits) else None

    def remove(self, id: str) -> None:
        """Remove an example that is learnt."""
        with self._lock:
            self._take_out(id)

    def changes(self) -> Changes:
        """Return the changes to write."""
        with self._lock:
            return Changes(list(self._new.values()), list(self._gone))

    def written(self, changes: Changes, labelled: Sequence[str]) -> None:
        """Record that changes are on disk, and the removal of the ids in `labelled` too."""
        with self._lock:
            for entry in changes.waiting:
                if self._new.get(entry.id) is entry:
                    del self._new[entry.id]
                    self._new_bytes -= entry.size
                self._stored.add(entry.id)
            removed = {*changes.gone, *labelled}
            self._stored -= removed
            self._gone -= removed
            self._gone.update(entry.id for entry in changes.waiting if self._is_left_over(entry.id))

    def _is_left_over(self, id: str) -> bool:
        """Return whether an example is on disk that was dropped during the write."""
        return id in self._stored and id not in self._waiting

    def _take_out(self, id: str) -> None:
        entry = self._waiting.pop(id, None)
        if entry is not None:
            self.bytes -= entry.size
        if self._new.pop(id, None) is not None and entry is not None:
            self._new_bytes -= entry.size
        if id in self._stored:
            self._gone.add(id)

    def _exceeded(self) -> str:
        """Return the name of the limit that is exceeded, or ""."""
        limits = self._limits
        if len(self._waiting) > limits.unlabelled:
            return "unlabelled"
        if self.bytes > limits.unlabelled_bytes:
            return "unlabelled_bytes"
        return "unlabelled_hours" if next(iter(self._waiting.values())).at < oldest(limits) else ""


def oldest(limits: ServiceLimits) -> float:
    """Return the earliest time of an example that may still wait, in seconds since the epoch."""
    return time.time() - limits.unlabelled_hours * 3600.0
