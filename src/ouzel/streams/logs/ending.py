"""The end of a reading that goes until a place or a time."""

from __future__ import annotations

import time
from bisect import bisect_right

from ouzel.errors import OuzelError
from ouzel.streams.logs.begin import Until
from ouzel.streams.logs.protocol import Batch, Log, Position


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
