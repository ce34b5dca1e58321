"""Kafka topics, and those of other brokers that speak its protocol, read with confluent-kafka.

Partitions are assigned at the offsets that a model stores; there is no consumer group, and nothing is committed to
the broker. Where an offset is gone, the client must not choose another (`auto.offset.reset=error`): it would report
that in its own log only. Messages of uncommitted transactions are not read.

Several partitions are read in stripes: offsets 0 to 4095 of each, then 4096 to 8191, and so on. The order is
therefore that of the offsets, not of arrival. A round of stripes ends at the ends of the partitions when it began;
these are stored in the position, so a resumed reading has the same order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Generator, Iterator, Sequence
from itertools import groupby
from operator import methodcaller
from typing import TYPE_CHECKING, cast

from ouzel.errors import DataError, OuzelError
from ouzel.streams.logs.connection import ConnectedLog
from ouzel.streams.logs.kafka_client import (
    CONNECTION_ERRORS,
    OFFSET_ERRORS,
    PARTITION_END,
    Client,
    settings_of,
    silent_logger,
)
from ouzel.streams.logs.messages import Metadata
from ouzel.streams.logs.opening import ACKNOWLEDGED
from ouzel.streams.logs.protocol import MOST_AT_ONCE, POLL_INTERVAL, Batch, Idle, Place, Position, gap
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources.addresses import Address

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

STRIPE = 4096  # offsets of a partition before the next partition's turn
JOINED_STRIPE = 64  # where the topic is joined with another log in the order of time
PAUSE_ABOVE = 4 * STRIPE  # pending messages of a partition above which fetching pauses
CONSUME_AT_ONCE = 512  # messages per call: if more are alive, Python's garbage collector scans all objects
CONSUME_TIMEOUT = 0.02  # seconds in which messages gather before a call returns
ENDLESS = 1 << 62

OFFSET, VALUE, TIMESTAMP, PARTITION, ERROR = map(methodcaller, ("offset", "value", "timestamp", "partition", "error"))
Headers = list[tuple[str, str | bytes | None]]


class PendingMessages:
    """Queue of the messages of one partition that were received and not yet read."""

    def __init__(self, partition: int, reading: Reading) -> None:
        self._partition = str(partition)
        self._timed, self._wanted = reading.timed, reading.metadata
        self._offsets: list[int] = []
        self._values: list[bytes | None] = []
        self._times: list[int] = []
        self._metadata: list[Metadata] = []

    def __len__(self) -> int:
        return len(self._offsets)

    def add(self, messages: list[Message]) -> None:
        """Append messages of the client, in loops of `map`: loops of Python would keep other threads from work."""
        self._offsets += map(OFFSET, messages)
        self._values += map(VALUE, messages)
        if self._timed:
            self._times += [moment for _, moment in map(TIMESTAMP, messages)]
        if any(self._wanted):
            of_message = self._wanted.of_message
            headers = [cast(Headers, message.headers() or []) for message in messages]
            self._metadata += [
                of_message(message.key(), found) for message, found in zip(messages, headers, strict=True)
            ]

    def take(self, bound: int) -> Batch:
        """Remove and return the first messages with offsets below a bound, at most one batch."""
        offsets = self._offsets
        count = min(len(offsets), MOST_AT_ONCE)
        if count and offsets[count - 1] >= bound:
            count = bisect_left(offsets, bound, 0, count)
        here = slice(count)
        values, times, metadata = self._values[here], self._times[here], self._metadata[here]
        batch = Batch(self._partition, offsets[here], values, times, metadata=metadata)
        del self._offsets[here], self._values[here], self._times[here], self._metadata[here]
        return batch


def runs_by_partition(found: list[Message]) -> Iterator[tuple[int, list[Message]]]:
    """Group consecutive messages by partition; each error is a group of its own."""
    for partition, run in groupby(found, PARTITION):
        messages = list(run)
        parts = [[message] for message in messages] if any(map(ERROR, messages)) else [messages]
        for part in parts:
            yield partition or 0, part


def open_address(address: Address, reading: Reading) -> Kafka:
    """Open the topic at an address."""
    return Kafka(address, reading)


def open_sink(address: Address) -> KafkaSink:
    """Open the sink that sends messages to the topic at an address."""
    return KafkaSink(address)


class Kafka(ConnectedLog):
    """Reader of one topic."""

    def __init__(self, address: Address, reading: Reading) -> None:
        super().__init__(address.name, address.path, reading)
        self._client = Client(address, self.outage)
        self.numbers = self._client.partitions
        self.partitions = list(map(str, self.numbers))
        self._stripe = STRIPE if reading.labels is None else JOINED_STRIPE
        self._next: dict[int, int] = {}  # offset to read next
        self._pending: dict[int, PendingMessages] = {}
        self._end: dict[int, int | None] = {}  # reported end of a partition, until more arrives
        self._paused: set[int] = set()

    def identity(self) -> dict[str, str]:
        """Names of cluster and topic, and the topic's id in the cluster."""
        client = self._client
        return {"kind": "kafka", "topic": self.topic, "cluster": client.cluster, "id": client.number()}

    def order(self, place: Place) -> int:
        """Return the offset."""
        return int(place)

    def lag(self, position: Position) -> int | None:
        """Return the lag behind the ends that came with the last messages."""
        ends = {partition: self._client.cached_end(partition) for partition in self.numbers}
        return sum(max(0, end - int(position.last.get(str(k), -1)) - 1) for k, end in ends.items())

    def close(self) -> None:
        """Close the consumer."""
        self._client.consumer.close()

    def read(self, position: Position, follow: bool) -> Generator[Batch | Idle, None, None]:
        """Yield the messages after a position."""
        self._assign(position)
        several = len(self.numbers) > 1
        ends = {int(key): end for key, end in position.ends.items()} if several else {}
        while True:
            if several and not self._unread(ends):
                ends = self._ends()
                if not self._unread(ends):
                    if ends and not follow:
                        return
                    yield Idle.AT_END if ends else Idle.WAITING
                    self.outage.check(follow)
                    self._consume()
                    continue
            for found in self._round(ends or dict.fromkeys(self.numbers, ENDLESS)):
                if isinstance(found, Batch):
                    yield found._replace(ends={str(key): end for key, end in ends.items()})
                    continue
                if not follow and found is Idle.AT_END:
                    return
                self.outage.check(follow)
                yield found
            ends = {}

    def _unread(self, ends: dict[int, int]) -> list[int]:
        """Return the partitions that are not read up to their ends."""
        return [partition for partition in self.numbers if self._next[partition] < ends.get(partition, 0)]

    def _round(self, ends: dict[int, int]) -> Iterator[Batch | Idle]:
        """Yield messages up to the ends, in stripes; a single partition is one stripe."""
        ends, alone = dict(ends), len(self.numbers) == 1
        while unread := self._unread(ends):
            partition = unread[0] if alone else min(unread, key=lambda k: (self._next[k] // self._stripe, k))
            bound = ends[partition] if alone else (self._next[partition] // self._stripe + 1) * self._stripe
            bound = min(bound, ends[partition])
            pending, end = self._pending[partition], self._end[partition]
            batch = pending.take(bound)
            if batch.places:
                self._next[partition] = int(batch.places[-1]) + 1
                yield batch
            elif len(pending):  # no messages below the bound: compacted, or marks of transactions
                self._next[partition] = bound
            elif end is not None and not alone:
                self._next[partition] = max(self._next[partition], end)
                ends[partition] = min(ends[partition], end)
            elif not self._consume() and (alone or self._end[partition] is None):
                yield Idle.WAITING if self._end[partition] is None else Idle.AT_END

    def _consume(self) -> int:
        """Receive what has arrived; return the number of messages."""
        count, said = 0, False
        consume = self._client.consumer.consume  # waits for as many messages as requested
        found = consume(CONSUME_AT_ONCE, CONSUME_TIMEOUT) or consume(1, POLL_INTERVAL)
        while found:
            for partition, messages in runs_by_partition(found):
                error = messages[0].error()
                if error is None:
                    self._pending[partition].add(messages)
                    self._end[partition] = None
                    count += len(messages)
                else:
                    said |= self._handle_error(error, partition, messages[0])
            found = (
                consume(CONSUME_AT_ONCE, CONSUME_TIMEOUT)
                if len(found) == CONSUME_AT_ONCE and count < MOST_AT_ONCE
                else []
            )
        if count or said:
            self.outage.end()
        self._throttle()
        return count

    def _handle_error(self, error: KafkaError, partition: int, message: Message) -> bool:
        """Handle an error that came instead of a message; return whether the broker sent it."""
        if error.code() == PARTITION_END:
            self._end[partition] = message.offset()
            return True
        if error.code() in OFFSET_ERRORS:
            self._offset_gone(partition)
        elif error.code() not in CONNECTION_ERRORS and not error.retriable():
            raise DataError.at(self.name, f"{error.str()}")
        return False

    def _throttle(self) -> None:
        """Pause partitions with many pending messages, and resume those with few."""
        for partition, pending in self._pending.items():
            if len(self._pending) > 1 and len(pending) > PAUSE_ABOVE and partition not in self._paused:
                self._client.consumer.pause([self._client.at(partition)])
                self._paused.add(partition)
            elif len(pending) < STRIPE and partition in self._paused:
                self._client.consumer.resume([self._client.at(partition)])
                self._paused.discard(partition)

    def _assign(self, position: Position) -> None:
        """Assign each partition at its offset in a position."""
        known = {int(key): int(last) for key, last in position.last.items()}
        if known and max(known) > max(self.numbers):
            raise OuzelError(
                f"{self.name}: has {len(self.numbers)} partitions, and the model has read partition {max(known)}: "
                "this is another topic of that name"
            )
        for partition in self.numbers:
            low = self._client.watermarks(partition)[0]
            self._pending[partition], self._end[partition] = PendingMessages(partition, self.reading), None
            if partition in known:
                self._next[partition] = known[partition] + 1
                if self._next[partition] < low:
                    self._skip_gap(partition, low)
            elif known:
                self._next[partition] = low
                self.say(f"{self.name}: partition {partition} is new, and read from its beginning")
            else:
                self._next[partition] = self._first_offset(partition, low)
        starts = [self._client.at(partition, self._next[partition]) for partition in self.numbers]
        self._client.consumer.assign(starts)
        self._client.started = True

    def _first_offset(self, partition: int, low: int) -> int:
        if self.start == "beginning":
            return low
        if self.start == "end":
            return self._client.watermarks(partition)[1]
        return self._client.offset_at(partition, int(self.start))

    def _offset_gone(self, partition: int) -> None:
        """Handle an offset that the broker does not have."""
        low, high = self._client.watermarks(partition)
        last = self._next[partition] - 1
        if last >= low:
            raise DataError.at(
                self.name,
                f"partition {partition} ends at offset {high - 1}, and the model has learnt up to offset "
                f"{last}: messages were taken back, or this is another topic of that name",
            )
        self._skip_gap(partition, low)
        self._client.consumer.seek(self._client.at(partition, low))

    def _skip_gap(self, partition: int, low: int) -> None:
        """Continue at the first offset that is left, if gaps may be skipped; else GapError."""
        last = self._next[partition] - 1
        error = gap(self.name, str(partition), f"offset {last}", f"offset {low}", low - last - 1)
        if self.reading.on_gap != "skip":
            raise error
        self.lost += low - last - 1
        self.say(f"{error.reason}: left out")
        self._next[partition] = low

    def _ends(self) -> dict[int, int]:
        """Return the last reported end of each partition; empty before all were reported."""
        ends = {partition: self._client.cached_end(partition) for partition in self.numbers}
        if min(ends.values()) < 0:
            return {}
        for partition, end in self._end.items():
            if end is not None and not len(self._pending[partition]):
                ends[partition] = min(ends[partition], end)  # an open transaction may follow it
        return ends


class KafkaSink:
    """Sink that sends to a Kafka topic; the client repeats what was not acknowledged."""

    def __init__(self, address: Address) -> None:
        from confluent_kafka import Producer

        self.name, self.topic = address.name, address.path
        self._producer = Producer({**settings_of(address), "linger.ms": 5}, logger=silent_logger())
        self._refused = ""

    def send(self, messages: Sequence[bytes]) -> None:
        """Send messages and wait until all are acknowledged."""
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
        """Do nothing: everything is acknowledged."""

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._refused = error.str()
