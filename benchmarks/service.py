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
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import httpx
import numpy as np
import pyarrow
from load import hammer

FEATURES = 76
LEARNS = ((1, None), (16, None), (64, None), (256, None), (64, 2000.0))  # connections, and requests a second
PREDICTS = ((1, None), (16, None), (64, None), (64, 2500.0))
LINES = {"Content-Type": "application/x-ndjson"}
ARROW = {"Content-Type": "application/vnd.apache.arrow.stream"}


def main() -> None:
    """Start a service, load it in every way, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learner", default="adagrad")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--port", type=int, default=8765)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        disk = f"{syncs(folder):,.0f} syncs of 4 kB a second, or {writes(folder) / 1e6:,.0f} MB a second of 1 MB each"
        print(f"disk: {disk}; load of the machine before: {os.getloadavg()[0]:.1f}")
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

    def report(name: str, load: Callable[[], tuple[int, float, str]]) -> None:
        before = processor(pid)
        count, took, said = load()
        each = (processor(pid) - before) / count * 1e6
        print(f"{name:56} {count / took:10,.0f} {each:10,.1f} {1e6 / each:12,.0f}   {said}", flush=True)

    print(f"{'':56} {'a second':>10} {'µs of CPU':>10} {'a CPU second':>12}   p50 ms  p99 ms  µs of the load itself")
    lines = examples(4000)
    for route, loads in (("learn", LEARNS), ("predict", PREDICTS)):
        for connections, rate in loads:
            name = f"{route}, one a request, {connections} connections" + (f", {rate:,.0f} a second" if rate else "")
            report(name, partial(single, f"{address}/v1/{route}", lines, connections, seconds, rate))
    body = b"\n".join([*lines, b""])
    for kind, content, headers in (("JSON lines", body, LINES), ("Arrow", arrow(lines), ARROW)):
        stream(address, content, headers, 0.5)  # what it takes is loaded by then
        report(f"learn, stream of {kind}", partial(stream, address, content, headers, seconds))


def single(
    url: str, lines: list[bytes], connections: int, seconds: float, rate: float | None
) -> tuple[int, float, str]:
    """Requests that were answered, the seconds that took, and how long they waited."""
    found = hammer(url, lines, connections, seconds, rate)
    half, most = np.percentile(np.array(found.waits), [50, 99]) * 1000.0
    count = len(found.waits)
    return count, found.seconds, f"{half:6.1f}  {most:6.1f}  {found.processor / count * 1e6:10.0f}"


def stream(address: str, content: bytes, headers: dict[str, str], seconds: float) -> tuple[int, float, str]:
    """Examples of one connection that sends the same stream again and again, and the seconds that took."""
    sent, begun = 0, time.perf_counter()
    with httpx.Client(base_url=address, timeout=60) as client:
        while time.perf_counter() - begun < seconds:
            sent += client.post("/v1/learn?answers=summary", content=content, headers=headers).json()["learnt"]
    return sent, time.perf_counter() - begun, ""


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
    """So many rows of a table that has 76 columns of such numbers, five times over, as a stream of record batches."""
    rows = [list(json.loads(line).values()) for line in lines]
    names = ["label", *(f"feature{k}" for k in range(FEATURES))]
    table = pyarrow.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        for _ in range(5):
            writer.write_table(table)
    return sink.getvalue()


def writes(folder: str) -> float:
    """Bytes a second that the disk takes, written and synced a megabyte at a time."""
    path, begun, count = Path(folder, "probe"), time.perf_counter(), 0
    with path.open("wb", buffering=0) as file:
        while time.perf_counter() - begun < 1.0:
            file.write(b"x" * (1 << 20))
            os.fsync(file.fileno())
            count += 1
    path.unlink()
    return count * 2**20 / (time.perf_counter() - begun)


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
