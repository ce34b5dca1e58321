"""A log in memory, for the laws of reading one."""

from __future__ import annotations

import time

from ouzel.streams.logs.protocol import Batch, Idle


class MemoryLog:
    """Messages of one partition, given out so many at a time."""

    name, topic, partitions, lost = "memory://log", "log", ("",), 0

    def __init__(self, values, at_once=3):
        self.values, self.at_once = values, at_once
        self.say = print

    def identity(self):
        return {"kind": "memory", "topic": "log"}

    def read(self, position, follow):
        start = int(position.last.get("", -1)) + 1
        while start < len(self.values):
            stop = min(start + self.at_once, len(self.values))
            yield Batch("", list(range(start, stop)), self.values[start:stop], list(range(start, stop)))
            start = stop
            yield Idle.WAITING
        yield Idle.AT_END

    def order(self, place):
        return int(place)

    def lag(self, position):
        return len(self.values) - 1 - int(position.last.get("", -1))

    def close(self):
        pass


class GrowingLog(MemoryLog):
    """A log in memory that goes on for ever."""

    def read(self, position, follow):
        while True:
            for found in super().read(position, follow):
                yield found
                if isinstance(found, Batch):
                    position.last[""] = found.places[-1]
            time.sleep(0.01)
