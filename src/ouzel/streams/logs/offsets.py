"""Start and end of a reading: parsing of both options, and cutting of batches at the end."""

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
    """End of a reading; at most one of these is set."""

    place: str | None = None  # of the last message of each partition
    time: int | None = None  # milliseconds since 1970: messages before it are learnt
    examples: int | None = None  # in total, with those of earlier runs
    follow: bool = True  # continue at the end of the log


def milliseconds(text: str) -> int | None:
    """Parse a time as milliseconds since 1970, local unless it has an offset; None if it is not a time.

    >>> milliseconds("2026-11-20T08:00+00:00"), milliseconds("soon")
    (1795161600000, None)
    """
    try:
        return int(datetime.fromisoformat(text).astimezone(UTC).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None


def parse_start(text: str) -> str | int:
    """Parse a start: 'beginning', 'end', or a time, returned in milliseconds.

    >>> parse_start("end")
    'end'
    """
    if text in ("beginning", "end"):
        return text
    time = milliseconds(text)
    if time is None:
        raise OuzelError(f"a log is read from {BEGINNINGS}; got {text!r}")
    return time


def parse_until(text: str | None, follow: bool) -> Until:
    """Parse the end of a reading.

    >>> parse_until("offset 99", False).place, parse_until(None, False).follow, parse_until("lag 0", True).follow
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
    """Cuts batches at the end of a reading; `over` once every partition has ended."""

    def __init__(self, until: Until, log: Log, position: Position) -> None:
        self.until, self.log = until, log
        self.over = False
        self._open = set(log.partitions)
        if until.place is not None:
            try:
                self._place = log.order(until.place)
                self._close_read(position)
            except ValueError:
                raise OuzelError(f"{log.name}: there is no offset such as {until.place!r}") from None

    def cut(self, batch: Batch) -> Batch:
        """Return the messages of a batch before the end."""
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
        """Handle the end of the log: after the end time nothing more is awaited."""
        if self.until.time is not None and time.time() * 1000 >= self.until.time:
            self.over = True

    def _close_read(self, position: Position) -> None:
        for partition in list(self._open):
            last = position.last.get(partition)
            self._close(partition, last is not None and self.log.order(last) >= self._place)

    def _close(self, partition: str, ended: bool) -> None:
        if ended:
            self._open.discard(partition)
        self.over = self.over or not self._open
