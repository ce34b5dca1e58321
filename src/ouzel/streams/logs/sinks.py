"""Messages sent to logs: each is there at least once when `send` returns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ouzel.errors import DataError, OuzelError
from ouzel.streams.logs.address import Address, address_of, is_log
from ouzel.streams.logs.databases import is_database

ANSWER = 30.0  # seconds that a server has to acknowledge what it was sent


class Sink(Protocol):
    """Where messages go."""

    def send(self, messages: Sequence[bytes]) -> None:
        """Have messages acknowledged; DataError if they are not."""

    def close(self) -> None:
        """Leave the server."""


def open_sink(url: str) -> Sink:
    """What takes messages at an address; OuzelError where none does."""
    if not is_log(url) or is_database(url):
        raise OuzelError(f"messages are sent to a log such as kafka://broker:9092/topic; got {url!r}")
    address = address_of(url)
    from ouzel.streams.logs.opening import library_of

    library_of(address)
    return _SINKS[address.scheme](address)


class KafkaSink:
    """A Kafka topic. The client sends again what was not acknowledged."""

    def __init__(self, address: Address) -> None:
        from confluent_kafka import Producer

        from ouzel.streams.logs.kafka_client import settings_of, silent

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
        left = self._producer.flush(ANSWER)
        if left or self._refused:
            raise DataError(f"{self.name}: messages were not taken ({self._refused or f'{left} are not acknowledged'})")

    def close(self) -> None:
        """All is acknowledged."""

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None:
            self._refused = error.str()


class RedisSink:
    """A Redis stream; each message is the field `message` of an entry."""

    def __init__(self, address: Address) -> None:
        from ouzel.streams.logs.redis_streams import connected

        self.name, self.topic = address.name, address.path
        self._server = connected(address)

    def send(self, messages: Sequence[bytes]) -> None:
        """Add them in one transaction."""
        import redis

        try:
            pipeline = self._server.pipeline(transaction=True)
            for message in messages:
                pipeline.xadd(self.topic, {"message": message})
            pipeline.execute()
        except redis.RedisError as error:
            raise DataError(f"{self.name}: messages were not taken ({error})") from None

    def close(self) -> None:
        """Close the connection."""
        self._server.close()


class NatsSink:
    """A subject that a stream of NATS JetStream keeps."""

    def __init__(self, address: Address) -> None:
        self.name, self.topic = address.name, address.path
        self._loop = asyncio.new_event_loop()
        self._address = address
        self._client: Any = None

    def send(self, messages: Sequence[bytes]) -> None:
        """Publish them, and wait until all are acknowledged."""
        from nats.errors import Error as NatsError

        try:
            self._loop.run_until_complete(asyncio.wait_for(self._publish(messages), ANSWER))
        except (NatsError, OSError, TimeoutError) as error:
            reason = str(error) or type(error).__name__
            raise DataError(f"{self.name}: messages were not taken ({reason}); does a stream keep it?") from None

    def close(self) -> None:
        """Leave the server."""
        from ouzel.streams.logs.jetstream import close

        if self._client is not None:
            self._loop.run_until_complete(close(self._client))
        self._loop.close()

    async def _publish(self, messages: Sequence[bytes]) -> None:
        from ouzel.streams.logs.jetstream import connect

        if self._client is None:
            self._client = await connect(self._address)
        stream = self._client.jetstream()
        for start in range(0, len(messages), 500):
            await asyncio.gather(*(stream.publish(self.topic, message) for message in messages[start : start + 500]))


_SINKS: dict[str, Callable[[Address], Sink]] = {
    "kafka": KafkaSink,
    "nats": NatsSink,
    "redis": RedisSink,
    "rediss": RedisSink,
}
