"""How fast logs are read and learnt, beside what the brokers' clients take alone.

    python benchmarks/logs.py --messages 600000

Starts a server of each kind in a folder of its own, sends it JSON messages of 500 bytes, and tells messages a second of
three readings, each the best of three in turn: the client alone, `ouzel.read`, and a model of AdaGrad that learns them;
and microseconds of processors that a message takes of this process and of the server with the client and with learning.
A reading ends when the server says that there is no more, 0.1 to 0.2 s later than the client alone, so give it some
seconds. `--kinds Kafka` measures one of them. With `--core` all of a reading runs on one core, beside the server's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import ouzel
from tests.streams.logs.brokers import Nats, Redis
from tests.streams.logs.servers import Server, kafka_broker, make_topic, produce

SIZE = 500  # bytes of a message
WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath"]


def messages(count: int) -> list[bytes]:
    """Events of 20 members, 500 bytes each."""
    chance = random.Random(0)
    found = []
    for _ in range(count):
        event: dict[str, Any] = {f"number{k}": round(chance.random(), 4) for k in range(10)}
        event |= {f"word{k}": chance.choice(WORDS) for k in range(9)}
        event["label"] = int(event["number0"] + 0.5 * (event["word0"] < "cedar") > 0.6)
        text = json.dumps(event)
        event["word8"] += "x" * max(0, SIZE - len(text))
        found.append(json.dumps({**event, "word8": event["word8"]}).encode())
    return found


class Kafka(Server):
    """A broker of Kafka's protocol in memory."""

    def __init__(self, folder: Path) -> None:
        super().__init__(kafka_broker, folder)

    def address(self, topic: str) -> str:
        return f"kafka://127.0.0.1:{self.port}/{topic}"

    def produce(self, topic: str, values: list[bytes]) -> None:
        make_topic(self.port, topic)
        produce(self.port, topic, list(values))


def kafka_alone(server: Any, topic: str, count: int) -> None:
    from confluent_kafka import Consumer, TopicPartition

    settings = {"bootstrap.servers": f"127.0.0.1:{server.port}", "group.id": "x", "enable.auto.commit": False}
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic, 0, 0)])
    seen = 0
    while seen < count:
        seen += sum(message.value() is not None for message in consumer.consume(4096, 0.2))
    consumer.close()


def redis_alone(server: Any, topic: str, count: int) -> None:
    client, last, seen = server.client, b"0-0", 0
    while seen < count:
        found = client.xread({topic: last}, count=4096)
        entries = next(iter(found.values()))[0] if isinstance(found, dict) else found[0][1]
        seen, last = seen + len(entries), entries[-1][0]


def nats_alone(server: Any, topic: str, count: int) -> None:
    import nats
    from nats.js.api import AckPolicy, ConsumerConfig

    async def read() -> None:
        client = await nats.connect(f"nats://127.0.0.1:{server.port}")
        config = ConsumerConfig(ack_policy=AckPolicy.NONE)
        pulled = await client.jetstream().pull_subscribe(">", stream=topic, config=config)
        seen = 0
        while seen < count:
            seen += sum(message.metadata.sequence.stream > 0 for message in await pulled.fetch(1000, timeout=5))
        await client.close()

    asyncio.run(read())


def reading(server: Any, topic: str, count: int) -> None:
    with ouzel.read(server.address(topic)) as stream:
        assert sum(block.rows for block in stream) == count


def learning(server: Any, topic: str, count: int) -> None:
    with ouzel.read(server.address(topic)) as stream:
        assert ouzel.progressive_validation(ouzel.AdaGradClassifier(), stream).examples == count


def seconds(works: list[Callable[[], None]], server: Server) -> list[tuple[float, float]]:
    """Seconds, and those of processors, of the best of three of each, in turn, so that other work falls on all."""
    found: list[list[tuple[float, float]]] = [[] for _ in works]
    for _ in range(3):
        for work, taken in zip(works, found, strict=True):
            begun, before = time.perf_counter(), of_processors(server)
            work()
            taken.append((time.perf_counter() - begun, of_processors(server) - before))
    return list(map(min, found))


def of_processors(server: Server) -> float:
    """Seconds of processors that this process and the server have used until now."""
    assert server.process is not None
    own, fields = os.times(), Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return own.user + own.system + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=600_000)
    parser.add_argument("--core", action="store_true", help="readings on one core")
    kinds = {"Kafka": (Kafka, kafka_alone), "Redis": (Redis, redis_alone), "Nats": (Nats, nats_alone)}
    parser.add_argument("--kinds", nargs="+", choices=list(kinds), default=list(kinds))
    given = parser.parse_args()
    print(f"{'messages a second':20}{'client':>12}{'read':>12}{'learn':>12}{'learn/client':>14}{'processors, us':>18}")
    for kind, alone in map(kinds.__getitem__, given.kinds):
        with tempfile.TemporaryDirectory() as folder:
            server: Any = kind(Path(folder))
            server.start()
            try:
                server.produce("bench", messages(given.messages))
                if given.core:
                    os.sched_setaffinity(0, {0})
                learning(server, "bench", given.messages)  # compiles
                works = [partial(work, server, "bench", given.messages) for work in (alone, reading, learning)]
                found = seconds(works, server)
            finally:
                server.kill()
        told = "".join(f"{given.messages / taken:>12,.0f}" for taken, _ in found)
        each = [f"{used / given.messages * 1e6:.1f}" for _, used in (found[0], found[2])]
        print(f"{kind.__name__:20}{told}{found[0][0] / found[2][0]:>14.0%}{' / '.join(each):>18}", flush=True)


if __name__ == "__main__":
    main()
