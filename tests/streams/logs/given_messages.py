"""A client of Kafka in memory: partitions that hold messages at some offsets alone, as compacted ones do."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any, NamedTuple


class Given(NamedTuple):
    """A message as the client has them."""

    of: int | None
    at: int
    wrong: Any = None

    def partition(self):
        return self.of

    def offset(self):
        return self.at

    def value(self):
        return b"%d" % self.at

    def error(self):
        return self.wrong


class GivenClient:
    """What is asked of `kafka_client.Client`, and its consumer; what the partitions hold arrives in any order."""

    cluster, number = "one", "1"

    def __init__(self, held: dict[int, list[int]], ends: dict[int, int], end_code: int, seed: int = 0) -> None:
        self.held, self.ends = held, ends
        self.partitions, self.consumer = sorted(held), self
        self.outage = SimpleNamespace(end=lambda: None, check=lambda follow: None)
        self._end, self._chance = SimpleNamespace(code=lambda: end_code), random.Random(seed)
        self._coming: dict[int, list[Given]] = {}
        self._ends: list[Given] = []

    def assign(self, starts):
        for partition, offset in starts:
            self._coming[partition] = [Given(partition, at) for at in self.held[partition] if at >= offset]
        self._ends = [Given(partition, self.ends[partition], self._end) for partition, _ in starts]
        self._chance.shuffle(self._ends)

    def consume(self, most, seconds):
        coming = [coming for coming in self._coming.values() if coming]
        if not coming:  # the ends come last, and one by one
            return [self._ends.pop()] if self._ends else []
        chosen, count = self._chance.choice(coming), min(most, self._chance.randint(1, 40))
        found = chosen[:count]
        del chosen[:count]
        return found

    def at(self, partition, offset=-1001):
        return partition, offset

    def watermarks(self, partition):
        return 0, self.ends[partition]

    def cached_end(self, partition):
        return self.ends[partition]

    def pause(self, places):
        """What was asked for comes all the same."""

    resume = close = pause
