"""Streams of NATS JetStream, read with nats-py.

The position is the sequence number of the last message learnt. Messages are pulled from an ephemeral consumer that
starts after the position; none is acknowledged. `Pull` sends the requests that nats-py's own `fetch` sends, but waits
for all messages of a request together, which takes a third of the time.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Generator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from ouzel.errors import DataError
from ouzel.extras import missing
from ouzel.streams.logs.connection import RESPONSE_TIMEOUT, ConnectedLog
from ouzel.streams.logs.messages import Metadata
from ouzel.streams.logs.opening import ACKNOWLEDGED
from ouzel.streams.logs.protocol import POLL_INTERVAL, Batch, Idle, Place, Position, gap
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources.addresses import Address

try:
    import nats
    from nats.errors import ConnectionClosedError
    from nats.errors import Error as NatsError
    from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, Header
    from nats.js.errors import NotFoundError
except ImportError:
    raise missing("reading NATS", "nats-py", "nats") from None

if TYPE_CHECKING:
    from nats.aio.client import Client as NatsClient
    from nats.aio.msg import Msg
    from nats.js.api import StreamInfo, StreamState

PULL_AT_ONCE = 4096  # messages of one request
CONSUMER_LIFETIME = 60.0  # idle seconds after which the server deletes a consumer
CHECK_INTERVAL = 0.2  # seconds between two checks of the connection
NO_MORE = ("404", "408")  # statuses: there are no messages, or none came in time
Answer = TypeVar("Answer")


def open_address(address: Address, reading: Reading) -> JetStream:
    """Open the stream at an address."""
    return JetStream(address, reading)


def open_sink(address: Address) -> NatsSink:
    """Open the sink that publishes messages on the subject at an address."""
    return NatsSink(address)


class JetStream(ConnectedLog):
    """One stream, or the messages of one subject in it."""

    def __init__(self, address: Address, reading: Reading) -> None:
        super().__init__(address.name, address.path, reading)
        self._address = address
        self._subject = address.options.get("subject")
        self._loop = asyncio.new_event_loop()
        self._client: NatsClient | None = None
        self._last_known = 0  # sequence number of the newest message
        try:
            self._created = str(self._info().created)
        except (NatsError, OSError, TimeoutError) as error:
            reason = str(error) or type(error).__name__
            self.close()
            if isinstance(error, NotFoundError):
                raise DataError.at(self.name, "there is no such stream; is its name right?") from None
            raise DataError.at(self.name, f"does not answer ({reason}); is the address right?") from None

    def identity(self) -> dict[str, str]:
        """Name and creation time of the stream."""
        return {"kind": "nats", "topic": self.topic, "created": self._created, "subject": self._subject or ""}

    def order(self, place: Place) -> int:
        """Return the sequence number."""
        return int(place)

    def lag(self, position: Position) -> int | None:
        """Return the lag behind the newest message that the server has reported."""
        return max(0, self._last_known - int(position.last.get("", 0)))

    def close(self) -> None:
        """Disconnect."""
        if not self._loop.is_closed():
            self._disconnect()
            self._loop.close()

    def read(self, position: Position, follow: bool) -> Generator[Batch | Idle, None, None]:
        """Yield the messages after a position."""
        learnt = int(position.last[""]) if "" in position.last else None
        last, pull = 0, None
        while True:
            try:
                if pull is None:
                    last, pull = self._open_consumer(learnt)
                    learnt = last if isinstance(self.start, str) else learnt
                    self.outage.end()
                messages = self._run(pull.pull(PULL_AT_ONCE))
                if not messages and follow:
                    messages = self._run(pull.pull(1, POLL_INTERVAL))
            except (NatsError, OSError, TimeoutError) as error:
                pull = None
                self._disconnect()
                self.outage.begin(str(error) or type(error).__name__)
                self.outage.check(follow)
                yield Idle.WAITING
                time.sleep(self.outage.pause())
                continue
            if messages:
                reply_fields = [message.reply.rsplit(".", 4) for message in messages]  # by the server
                places = [int(number) for _, number, _, _, _ in reply_fields]
                if places[0] > last + 1:
                    self._check_gap(last, self._info().state)
                times = [int(time) // 1_000_000 for *_, time, _ in reply_fields] if self.reading.timed else []
                last = learnt = places[-1]
                self._last_known = last + int(reply_fields[-1][-1])
                yield Batch(
                    "", places, [message.data for message in messages], times, metadata=self._metadata(messages)
                )
            elif last >= self._last_known or last >= self._newest():
                yield Idle.AT_END
                if not follow:
                    return
            else:
                yield Idle.WAITING

    def _open_consumer(self, last: int | None) -> tuple[int, Pull]:
        """Return the last sequence number that was read, and a consumer of the messages after it."""
        state = self._info().state
        self._last_known = state.last_seq
        if last is None and self.start == "beginning":
            last = state.first_seq - 1
        elif last is None and self.start == "end":
            last = state.last_seq
        if last is None:
            start: dict[str, Any] = {
                "deliver_policy": DeliverPolicy.BY_START_TIME,
                "opt_start_time": _timestamp(int(self.start)),
            }
        else:
            self._check_gap(last, state)
            start = {"deliver_policy": DeliverPolicy.BY_START_SEQUENCE, "opt_start_seq": last + 1}
        start |= {"filter_subject": self._subject, "inactive_threshold": CONSUMER_LIFETIME, "mem_storage": True}
        assert self._client is not None  # connected by `_info`
        config = ConsumerConfig(ack_policy=AckPolicy.NONE, **start)
        consumer = self._run(self._client.jetstream().add_consumer(self.topic, config))
        pull = Pull(self._client, self.topic, consumer.name)
        self._run(pull.begin())
        return last if last is not None else state.first_seq - 1, pull

    def _check_gap(self, last: int, state: StreamState) -> None:
        """Raise GapError if messages after `last` are gone."""
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

    def _metadata(self, messages: list[Msg]) -> list[Metadata]:
        """Return the requested metadata of messages; the subject is the key."""
        wanted = self.reading.metadata
        return (
            [wanted.of_message(each.subject, (each.headers or {}).items()) for each in messages] if any(wanted) else []
        )

    def _info(self) -> StreamInfo:
        """Return what the server reports about the stream; connect first if necessary."""
        if self._client is None or not self._client.is_connected:
            self._disconnect()
            self._client = self._run(connect(self._address))
        return self._run(self._client.jetstream(timeout=RESPONSE_TIMEOUT).stream_info(self.topic))

    def _newest(self) -> int:
        with suppress(NatsError, OSError, TimeoutError):
            self._last_known = int(self._info().state.last_seq)
        return self._last_known

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            self._loop.run_until_complete(close(client))

    def _run(self, request: Awaitable[Answer]) -> Answer:
        return self._loop.run_until_complete(asyncio.wait_for(request, 2 * RESPONSE_TIMEOUT))


class Pull:
    """Pulls messages from a consumer; call `begin` first."""

    def __init__(self, client: NatsClient, stream: str, consumer: str) -> None:
        self._client = client
        self._subject = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"
        self._inbox = client.new_inbox()
        self._found: list[Msg] = []
        self._most = 0
        self._over = asyncio.Event()
        self._refused: str | None = None

    async def begin(self) -> None:
        """Subscribe to the server's answers."""
        await self._client.subscribe(self._inbox, cb=self._take)

    async def pull(self, most: int, wait: float = 0.0) -> list[Msg]:
        """Return at most `most` messages; if there are none, wait for the first.

        Raises ConnectionClosedError if the server is gone, TimeoutError if it does not answer.
        """
        self._found, self._most, self._refused = [], most, None
        self._over.clear()
        request = {"batch": most, "expires": int(wait * 1e9)} if wait else {"batch": most, "no_wait": True}
        await self._client.publish(self._subject, json.dumps(request).encode(), self._inbox)
        left = wait + RESPONSE_TIMEOUT
        while not self._over.is_set():
            try:
                await asyncio.wait_for(self._over.wait(), CHECK_INTERVAL)
            except TimeoutError:
                left -= CHECK_INTERVAL
                if not self._client.is_connected:
                    raise ConnectionClosedError from None
                if left <= 0:
                    raise
        if self._refused is not None:
            raise ConnectionClosedError
        return self._found

    async def _take(self, message: Msg) -> None:
        if message.reply:  # only messages of a stream have one
            self._found.append(message)
            if len(self._found) < self._most:
                return
        elif (status := (message.headers or {}).get(Header.STATUS.value)) not in NO_MORE:
            self._refused = str(status)
        self._over.set()


