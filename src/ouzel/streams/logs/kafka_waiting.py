"""Messages of a partition that wait for their turn, as columns: objects of the client do not outlive their arrival."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from ouzel.streams.logs.beside import Members
from ouzel.streams.logs.protocol import MOST_AT_ONCE, Batch
from ouzel.streams.logs.reading import Reading


class Waiting:
    """What is read of the messages of one partition, in order."""

    def __init__(self, partition: int, reading: Reading) -> None:
        self._partition = str(partition)
        self._timed, self._wanted = reading.timed, reading.beside
        self._offsets: list[int] = []
        self._values: list[bytes | None] = []
        self._times: list[int] = []
        self._beside: list[Members] = []

    def __len__(self) -> int:
        return len(self._offsets)

    def add(self, message: Any) -> None:
        """Have a message of the client wait."""
        self._offsets.append(message.offset())
        self._values.append(message.value())
        if self._timed:
            self._times.append(message.timestamp()[1])
        if any(self._wanted):
            self._beside.append(self._wanted.members(message.key(), message.headers() or ()))

    def take(self, bound: int) -> Batch:
        """The first messages with offsets below a bound, as many as a batch has at most."""
        offsets = self._offsets
        count = min(len(offsets), MOST_AT_ONCE)
        if count and offsets[count - 1] >= bound:
            count = bisect_left(offsets, bound, 0, count)
        here = slice(count)
        values, times, beside = self._values[here], self._times[here], self._beside[here]
        batch = Batch(self._partition, offsets[here], values, times, beside=beside)
        del self._offsets[here], self._values[here], self._times[here], self._beside[here]
        return batch
