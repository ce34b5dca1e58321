"""Services that are killed under load, and what must be true of them afterwards."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pyarrow

from ouzel.cli.app import run
from ouzel.service.folder import Folder, begin
from ouzel.service.server import Place, serve
from ouzel.streams.formats.catalogue import find
from torture.killing import strike

SUMMARY = "/v1/learn?answers=summary"
LINES = {"Content-Type": "application/x-ndjson"}
PATIENCE = 30.0, 30.0, 60.0  # seconds: what is forked while a thread holds a lock waits for that for ever


def free_port() -> int:
    """A port that nobody listens on."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Running:
    """A service in a process of its own, forked from this one so that it starts in a moment."""

    def __init__(
        self, folder: Folder, snapshot_every: float = 0.2, place: Place | None = None, shadow: Folder | None = None
    ) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        place = replace(place or Place(), port=self.port, log="none", snapshot_every=snapshot_every)
        alone = not place.workers  # what is ended with its parent may have no processes of its own
        served = ([folder], place) if shadow is None else ([folder, shadow], place, shadow.name)
        fork = multiprocessing.get_context("fork")
        for seconds in PATIENCE:
            self.process = fork.Process(target=serve, args=served, daemon=alone)
            self.process.start()
            if self._listens(seconds):
                return
            self.kill()
        raise AssertionError("the service does not listen")

    def _listens(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with suppress(httpx.HTTPError):
                httpx.get(f"{self.address}/health")
                return True
            assert self.process.is_alive(), "the service ended before it listened"
            time.sleep(0.05)
        return False

    def poll(self) -> int | None:
        """How it ended, None while it runs."""
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.process.pid, number)

    def wait(self) -> int:
        """How it ended, when it has."""
        self.process.join()
        return self.process.exitcode

    def kill(self) -> None:
        """End it as a loss of power would, as far as one process is concerned."""
        strike(self)

    def end(self) -> None:
        """End it as a system does, unless it has ended."""
        if self.process.is_alive():
            os.kill(self.process.pid, signal.SIGTERM)
        self.process.join(60)
        assert self.process.exitcode is not None


