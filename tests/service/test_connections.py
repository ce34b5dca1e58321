"""Whatever clients do with their connections, a service says within a moment that it lives."""

from __future__ import annotations

import contextlib
import http.client
import multiprocessing
import os
import socket
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path

import httpx
import pytest

from ouzel.service.example_log import Log
from ouzel.service.folder import Folder, begin
from ouzel.service.limits import ServiceLimits
from ouzel.service.server import Place
from ouzel.streams.formats.catalogue import find
from tests.service.killing import LINES, Running

pytestmark = [
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="services are forked"),
]
HEAD = b"POST /v1/learn?answers=summary HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
LINE = b'{"label": 1, "x": 1.5, "word": "red"}\n'


@contextlib.contextmanager
def serving(path: Path, **limits: float) -> Iterator[Running]:
    folder = Folder(path / "model")
    begin(folder, None, "adagrad", {}, {})
    running = Running(folder, place=Place(limits=ServiceLimits(**limits)))  # type: ignore[arg-type]
    try:
        yield running
    finally:
        running.end()


def connect(running: Running, text: bytes = b"", room: int = 0) -> socket.socket:
    """A connection that has sent a text; the system holds about `room` bytes for it that nobody reads, if told to."""
    made = socket.socket()
    if room:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    made.settimeout(30)
    made.connect(("127.0.0.1", running.port))
    made.sendall(text)
    return made


def ended(made: socket.socket, within: float) -> bytes:
    """What a connection has to say until its other side ends it."""
    made.settimeout(within)
    said = b""
    with made, contextlib.suppress(ConnectionResetError):
        while part := made.recv(1 << 16):
            said += part
    return said


def ask_health(port: int, waits: Connection, over: Event) -> None:
    """Ask whether a service lives, on a new connection each, until it is over; then send the seconds of each answer."""
    found = []
    while not (over.is_set() and len(found) >= 50):
        begun = time.perf_counter()
        asked = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        asked.request("GET", "/health")
        assert asked.getresponse().read() == b'{"status":"ok"}'
        asked.close()
        found.append(time.perf_counter() - begun)
        time.sleep(0.01)
    waits.send(sorted(found))