async def connect(address: Address) -> NatsClient:
    """Connect to the servers at an address."""
    return await nats.connect(
        [f"nats://{server}" for server in address.servers.split(",")],
        user=address.user,
        password=address.password,
        allow_reconnect=False,
        connect_timeout=5,
        error_cb=_ignore,
    )


async def close(client: NatsClient) -> None:
    """Close a client and cancel its tasks."""
    with suppress(NatsError, OSError, TimeoutError):
        await asyncio.wait_for(client.close(), RESPONSE_TIMEOUT)
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _ignore(error: Exception) -> None:
    """Ignore an error: the requests that fail report it."""


def _timestamp(time: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(time / 1000, UTC).isoformat().replace("+00:00", "Z")


class NatsSink:
    """Sink that publishes on a subject stored by a stream of NATS JetStream."""

    def __init__(self, address: Address) -> None:
        self.name, self.topic = address.name, address.path
        self._loop = asyncio.new_event_loop()
        self._address = address
        self._client: NatsClient | None = None

    def send(self, messages: Sequence[bytes]) -> None:
        """Publish messages and wait until all are acknowledged."""
        try:
            self._loop.run_until_complete(asyncio.wait_for(self._publish(messages), ACKNOWLEDGED))
        except (NatsError, OSError, TimeoutError) as error:
            reason = str(error) or type(error).__name__
            raise DataError.at(self.name, f"messages were not taken ({reason}); does a stream keep it?") from None

    def close(self) -> None:
        """Disconnect."""
        if self._client is not None:
            self._loop.run_until_complete(close(self._client))
        self._loop.close()

    async def _publish(self, messages: Sequence[bytes]) -> None:
        if self._client is None:
            self._client = await connect(self._address)
        stream = self._client.jetstream()
        for start in range(0, len(messages), 500):
            await asyncio.gather(*(stream.publish(self.topic, message) for message in messages[start : start + 500]))
