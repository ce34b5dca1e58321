"""Brokers that keep what they are sent, each with the same few verbs for tests."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from tests.streams.logs.servers import Server, nats_server, redis_server


class Redis(Server):
    """A Redis server."""

    def __init__(self, folder: Path) -> None:
        pytest.importorskip("redis")
        super().__init__(redis_server(folder), folder)

    def start(self) -> None:
        super().start()
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                assert self.client.ping()
                return
            except Exception:  # it reads its file
                time.sleep(0.02)

    @property
    def client(self):
        import redis

        return redis.Redis(port=self.port)

    def address(self, topic: str) -> str:
        return f"redis://127.0.0.1:{self.port}/{topic}"

    def produce(self, topic: str, values: list[bytes]) -> None:
        pipeline = self.client.pipeline(transaction=False)
        for value in values:
            pipeline.xadd(topic, {"message": value})
        pipeline.execute()

    def trim(self, topic: str, kept: int) -> None:
        self.client.xtrim(topic, maxlen=kept, approximate=False)

    def make_anew(self, topic: str) -> None:
        self.client.delete(topic)
        self.client.xadd(topic, {"message": b'{"label": 1, "price": 1}'}, id="1-1")


class Nats(Server):
    """A NATS server with JetStream."""

    def __init__(self, folder: Path) -> None:
        pytest.importorskip("nats")
        super().__init__(nats_server(folder), folder)

    def address(self, topic: str) -> str:
        return f"nats://127.0.0.1:{self.port}/{topic}"

    def produce(self, topic: str, values: list[bytes]) -> None:
        async def publish(stream):
            await stream.add_stream(name=topic, subjects=[f"{topic}.*"])
            for start in range(0, len(values), 500):
                await asyncio.gather(*(stream.publish(f"{topic}.a", value) for value in values[start : start + 1]))
                for value in values[start + 1 : start + 500]:
                    await stream.publish_async(f"{topic}.a", value)
                await stream.publish_async_completed()

        self._ask(publish)

    def trim(self, topic: str, kept: int) -> None:
        self._ask(lambda stream: stream.purge_stream(topic, keep=kept))

    def make_anew(self, topic: str) -> None:
        self._ask(lambda stream: stream.delete_stream(topic))
        self.produce(topic, [b'{"label": 1, "price": 1}'])

    def _ask(self, question) -> None:
        import nats

        async def ask():
            client = await nats.connect(f"nats://127.0.0.1:{self.port}")
            try:
                await question(client.jetstream(timeout=30))
            finally:
                await client.close()

        asyncio.run(ask())


KINDS = {"redis": Redis, "nats": Nats}