class Load:
    """Writers of single examples, of bodies of every format, of delayed labels, and readers.

    It records what is acknowledged. Every example has a key. What is not acknowledged is sent again by the next load,
    with the same key; but for bodies without one, which are sent once. A third class comes `late`.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.sent: dict[str, bytes] = {}
        self.acknowledged: set[str] = set()
        self.unsure: list[str] = []
        self.problems: list[str] = []
        self.unsure_bodies: list[tuple[list[str], dict[str, str], bytes]] = []
        self.late = False

    def over(self, address: str, until: threading.Event) -> list[threading.Thread]:
        """Begin to load a service."""
        threads = [
            threading.Thread(target=work, args=(address, until))
            for work in (self.singles, self.singles, self.streams, self.plain, self.keyed, self.labels, self.reads)
        ]
        for thread in threads:
            thread.start()
        return threads

    def example(self) -> tuple[str, bytes]:
        """A new example, or one that may not have arrived."""
        with self.lock:
            if self.unsure and self.random.random() < 0.5:
                key = self.unsure.pop()
                return key, self.sent[key]
            key = f"k{len(self.sent)}"
            features = {f"f{self.random.randrange(500)}": round(self.random.gauss(0, 1), 3) for _ in range(10)}
            features["word"] = self.random.choice(["red", "green", "blue"])
            label = "yes" if features.get("f1", features.get("f2", 0.0)) > self.random.gauss(0, 1) else "no"
            label = "maybe" if self.late and self.random.random() < 0.1 else label
            line = json.dumps({"label": label, "_id": key, **features}).encode()
            self.sent[key] = line
            return key, line

    def singles(self, address: str, until: threading.Event) -> None:
        """One example a request."""
        with httpx.Client(base_url=address) as client:
            while not until.is_set():
                key, line = self.example()
                self._send([key], lambda line=line: client.post("/v1/learn", content=line, headers=_json()))

    def streams(self, address: str, until: threading.Event) -> None:
        """Many a request."""
        with httpx.Client(base_url=address) as client:
            while not until.is_set():
                examples = dict(self.example() for _ in range(60))
                body = b"\n".join(examples.values())
                self._send(list(examples), lambda body=body: client.post(SUMMARY, content=body, headers=LINES))

    def body(self) -> tuple[list[str], dict[str, str], bytes]:
        """New examples without ids in a body of any format: their keys, its headers, and the body."""
        with self.lock:
            name = self.random.choice(list(BODIES))
            numbers = [len(self.sent) + k for k in range(self.random.randrange(1, 200))]
            keys = [f"plain{number}" for number in numbers]
            classes = ["no", "yes", *(["maybe"] if self.late else [])]
            rows = [
                {"label": self.random.choice(classes), "serial": number, "f1": self.random.randrange(9) + 0.5}
                for number in numbers
            ]
            lines, body = BODIES[name](rows)
            self.sent |= dict(zip(keys, lines or [b""] * len(keys), strict=True))
        return keys, {"Content-Type": find(name).media_types[0]}, body

    def plain(self, address: str, until: threading.Event) -> None:
        """Bodies of every format without a key, which are learnt as blocks."""
        with httpx.Client(base_url=address) as client:
            while not until.is_set():
                keys, headers, body = self.body()
                with suppress(httpx.HTTPError, ValueError):
                    summary = client.post(SUMMARY, content=body, headers=headers).json()
                    if summary.get("learnt") == len(keys):
                        with self.lock:
                            self.acknowledged.update(keys)

    def keyed(self, address: str, until: threading.Event) -> None:
        """Bodies of every format with a key, which are sent again until they are acknowledged."""
        with httpx.Client(base_url=address) as client:
            while not until.is_set():
                if self.unsure_bodies:
                    keys, headers, body = self.unsure_bodies.pop()
                else:
                    keys, headers, body = self.body()
                    headers["Idempotency-Key"] = keys[0]
                try:
                    summary = client.post(SUMMARY, content=body, headers=headers).json()
                    if summary["learnt"] + summary["repeated"] == len(keys):
                        with self.lock:
                            self.acknowledged.update(keys)
                        continue
                    self.problems.append(json.dumps(summary)[:300])
                except (httpx.HTTPError, ValueError):
                    pass
                self.unsure_bodies.append((keys, headers, body))

    def labels(self, address: str, until: threading.Event) -> None:
        """Examples that are predicted first, and labelled then."""
        with httpx.Client(base_url=address) as client:
            while not until.is_set():
                with self.lock:
                    key = f"late{len(self.sent)}"
                    self.sent[key] = b""
                asked = {"_id": key, "f1": self.random.gauss(0, 1), "word": "red"}
                with suppress(httpx.HTTPError):
                    client.post("/v1/predict", json=asked)
                    if client.post("/v1/label", json={"id": key, "label": "no"}).status_code == 200:
                        with self.lock:
                            self.acknowledged.add(key)

    def reads(self, address: str, until: threading.Event) -> None:
        """Predictions, which change nothing."""
        with httpx.Client(base_url=address) as client:
            while not until.is_set():
                with suppress(httpx.HTTPError):
                    response = client.post("/v1/predict", json={"f1": 1.0, "word": "green"})
                    if response.status_code != 200:
                        self.problems.append(response.text)

    def _send(self, keys: list[str], send: object) -> None:
        try:
            response = send()
            summary = response.json()
            complete = len(keys) == 1 or summary["learnt"] + summary["repeated"] == len(keys)
            if response.status_code == 200 and complete:
                with self.lock:
                    self.acknowledged.update(keys)
                return
            self.problems.append(response.text[:300])
        except (httpx.HTTPError, ValueError):
            pass
        with self.lock:
            self.unsure += keys


def stream_of(rows: list[dict]) -> bytes:
    """Rows as a stream of Arrow of one record batch."""
    batch = pyarrow.RecordBatch.from_pylist(rows)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


Bodies = tuple[list[bytes], bytes]  # lines of JSON as the log shows them, if they are known, and the body


def _objects(rows: list[dict]) -> list[bytes]:
    return [json.dumps(row, separators=(",", ":")).encode() for row in rows]


def _csv(rows: list[dict]) -> Bodies:
    lines = ["label,serial,f1", *(f"{row['label']},{row['serial']},{row['f1']}" for row in rows)]
    return [], "\n".join(lines).encode()


def _vw(rows: list[dict]) -> Bodies:
    weights = {"yes": 2.5, "no": 1.0, "maybe": 0.5}
    lines = [f"{row['label']} {weights[row['label']]} |serial x:{row['serial']} |f f1:{row['f1']} red" for row in rows]
    return [], "\n".join(lines).encode()


def _svmlight(rows: list[dict]) -> Bodies:
    return [], "\n".join(f"{row['label']} 7:{row['serial']} 9:{row['f1']}" for row in rows).encode()


BODIES: dict[str, Callable[[list[dict]], Bodies]] = {
    "jsonl": lambda rows: (_objects(rows), b"\n".join(_objects(rows))),
    "arrow": lambda rows: (_objects(rows), stream_of(rows)),
    "csv": _csv,
    "vw": _vw,
    "svmlight": _svmlight,
}


def key_of(example: dict) -> str:
    """The key of an example of the log, as it is shown."""
    known = (example[name] for name in ("serial", "serial^x", "7") if name in example)
    return example.get("_id") or f"plain{int(next(known))}"


UNCERTAIN = {"interval": (0.8, 0.9), "interval_by": "word", "calibrate": True}


def kill_and_compare(data: Path, kills: int, seed: int, learner: str = "adagrad", **given: Any) -> Load:
    """Kill a service so many times under load, then compare its model with that of `ouzel train` over its log."""
    folder = Folder(data / "model")
    begin(folder, None, learner, {}, {}, given)
    load = Load(seed)
    for number in range(kills):
        load.late = number >= kills // 2
        running, until = Running(folder), threading.Event()
        known = len(load.acknowledged)
        threads = load.over(running.address, until)
        few = known + 10 if number % 2 else -1  # every other one has learnt something, however busy the machine is
        strike(running, lambda few=few: len(load.acknowledged) > few, load.random.uniform(0.05, 1.2))
        until.set()
        for thread in threads:
            thread.join()
    running = Running(folder)
    exported = data / "model.records"
    with httpx.stream("GET", f"{running.address}/v1/log") as response, exported.open("wb") as file:
        for chunk in response.iter_bytes():
            file.write(chunk)
    shown = httpx.get(f"{running.address}/v1/log?format=jsonl", timeout=60.0).content.splitlines()
    running.end()
    compare(folder, exported, shown, load)
    return load


def compare(folder: Folder, exported: Path, shown: list[bytes], load: Load) -> None:
    """Every acknowledged example is in the log once, as it was sent, and the model is what its log teaches."""
    keys = list(map(key_of, map(json.loads, shown)))
    assert load.problems == []
    assert len(set(keys)) == len(keys)
    assert load.acknowledged <= set(keys)
    assert all(load.sent[key] == line for key, line in zip(keys, shown, strict=True) if load.sent[key])
    trained = exported.with_name("trained.ouzel")
    assert run(["train", str(exported), "--resume", str(folder.base), "--relearn", "-m", str(trained), "--json"]) == 0
    assert folder.snapshots()[-1].read_bytes() == trained.read_bytes()


def _json() -> dict[str, str]:
    return {"Content-Type": "application/json"}
