"""How much a service takes: `python benchmarks/service.py`, with the service in a process of its own on loopback.

Examples have 76 features. Every learn is durable: it is answered when it is in the log, synced, and learnt. Beside the
figures stands what the disk syncs, and how busy the machine is; the processor's time that the service takes for an
example says what one core of its own would do.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import httpx
import numpy as np
import pyarrow

FEATURES = 76
LINES = {"Content-Type": "application/x-ndjson"}
JSON = {"Content-Type": "application/json"}
ARROW = {"Content-Type": "application/vnd.apache.arrow.stream"}


def main() -> None:
    """Start a service, load it in every way, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learner", default="adagrad")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--port", type=int, default=8765)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"disk: {syncs(folder):,.0f} syncs a second; load of the machine before: {os.getloadavg()[0]:.1f}")
        command = [
            sys.executable,
            "-m",
            "ouzel",
            "serve",
            "--data",
            folder,
            "--learner",
            given.learner,
            "--log",
            "none",
        ]
        with subprocess.Popen([*command, "--port", str(given.port)]) as service:
            address = f"http://127.0.0.1:{given.port}"
            try:
                wait_for(address)
                run(address, given.seconds, service.pid)
                print(f"memory of the service: {memory(service.pid) / 2**20:,.0f} MB")
            finally:
                service.terminate()


def run(address: str, seconds: float, pid: int) -> None:
    """Every kind of load, one after the other."""

    def report(name: str, load: Callable[[], tuple[float, list[float]]]) -> None:
        before, begun = processor(pid), time.perf_counter()
        rate, waits = load()
        each = (processor(pid) - before) / (rate * (time.perf_counter() - begun)) * 1e6
        said = "" if not waits else "{:7.1f} {:7.1f}".format(*(np.percentile(np.array(waits), [50, 99]) * 1000.0))
        print(f"{name:42} {rate:10,.0f} {each:10,.0f} {1e6 / each:12,.0f}   {said}", flush=True)

    print(f"{'':42} {'a second':>10} {'µs of CPU':>10} {'a CPU second':>12}   {'p50 ms':>7} {'p99 ms':>7}")
    lines = examples(4000)
    for route, connections in (("learn", (1, 16, 64)), ("predict", (1, 16))):
        for workers in connections:
            name = f"{route}, one a request, {workers} connections"
            report(name, partial(hammer, address, route, lines, workers, seconds))
    body = b"\n".join(lines)
    for kind, content, headers in (("JSON lines", body, LINES), ("Arrow", arrow(lines), ARROW)):
        report(f"learn, stream of {kind}", partial(stream, address, content, headers, seconds))


def stream(address: str, content: bytes, headers: dict[str, str], seconds: float) -> tuple[float, list[float]]:
    """Examples a second of one connection that sends the same stream again and again."""
    begun, sent = time.perf_counter(), 0
    url = f"{address}/v1/learn?answers=summary"
    while time.perf_counter() - begun < seconds:
        sent += httpx.post(url, content=content, headers=headers, timeout=60).json()["learnt"]
    return sent / (time.perf_counter() - begun), []


def processor(pid: int) -> float:
    """Seconds of processor that a process has taken, on Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def examples(count: int) -> list[bytes]:
    """Lines of JSON with 76 numbers of 300 names."""
    rng = random.Random(0)
    names = [f"feature{k}" for k in range(300)]
    return [
        json.dumps(
            {"label": rng.choice("ab"), **{name: round(rng.gauss(0, 1), 4) for name in rng.sample(names, FEATURES)}}
        ).encode()
        for _ in range(count)
    ]


def arrow(lines: list[bytes]) -> bytes:
    """The same as a stream of record batches."""
    table = pyarrow.Table.from_pylist([json.loads(line) for line in lines])
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def hammer(address: str, route: str, lines: list[bytes], workers: int, seconds: float) -> tuple[float, list[float]]:
    """Requests a second of so many connections that wait for each answer, and the seconds of each request."""
    waits: list[float] = []
    end = time.perf_counter() + seconds

    def work(seed: int) -> None:
        import http.client

        host = address.removeprefix("http://")
        connection, rng = http.client.HTTPConnection(host), random.Random(seed)
        while time.perf_counter() < end:
            begun = time.perf_counter()
            connection.request("POST", f"/v1/{route}", rng.choice(lines), JSON)
            response = connection.getresponse()
            response.read()
            assert response.status == 200
            waits.append(time.perf_counter() - begun)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(waits) / seconds, waits


def syncs(folder: str) -> float:
    """Syncs a second of 4 kB written to a file."""
    path, begun, count = Path(folder, "probe"), time.perf_counter(), 0
    with path.open("wb", buffering=0) as file:
        while time.perf_counter() - begun < 1.0:
            file.write(b"x" * 4096)
            os.fsync(file.fileno())
            count += 1
    path.unlink()
    return count / (time.perf_counter() - begun)


def memory(pid: int) -> int:
    """Resident bytes of a process, on Linux."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def wait_for(address: str) -> None:
    """Until a service answers."""
    for _ in range(600):
        with suppress(httpx.HTTPError):
            httpx.get(f"{address}/health")
            return
        time.sleep(0.1)
    raise SystemExit("the service does not start")


if __name__ == "__main__":
    main()
