"""Streams of NATS JetStream, read with nats-py.

The position is the sequence number of the last message learnt. Messages are pulled by a consumer that the server keeps
for this reading alone, begun behind the position; none is acknowledged.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Generator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from ouzel.errors import DataError, OuzelError
from ouzel.streams.logs.brokers import Topic
from ouzel.streams.logs.metadata import Members
from ouzel.streams.logs.opening import ACKNOWLEDGED
from ouzel.streams.logs.protocol import TOUCH, Batch, Pause, Place, Position, gap
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources.addresses import Address

try:
    import nats
    from nats.errors import Error as NatsError
    from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
    from nats.js.errors import NotFoundError

    from ouzel.streams.logs.jetstream_pull import Pull
except ImportError:
    raise OuzelError('NATS is read with nats-py: pip install "ouzel[nats]"') from None

ANSWER = 10.0  # seconds that the server has to answer
MOST = 4096  # messages that are asked for at once
IDLE = 60.0  # seconds after which the server forgets a consumer
Answer = TypeVar("Answer")


def open_address(address: Address, reading: Reading) -> JetStream:
    """The stream at an address."""
    return JetStream(address, reading)


def open_sink(address: Address) -> NatsSink:
    """What publishes messages on the subject at an address."""
    return NatsSink(address)


class JetStream(Topic):
    """One stream, or the messages of one subject in it."""

    def __init__(self, address: Address, reading: Reading) -> None:
        super().__init__(address, reading)
        self._address = address
        self._subject = address.options.get("subject")
        self._loop = asyncio.new_event_loop()
        self._client: Any = None
        self._last_known = 0  # number of the newest message
        try:
            self._created = str(self._info().created)
        except (NatsError, OSError, TimeoutError) as error:
            reason = str(error) or type(error).__name__
            self.close()
            if isinstance(error, NotFoundError):
                raise DataError.at(self.name, "there is no such stream; is its name right?") from None
            raise DataError.at(self.name, f"does not answer ({reason}); is the address right?") from None

    def identity(self) -> dict[str, str]:
        """The stream, and when it was made."""
        return {"kind": "nats", "topic": self.topic, "created": self._created, "subject": self._subject or ""}

    def order(self, place: Place) -> int:
        """Sequence numbers are numbers."""
        return int(place)

    def behind(self, position: Position) -> int | None:
        """By the newest message that was heard of."""
        return max(0, self._last_known - int(position.last.get("", 0)))

    def close(self) -> None:
        """Leave the server."""
        if not self._loop.is_closed():
            self._leave()
            self._loop.close()

    def read(self, position: Position, follow: bool) -> Generator[Batch | Pause, None, None]:
        """The messages behind a position."""
        noted = int(position.last[""]) if "" in position.last else None
        last, pull = 0, None
        while True:
            try:
                if pull is None:
                    last, pull = self._begun(noted)
                    noted = last if isinstance(self.begin, str) else noted
                    self.outage.end()
                messages = self._run(pull.pull(MOST))
                if not messages and follow:
                    messages = self._run(pull.pull(1, TOUCH))
            except (NatsError, OSError, TimeoutError) as error:
                pull = None
                self._leave()
                self.outage.begin(str(error) or type(error).__name__)
                self.outage.check(follow)
                yield Pause.WAITING
                time.sleep(self.outage.pause())
                continue
            if messages:
                noted_with = [message.reply.rsplit(".", 4) for message in messages]  # by the server
                places = [int(number) for _, number, _, _, _ in noted_with]
                if places[0] > last + 1:
                    self._check(last, self._info().state)
                times = [int(time) // 1_000_000 for *_, time, _ in noted_with] if self.reading.timed else []
                last = noted = places[-1]
                self._last_known = last + int(noted_with[-1][-1])
                yield Batch("", places, [message.data for message in messages], times, beside=self._beside(messages))
            elif last >= self._last_known or last >= self._newest():
                yield Pause.CAUGHT_UP
                if not follow:
                    return
            else:
                yield Pause.WAITING

    def _begun(self, last: int | None) -> tuple[int, Pull]:
        """Where the reading stands, and what messages behind that are pulled from."""
        state = self._info().state
        self._last_known = state.last_seq
        if last is None and self.begin == "beginning":
            last = state.first_seq - 1
        elif last is None and self.begin == "end":
            last = state.last_seq
        if last is None:
            start: dict[str, Any] = {
                "deliver_policy": DeliverPolicy.BY_START_TIME,
                "opt_start_time": _stamp(int(self.begin)),
            }
        else:
            self._check(last, state)
            start = {"deliver_policy": DeliverPolicy.BY_START_SEQUENCE, "opt_start_seq": last + 1}
        start |= {"filter_subject": self._subject, "inactive_threshold": IDLE, "mem_storage": True}
        config = ConsumerConfig(ack_policy=AckPolicy.NONE, **start)
        consumer = self._run(self._client.jetstream().add_consumer(self.topic, config))
        pull = Pull(self._client, self.topic, consumer.name)
        self._run(pull.begin())
        return last if last is not None else state.first_seq - 1, pull

    def _check(self, last: int, state: Any) -> None:
        """GapError if messages behind a place are gone."""
        if state.last_seq < last:
            raise DataError.at(
                self.name,
                f"ends at message {state.last_seq}, and the model has learnt up to {last}: messages were "
                "taken back, or this is another stream of that name",
            )
        lost = state.first_seq - last - 1
        if lost <= 0 or not last:
            return
        error = gap(self.name, "", f"message {last}", f"message {state.first_seq}", lost)
        if self.reading.on_gap != "skip":
            raise error
        self.lost += lost
        self.say(f"{error.reason}: left out")

    def _beside(self, messages: list[Any]) -> list[Members]:
        """What comes beside messages, as far as it is wanted; their subject is their key."""
        wanted = self.reading.beside
        return [wanted.members(each.subject, (each.headers or {}).items()) for each in messages] if any(wanted) else []

    def _info(self) -> Any:
        """What the server knows of the stream."""
        if self._client is None or not self._client.is_connected:
            self._leave()
            self._client = self._run(connect(self._address))
        return self._run(self._client.jetstream(timeout=ANSWER).stream_info(self.topic))

    def _newest(self) -> int:
        with suppress(NatsError, OSError, TimeoutError):
            self._last_known = int(self._info().state.last_seq)
        return self._last_known

    def _leave(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            self._loop.run_until_complete(close(client))

    def _run(self, question: Awaitable[Answer]) -> Answer:
        return self._loop.run_until_complete(asyncio.wait_for(question, 2 * ANSWER))


async def connect(address: Address) -> Any:
    """A client of the servers at an address."""
    return await nats.connect(
        [f"nats://{server}" for server in address.servers.split(",")],
        user=address.user,
        password=address.password,
        allow_reconnect=False,
        connect_timeout=5,
        error_cb=_ignore,
    )


async def close(client: Any) -> None:
    """Close a client, and end what it has begun."""
    with suppress(NatsError, OSError, TimeoutError):
        await asyncio.wait_for(client.close(), ANSWER)
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _ignore(error: Exception) -> None:
    """What is wrong is told by the questions that fail."""


def _stamp(time: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(time / 1000, UTC).isoformat().replace("+00:00", "Z")


class NatsSink:
    """A subject that a stream of NATS JetStream keeps."""

    def __init__(self, address: Address) -> None:
        self.name, self.topic = address.name, address.path
        self._loop = asyncio.new_event_loop()
        self._address = address
        self._client: Any = None

    def send(self, messages: Sequence[bytes]) -> None:
        """Publish them, and wait until all are acknowledged."""
        try:
            self._loop.run_until_complete(asyncio.wait_for(self._publish(messages), ACKNOWLEDGED))
        except (NatsError, OSError, TimeoutError) as error:
            reason = str(error) or type(error).__name__
            raise DataError.at(self.name, f"messages were not taken ({reason}); does a stream keep it?") from None

    def close(self) -> None:
        """Leave the server."""
        if self._client is not None:
            self._loop.run_until_complete(close(self._client))
        self._loop.close()

    async def _publish(self, messages: Sequence[bytes]) -> None:
        if self._client is None:
            self._client = await connect(self._address)
        stream = self._client.jetstream()
        for start in range(0, len(messages), 500):
            await asyncio.gather(*(stream.publish(self.topic, message) for message in messages[start : start + 500]))
