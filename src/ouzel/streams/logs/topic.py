"""What the logs of brokers have in common."""

from __future__ import annotations

from collections.abc import Sequence

from ouzel.streams.logs.begin import begin_of
from ouzel.streams.logs.outage import Outage
from ouzel.streams.logs.protocol import Say
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources.addresses import Address


class Topic:
    """A log at an address, of one partition unless it says otherwise."""

    partitions: Sequence[str] = ("",)

    def __init__(self, address: Address, reading: Reading) -> None:
        self.name, self.topic = address.name, address.path
        self.reading, self.begin = reading, begin_of(reading.begin)
        self.say: Say = lambda line: None
        self.lost = 0
        self.outage = Outage(self.name, lambda line: self.say(line))
