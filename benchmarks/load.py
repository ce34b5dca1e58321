"""A load of requests, one example each, in a process of its own: `benchmarks/service.py` begins it.

Each connection sends as soon as it is answered; or, at a rate, when its next request is due, and the wait is counted
from then, so that a service that falls behind cannot hide it.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import time
from typing import NamedTuple
from urllib.parse import urlsplit

HEAD = "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"


class Found(NamedTuple):
    """What a load has found."""

    waits: list[float]  # seconds of each request
    seconds: float  # that it took
    processor: float  # seconds of it that the load itself took


def hammer(url: str, lines: list[bytes], connections: int, seconds: float, rate: float | None = None) -> Found:
    """Requests of so many connections; of all of them so many a second, or as many as are answered."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_hammer, (url, lines, connections, seconds, rate))


def _hammer(url: str, lines: list[bytes], connections: int, seconds: float, rate: float | None) -> Found:
    import uvloop

    parts = urlsplit(url)
    requests = [HEAD.format(parts.path, len(line)).encode() + line for line in lines]
    waits: list[float] = []
    begun, processor = time.perf_counter(), time.process_time()

    async def work(seed: int) -> None:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        rng, every = random.Random(seed), connections / rate if rate else 0.0
        due = begun + seed * every / connections
        while due < begun + seconds:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            writer.write(rng.choice(requests))
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            await reader.readexactly(int(head.partition(b"content-length: ")[2].split(b"\r\n", 1)[0]))
            now = time.perf_counter()
            waits.append(now - due)
            due = due + every if rate else now
        writer.close()

    async def all_of_them() -> None:
        await asyncio.gather(*map(work, range(connections)))

    uvloop.run(all_of_them())
    return Found(waits, time.perf_counter() - begun, time.process_time() - processor)
