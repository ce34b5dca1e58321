"""The end of a reading that goes until a place or a time."""

from __future__ import annotations

import time
from bisect import bisect_right
from datetime import UTC, datetime
from typing import NamedTuple

from ouzel.errors import OuzelError
from ouzel.streams.logs.protocol import Batch, Log, Position

BEGINNINGS = "'beginning', 'end', or a time such as 2026-11-20T08:00"
ENDINGS = "'lag 0', 'offset N', 'examples N', or a time such as 2026-11-20T08:00"


class Until(NamedTuple):
    """When a reading ends; of these at most one."""

    place: str | None = None  # the last message of each partition to be learnt
    time: int | None = None  # milliseconds since 1970: messages before it are learnt
    examples: int | None = None  # in all, those of earlier runs with them
    follow: bool = True  # or where the log ends at present


def milliseconds(text: str) -> int | None:
    """A time as milliseconds since 1970; local, unless it says otherwise; None if it is not one.

    >>> milliseconds("2026-11-20T08:00+00:00"), milliseconds("soon")
    (1795161600000, None)
    """
    try:
        return int(datetime.fromisoformat(text).astimezone(UTC).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None


def begin_of(text: str) -> str | int:
    """'beginning', 'end', or a time in milliseconds.

    >>> begin_of("end")
    'end'
    """
    if text in ("beginning", "end"):
        return text
    time = milliseconds(text)
    if time is None:
        raise OuzelError(f"a log is read from {BEGINNINGS}; got {text!r}")
    return time


def until_of(text: str | None, follow: bool) -> Until:
    """When a reading ends, of what was said.

    >>> until_of("offset 99", False).place, until_of(None, False).follow, until_of("lag 0", True).follow
    ('99', False, False)
    """
    if text is None:
        return Until(follow=follow)
    word, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if (word, rest) == ("lag", "0"):
        return Until(follow=False)
    if word == "offset" and rest:
        return Until(place=rest)
    if word == "examples" and rest.isdigit():
        return Until(examples=int(rest))
    time = milliseconds(text.strip())
    if time is None:
        raise OuzelError(f"a log is read until {ENDINGS}; got {text!r}")
    return Until(time=time)


class Ending:
    """Cuts batches where a reading ends; over once that holds of every partition."""

    def __init__(self, until: Until, log: Log, position: Position) -> None:
        self.until, self.log = until, log
        self.over = False
        self._open = set(log.partitions)
        if until.place is not None:
            try:
                self._place = log.order(until.place)
                self._note(position)
            except ValueError:
                raise OuzelError(f"{log.name}: there is no offset such as {until.place!r}") from None

    def cut(self, batch: Batch) -> Batch:
        """The messages of a batch that are to be read."""
        if batch.partition not in self._open:
            return batch.cut(0, 0)
        count = len(batch.places)
        if self.until.place is not None:
            orders = [self.log.order(place) for place in batch.places]
            count = bisect_right(orders, self._place)
            self._close(batch.partition, orders[-1] >= self._place)
        elif self.until.time is not None and max(batch.times, default=0) >= self.until.time:
            count = next(k for k, moment in enumerate(batch.times) if moment >= self.until.time)
            self._close(batch.partition, True)
        return batch.cut(0, count)

    def pause(self) -> None:
        """Take note that there is no more at present: after the time, no more is waited for."""
        if self.until.time is not None and time.time() * 1000 >= self.until.time:
            self.over = True

    def _note(self, position: Position) -> None:
        for partition in list(self._open):
            last = position.last.get(partition)
            self._close(partition, last is not None and self.log.order(last) >= self._place)

    def _close(self, partition: str, ended: bool) -> None:
        if ended:
            self._open.discard(partition)
        self.over = self.over or not self._open
