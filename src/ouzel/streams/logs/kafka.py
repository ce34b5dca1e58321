"""Kafka topics, and those of other brokers that speak its protocol, read with confluent-kafka.

Partitions are assigned at the offsets that a model notes; there is no consumer group and nothing is committed. Where an
offset is gone the broker's client must not choose another (`auto.offset.reset=error`), for it would do so with a line
in its own log alone. Messages of transactions that were not committed are not seen.

Several partitions are read in stripes: offsets 0 to 4095 of each, then 4096 to 8191, and so on, so that the order is
that of the offsets and not that of arrival. A round of stripes goes to the ends as they stood when it began; these are
part of the position, and a reading that goes on has the same.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Generator, Iterator, Sequence
from itertools import groupby
from operator import methodcaller
from typing import Any

from ouzel.errors import DataError, OuzelError
from ouzel.streams.logs.kafka_client import END, GONE, LOST, Client, settings_of, silent
from ouzel.streams.logs.metadata import Members
from ouzel.streams.logs.offsets import begin_of
from ouzel.streams.logs.opening import ACKNOWLEDGED
from ouzel.streams.logs.protocol import MOST_AT_ONCE, TOUCH, Batch, Pause, Place, Position, Say, gap
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources.addresses import Address

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


STRIPE = 4096  # offsets of a partition, before it is the next one's turn
JOINED_STRIPE = 64  # where another log is read beside it, in the order of time
MOST_WAITING = 4 * STRIPE  # messages of a partition that wait for their turn
FEW = 512  # messages that are asked for at once: more of them alive would have Python look for cycles among all objects
GATHERED = 0.02  # seconds in which messages gather before they are taken together
ENDLESS = 1 << 62


def open_address(address: Address, reading: Reading) -> Kafka:
    """The topic at an address."""
    return Kafka(address, reading)


def open_sink(address: Address) -> KafkaSink:
    """What sends messages to the topic at an address."""
    return KafkaSink(address)


class Kafka:
    """One topic."""

    def __init__(self, address: Address, reading: Reading) -> None:
        self.name, self.topic = address.name, address.path
        self.reading, self.begin = reading, begin_of(reading.begin)
        self.say: Say = lambda line: None
        self.lost = 0
        self._client = Client(address, lambda line: self.say(line))
        self.numbers = self._client.partitions
        self.partitions = list(map(str, self.numbers))
        self._stripe = STRIPE if reading.labels is None else JOINED_STRIPE
        self._next: dict[int, int] = {}  # offset that is to come
        self._waiting: dict[int, Waiting] = {}
        self._end: dict[int, int | None] = {}  # where the broker says that a partition ends, until more comes
        self._paused: set[int] = set()

    def identity(self) -> dict[str, str]:
        """The cluster and the topic, and the number that the cluster gave to it."""
        client = self._client
        return {"kind": "kafka", "topic": self.topic, "cluster": client.cluster, "id": client.number()}

    def order(self, place: Place) -> int:
        """Offsets are numbers."""
        return int(place)

    def behind(self, position: Position) -> int | None:
        """By the ends that came with the last messages."""
        ends = {partition: self._client.noticed_end(partition) for partition in self.numbers}
        return sum(max(0, end - int(position.last.get(str(k), -1)) - 1) for k, end in ends.items())

    def close(self) -> None:
        """Close the consumer."""
        self._client.consumer.close()

    def read(self, position: Position, follow: bool) -> Generator[Batch | Pause, None, None]:
        """The messages behind a position."""
        self._assign(position)
        several = len(self.numbers) > 1
        ends = {int(key): end for key, end in position.ends.items()} if several else {}
        while True:
            if several and not self._open(ends):
                ends = self._ends()
                if not self._open(ends):
                    if ends and not follow:
                        return
                    yield Pause.CAUGHT_UP if ends else Pause.WAITING
                    self._client.outage.check(follow)
                    self._consume()
                    continue
            for found in self._round(ends or dict.fromkeys(self.numbers, ENDLESS)):
                if isinstance(found, Batch):
                    yield found._replace(ends={str(key): end for key, end in ends.items()})
                    continue
                if not follow and found is Pause.CAUGHT_UP:
                    return
                self._client.outage.check(follow)
                yield found
            ends = {}

    def _open(self, ends: dict[int, int]) -> list[int]:
        """The partitions that are not read up to their ends."""
        return [partition for partition in self.numbers if self._next[partition] < ends.get(partition, 0)]

    def _round(self, ends: dict[int, int]) -> Iterator[Batch | Pause]:
        """Messages up to the ends, in stripes; a topic of one partition has but one."""
        ends, alone = dict(ends), len(self.numbers) == 1
        while unread := self._open(ends):
            partition = unread[0] if alone else min(unread, key=lambda k: (self._next[k] // self._stripe, k))
            bound = ends[partition] if alone else (self._next[partition] // self._stripe + 1) * self._stripe
            bound = min(bound, ends[partition])
            waiting, end = self._waiting[partition], self._end[partition]
            batch = waiting.take(bound)
            if batch.places:
                self._next[partition] = int(batch.places[-1]) + 1
                yield batch
            elif len(waiting):  # no offsets up to the next message: they were compacted, or are those of transactions
                self._next[partition] = bound
            elif end is not None and not alone:
                self._next[partition] = max(self._next[partition], end)
                ends[partition] = min(ends[partition], end)
            elif not self._consume() and (alone or self._end[partition] is None):
                yield Pause.WAITING if self._end[partition] is None else Pause.CAUGHT_UP

    def _consume(self) -> int:
        """Take what has arrived; how many messages."""
        count, said = 0, False
        consume = self._client.consumer.consume  # which waits for as many messages as are asked for
        found = consume(FEW, GATHERED) or consume(1, TOUCH)
        while found:
            for partition, messages in runs_of(found):
                error = messages[0].error()
                if error is None:
                    self._waiting[partition].add(messages)
                    self._end[partition] = None
                    count += len(messages)
                else:
                    said |= self._noted(error, partition, messages[0])
            found = consume(FEW, GATHERED) if len(found) == FEW and count < MOST_AT_ONCE else []
        if count or said:
            self._client.outage.end()
        self._hold_back()
        return count

    def _noted(self, error: Any, partition: int, message: Any) -> bool:
        """Take note of what stands in the place of a message; whether the broker has said it."""
        if error.code() == END:
            self._end[partition] = message.offset()
            return True
        if error.code() in GONE:
            self._gone(partition)
        elif error.code() not in LOST and not error.retriable():
            raise DataError.at(self.name, f"{error.str()}")
        return False

    def _hold_back(self) -> None:
        """Fetch no more of partitions of which much waits for its turn."""
        for partition, waiting in self._waiting.items():
            if len(self._waiting) > 1 and len(waiting) > MOST_WAITING and partition not in self._paused:
                self._client.consumer.pause([self._client.at(partition)])
                self._paused.add(partition)
            elif len(waiting) < STRIPE and partition in self._paused:
                self._client.consumer.resume([self._client.at(partition)])
                self._paused.discard(partition)

    def _assign(self, position: Position) -> None:
        """Begin behind a position, each partition where it stands."""
        known = {int(key): int(last) for key, last in position.last.items()}
        if known and max(known) > max(self.numbers):
            raise OuzelError(
                f"{self.name}: has {len(self.numbers)} partitions, and the model has read partition {max(known)}: "
                "this is another topic of that name"
            )
        for partition in self.numbers:
            low = self._client.watermarks(partition)[0]
            self._waiting[partition], self._end[partition] = Waiting(partition, self.reading), None
            if partition in known:
                self._next[partition] = known[partition] + 1
                if self._next[partition] < low:
                    self._lose(partition, low)
            elif known:
                self._next[partition] = low
                self.say(f"{self.name}: partition {partition} is new, and read from its beginning")
            else:
                self._next[partition] = self._beginning(partition, low)
        starts = [self._client.at(partition, self._next[partition]) for partition in self.numbers]
        self._client.consumer.assign(starts)
        self._client.begun = True

    def _beginning(self, partition: int, low: int) -> int:
        if self.begin == "beginning":
            return low
        if self.begin == "end":
            return self._client.watermarks(partition)[1]
        return self._client.offset_at(partition, int(self.begin))

    def _gone(self, partition: int) -> None:
        """The broker does not have the offset that is to come."""
        low, high = self._client.watermarks(partition)
        last = self._next[partition] - 1
        if last >= low:
            raise DataError.at(
                self.name,
                f"partition {partition} ends at offset {high - 1}, and the model has learnt up to offset "
                f"{last}: messages were taken back, or this is another topic of that name",
            )
        self._lose(partition, low)
        self._client.consumer.seek(self._client.at(partition, low))

    def _lose(self, partition: int, low: int) -> None:
        """Go on with the first offset that is left, if messages before it may be left out."""
        last = self._next[partition] - 1
        error = gap(self.name, str(partition), f"offset {last}", f"offset {low}", low - last - 1)
        if self.reading.on_gap != "skip":
            raise error
        self.lost += low - last - 1
        self.say(f"{error.reason}: left out")
        self._next[partition] = low

    def _ends(self) -> dict[int, int]:
        """Where partitions end, as the broker said with its last answers; empty before it has said so of each."""
        ends = {partition: self._client.noticed_end(partition) for partition in self.numbers}
        if min(ends.values()) < 0:
            return {}
        for partition, end in self._end.items():
            if end is not None and not len(self._waiting[partition]):
                ends[partition] = min(ends[partition], end)  # a transaction under way may lie behind it
        return ends


class KafkaSink:
    """A Kafka topic. The client sends again what was not acknowledged."""

    def __init__(self, address: Address) -> None:
        from confluent_kafka import Producer

        self.name, self.topic = address.name, address.path
        self._producer = Producer({**settings_of(address), "linger.ms": 5}, logger=silent())
        self._refused = ""

    def send(self, messages: Sequence[bytes]) -> None:
        """Send them, and wait until all are acknowledged."""
        for message in messages:
            while True:
                try:
                    self._producer.produce(self.topic, message, on_delivery=self._delivered)
                    break
                except BufferError:  # the client's queue is full
                    self._producer.poll(0.1)
        left = self._producer.flush(ACKNOWLEDGED)
        if left or self._refused:
            raise DataError.at(
                self.name, f"messages were not taken ({self._refused or f'{left} are not acknowledged'})"
            )

    def close(self) -> None:
        """All is acknowledged."""

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None:
            self._refused = error.str()