def body_of(address: str, path: str, size: int, answers: list[int]) -> None:
    """Send a body of so many bytes whose length is not told before."""
    chunk = (LINE.rstrip() + b" " * 2000 + b"\n") * 32
    with httpx.Client(base_url=address, timeout=600) as client:
        try:
            sent = client.post(path, content=(chunk for _ in range(size // len(chunk))), headers=LINES)
            answers.append(sent.status_code)
        except httpx.HTTPError:  # it is refused before it is read, which is as well
            answers.append(413)


def load(running: Running, connections: int, size: int) -> tuple[list[float], list[int]]:
    """Seconds that health takes, asked by a process of its own, while connections hang in every way and bodies come."""
    held = [connect(running) for _ in range(connections // 4)]
    held += [connect(running, HEAD[:40]) for _ in range(connections // 4)]
    held += [connect(running, HEAD + b"Content-Length: 100000\r\n\r\n" + LINE) for _ in range(connections // 4)]
    for _ in range(connections // 4):
        half = connect(running, HEAD + b"Content-Length: 100000\r\n\r\n" + LINE)
        half.shutdown(socket.SHUT_WR)
        held.append(half)
    answers: list[int] = []
    httpx.get(f"{running.address}/health", timeout=60)  # all of them have been let in
    context = multiprocessing.get_context("fork")
    (from_asker, to_parent), over = context.Pipe(False), context.Event()
    asker = context.Process(target=ask_health, args=(running.port, to_parent, over))
    asker.start()
    bodies = [
        threading.Thread(target=body_of, args=(running.address, path, size, answers))
        for path in ("/v1/learn?answers=summary", "/v1/predict")
    ]
    for thread in bodies:
        thread.start()
    dripping = threading.Event()

    def drip() -> None:
        while not dripping.wait(1.0):
            for made in held[: connections // 2]:
                with contextlib.suppress(OSError):
                    made.send(b"x")

    slow = threading.Thread(target=drip)
    slow.start()
    for thread in bodies:
        thread.join()
    over.set()
    waits = sorted(from_asker.recv())
    asker.join()
    dripping.set()
    slow.join()
    for made in held:
        made.close()
    return waits, answers


def test_hanging_connections_and_large_bodies_keep_nobody_waiting(tmp_path):
    with serving(tmp_path, body=1 << 20) as running:
        waits, answers = load(running, connections=120, size=8 << 20)

        assert waits[len(waits) // 2] < 0.1
        assert set(answers) <= {200, 413}
        assert httpx.post(f"{running.address}/v1/learn", json={"label": 0, "x": 1}).status_code == 200


@pytest.mark.long
def test_a_thousand_connections_and_bodies_of_a_gigabyte_keep_nobody_waiting(tmp_path):
    with serving(tmp_path, connections=1200) as running:
        waits, answers = load(running, connections=1000, size=1 << 30)
        print(
            f"{len(waits)} answers of /health: median {waits[len(waits) // 2] * 1e3:.1f} ms, last {waits[-1] * 1e3:.1f}"
        )

        assert waits[int(len(waits) * 0.99)] < 0.1
        assert set(answers) <= {200, 413}


def test_a_head_that_does_not_come_ends_the_connection(tmp_path):
    with serving(tmp_path, seconds=1) as running:
        nothing, part, blank = connect(running), connect(running, HEAD), connect(running)
        for made in (nothing, part):
            assert ended(made, 10) == b""
        begun = time.monotonic()
        with blank, contextlib.suppress(OSError):
            while time.monotonic() - begun < 10:
                blank.sendall(b"\r\n")
                time.sleep(0.1)
        assert time.monotonic() - begun < 10


def test_a_head_without_end_is_refused(tmp_path):
    with serving(tmp_path) as running:
        made = connect(running, HEAD)
        with contextlib.suppress(OSError):
            for _ in range(200):
                made.sendall(b"X-Long: " + b"y" * 1000)
        said = ended(made, 10)

        assert said == b"" or b"400 Bad Request" in said
        assert httpx.get(f"{running.address}/health").status_code == 200


def test_an_answer_that_nobody_reads_ends_the_connection(tmp_path):
    with serving(tmp_path, seconds=1) as running:
        httpx.post(f"{running.address}/v1/learn?answers=summary", content=LINE * 200_000, headers=LINES, timeout=60)
        made = connect(running, b"GET /v1/log HTTP/1.1\r\nHost: localhost\r\n\r\n", room=1 << 16)
        time.sleep(3)

        assert len(ended(made, 10)) < 7_000_000  # of 7.6 million bytes: what the system had taken by then


LARGE = {
    "jsonl": b'{"label": "a", "x": 1.5, "word": "red"}\n' * 200_000,
    "vw": b"1 2.5 |a x:1.5 red |b word\n" * 200_000,
    "svmlight": b"1 3:1.5 7:2 9:1\n" * 200_000,
    "csv": b"label,x,word\n" + b"a,1.5,red\n" * 50_000,
}


def test_health_is_answered_at_once_while_large_bodies_of_every_format_are_parsed(tmp_path):
    with serving(tmp_path) as running, httpx.Client(base_url=running.address, timeout=120) as client:
        for name, body in LARGE.items():
            headers = {"Content-Type": find(name).media_types[0]}
            waits: list[float] = []
            learnt: list[int] = []
            learn = threading.Thread(target=lambda: learnt.append(learn_body(running.address, body, headers)))  # noqa: B023
            learn.start()
            while learn.is_alive():
                begun = time.perf_counter()
                assert client.get("/health").status_code == 200
                waits.append(time.perf_counter() - begun)
                time.sleep(0.005)
            learn.join()

            assert learnt == [body.count(b"\n") - (name == "csv")]
            assert sorted(waits)[len(waits) // 2] < 0.1, name
            assert sorted(waits)[-1] < 2.0, name  # on a machine that does much besides


def learn_body(address, body, headers):
    """Send a body to be learnt; return how many examples were."""
    return httpx.post(f"{address}/v1/learn?answers=summary", content=body, headers=headers, timeout=120).json()[
        "learnt"
    ]


def test_more_connections_than_there_may_be_are_told_so_and_health_is_answered(tmp_path):
    with serving(tmp_path, connections=20) as running:
        held = [connect(running) for _ in range(19)]
        assert httpx.get(f"{running.address}/health").status_code == 200
        assert httpx.get(f"{running.address}/v1/model").status_code == 503
        for made in held:
            made.close()
        time.sleep(0.2)
        assert httpx.get(f"{running.address}/v1/model").status_code == 200


def test_clients_that_are_silent_do_not_hold_up_the_end(tmp_path):
    with serving(tmp_path) as running:
        httpx.post(f"{running.address}/v1/learn?answers=summary", content=LINE * 100_000, headers=LINES, timeout=60)
        events = connect(running, b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        unread = connect(running, b"GET /v1/log HTTP/1.1\r\nHost: localhost\r\n\r\n", room=1 << 16)
        head = HEAD[:40]
        stream = connect(running, HEAD + b"Content-Length: 100000\r\n\r\n" + LINE * 3)
        single = connect(running, HEAD.replace(b"x-ndjson", b"json") + b"Content-Length: 100\r\n\r\n" + b'{"label": 1,')
        refused = connect(running, HEAD.replace(b"x-ndjson", b"png") + b"Content-Length: 100\r\n\r\n")
        silent = [connect(running), connect(running, head), events, unread, refused]
        time.sleep(0.5)
        begun = time.monotonic()
        running.end()
        took = time.monotonic() - begun
        said = ended(stream, 5), ended(single, 5)
        for made in silent:
            made.close()

    assert took < 6.0  # 2 s without other work
    assert b'"learnt":3' in said[0]
    assert b'"stopped":"the service ends, and nothing more came"' in said[0]
    assert said[1].startswith(b"HTTP/1.1 408 ")
    assert Log(tmp_path / "model" / "log.sqlite").last() == 100_003


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"Content-Type: text/plain\r\nContent-Length: 20000000\r\n\r\n", 415),
        (b"Content-Type: application/json\r\nContent-Length: 20000000\r\n\r\n", 413),
        (b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1312d00\r\n", 413),
    ],
)
def test_a_client_who_still_sends_is_not_cut_off_from_what_it_is_told(tmp_path, head, status):
    with serving(tmp_path, body=1 << 20) as running:
        made = connect(running, b"POST /v1/learn HTTP/1.1\r\nHost: localhost\r\n" + head)
        for _ in range(200):  # a client that reads when it has sent everything
            made.sendall(b" " * 100_000)

        assert made.recv(1 << 16).startswith(b"HTTP/1.1 %d " % status)
        made.close()


def test_a_connection_goes_on_after_a_body_that_was_not_read(tmp_path):
    with serving(tmp_path) as running, httpx.Client(base_url=running.address) as client:
        for _ in range(20):
            sent = client.post("/v1/learn", content=LINE * 20_000, headers={"Content-Type": "text/plain"})
            assert sent.status_code == 415
        assert client.post("/v1/learn", json={"label": 1, "x": 1}).status_code == 200


def test_what_is_refused_while_it_comes_is_not_taken_for_ever(tmp_path):
    with serving(tmp_path, seconds=1, body=1000) as running:
        made = connect(running, HEAD.replace(b"x-ndjson", b"json") + b"Content-Length: 100000000\r\n\r\n")
        begun = time.monotonic()
        with contextlib.suppress(OSError):
            while time.monotonic() - begun < 10:
                made.sendall(b" ")
                time.sleep(0.05)

        assert time.monotonic() - begun < 5
        made.close()
