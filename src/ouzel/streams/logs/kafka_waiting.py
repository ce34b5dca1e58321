"""Messages of a partition that wait for their turn, as columns: objects of the client do not outlive their arrival."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import groupby
from operator import methodcaller
from typing import Any

from ouzel.streams.logs.beside import Members
from ouzel.streams.logs.protocol import MOST_AT_ONCE, Batch
from ouzel.streams.logs.reading import Reading

OFFSET, VALUE, TIMESTAMP, PARTITION, ERROR = map(methodcaller, ("offset", "value", "timestamp", "partition", "error"))


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

    def add(self, messages: list[Any]) -> None:
        """Have messages of the client wait; the loops over them are not Python's, which would keep others from work."""
        self._offsets += map(OFFSET, messages)
        self._values += map(VALUE, messages)
        if self._timed:
            self._times += [moment for _, moment in map(TIMESTAMP, messages)]
        if any(self._wanted):
            members = self._wanted.members
            self._beside += [members(message.key(), message.headers() or ()) for message in messages]

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


def runs_of(found: list[Any]) -> Iterator[tuple[int, list[Any]]]:
    """What the client gave, by partition as it came; each that stands for an error is alone."""
    for partition, run in groupby(found, PARTITION):
        messages = list(run)
        parts = [[message] for message in messages] if any(map(ERROR, messages)) else [messages]
        for part in parts:
            yield partition or 0, part
