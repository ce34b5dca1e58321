"""A disk that is full, that cannot be written, or that gives back something else: one line, and nothing is lost."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ouzel.cli.app import run
from ouzel.errors import OuzelError
from ouzel.service.example_log import Entry, Log
from ouzel.service.folder import Folder, begin
from ouzel.streams.formats.records import framed
from tests.service.killing import Running

pytestmark = [
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are set on Linux"),
]


def example(number: int) -> dict[str, object]:
    return {"_id": f"e{number}", "label": number % 2, "x": number, "word": f"w{number % 7}" + "y" * 300}


def largest_file(running: Running, size: int) -> None:
    """Have a service's disk full: no file of it may be larger."""
    import resource

    assert running.process.pid is not None
    resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def learn_until_refused(running: Running, start: int, most: int = 3000) -> tuple[list[int], httpx.Response]:
    """Learn examples one by one: the numbers of those acknowledged, and what is said of the first that is not."""
    acknowledged = []
    with httpx.Client(base_url=running.address) as client:
        for number in range(start, start + most):
            response = client.post("/v1/learn", json=example(number))
            if response.status_code != 200:
                return acknowledged, response
            acknowledged.append(number)
    raise AssertionError("nothing is refused")


def trained(folder: Folder, path: Path) -> bytes:
    """The file of `ouzel train` over what a service's folder has as its log."""
    log = Log(folder.path / "log.sqlite")
    exported = path / "model.records"
    exported.write_bytes(b"".join(framed(row.record for row in log.rows())))
    log.close()
    output = path / "trained.ouzel"
    assert run(["train", str(exported), "--resume", str(folder.base), "--relearn", "-m", str(output), "--json"]) == 0
    return output.read_bytes()


def test_a_full_disk_is_one_line_and_what_was_acknowledged_is_kept(tmp_path):
    folder = Folder(tmp_path / "model")
    begin(folder, None, "adagrad", {}, {})
    running = Running(folder, snapshot_every=3600.0)
    largest_file(running, 300_000)
    first, refused = learn_until_refused(running, 0)
    ready = httpx.get(f"{running.address}/ready")

    assert refused.status_code == 503
    assert "log.sqlite: cannot be written or read (" in refused.json()["detail"]
    assert "log.sqlite: cannot be written" in ready.json()["failures"]["model"]
    assert httpx.post(f"{running.address}/v1/predict", json={"x": 1}).status_code == 200
    largest_file(running, 1_000)  # less than a snapshot takes
    snapshot = httpx.post(f"{running.address}/v1/snapshot")
    assert snapshot.status_code == 503
    assert "snapshot.ouzel: " in snapshot.json()["detail"]
    assert "\n" not in snapshot.json()["detail"]

    largest_file(running, -1)
    numbers = range(first[-1] + 1, first[-1] + 100)
    assert {httpx.post(f"{running.address}/v1/learn", json=example(k)).status_code for k in numbers} == {200}
    assert httpx.post(f"{running.address}/v1/snapshot").status_code == 200
    assert httpx.get(f"{running.address}/ready").status_code == 200
    largest_file(running, 300_000)
    third, _ = learn_until_refused(running, numbers[-1] + 1)
    running.kill()

    running = Running(folder)
    keys = [
        json.loads(line)["_id"] for line in httpx.get(f"{running.address}/v1/log?format=jsonl").content.splitlines()
    ]
    running.end()
    known = [f"e{number}" for number in (*first, *numbers, *third)]
    assert keys[: len(known)] == known
    assert len(keys) <= len(known) + 1  # the one that was not acknowledged may have come to the disk all the same
    assert folder.snapshots()[-1].read_bytes() == trained(folder, tmp_path)


@pytest.fixture
def of_nobody() -> Iterator[Path]:
    """A folder that a user without rights can be kept from."""
    path = Path(tempfile.mkdtemp(prefix="ouzel-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def as_nobody(work: object, *given: object) -> str:
    """What a function says of an error, run by a user who may not do everything."""
    from_child, to_parent = multiprocessing.Pipe(False)

    def child() -> None:
        if os.getuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        try:
            work(*given)
            to_parent.send("")
        except OuzelError as error:
            to_parent.send(f"one line: {error}")
        except BaseException as error:
            to_parent.send(repr(error))

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(60)
    return str(from_child.recv())


def test_a_disk_that_cannot_be_written_is_one_line(of_nobody):
    folder = Folder(of_nobody / "model")
    begin(folder, None, "adagrad", {}, {})
    _, log = folder.open()
    log.append([Entry(1, None, b'{"label": 1, "x": 1}')])
    log.close()
    for path in (*folder.path.iterdir(), folder.path, of_nobody):
        path.chmod(0o555 if path.is_dir() else 0o444)
    from ouzel.service.server import Place, serve

    said = as_nobody(serve, [folder], Place(port=0, log="none"))
    begun = as_nobody(begin, Folder(of_nobody / "other"), None, "adagrad", {}, {})
    for path in (of_nobody, folder.path):
        path.chmod(0o755)

    assert said.startswith("one line: ")
    assert str(folder.path) in said
    assert "\n" not in said
    assert begun.startswith(f"one line: {of_nobody}/other: cannot be made (Permission denied)")


def filled(path: Path) -> tuple[Folder, bytes]:
    """A model with a log of 300 examples on disk in one file, two snapshots, and the model that all that is."""
    folder = Folder(path / "model")
    begin(folder, None, "adagrad", {}, {})
    for stop in (100, 200, 300):
        owner, log = folder.open()
        texts = [json.dumps(example(number)).encode() for number in range(stop - 100, stop)]
        log.append([Entry(stop - 99 + k, f"e{stop - 100 + k}", text) for k, text in enumerate(texts)])
        log.close()
        owner, log = folder.open()
        log.close()
        if stop < 300:
            folder.snapshot(owner)
    with sqlite3.connect(folder.path / "log.sqlite") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    owner.save(path / "whole.ouzel")
    return folder, (path / "whole.ouzel").read_bytes()


def opened(folder: Folder, path: Path) -> bytes | str:
    """The model of a folder, or the line that is said of it."""
    try:
        owner, log = folder.open()
    except OuzelError as error:
        return str(error)
    log.close()
    owner.save(path / "again.ouzel")
    return (path / "again.ouzel").read_bytes()


@pytest.mark.parametrize("damaged", ["log.sqlite", "snapshot"])
def test_a_changed_byte_anywhere_is_found_or_does_not_matter(tmp_path, damaged):
    folder, whole = filled(tmp_path)
    path = folder.path / damaged if damaged == "log.sqlite" else folder.snapshots()[-1]
    sound, rng, found = path.read_bytes(), random.Random(0), 0
    kept = {other: other.read_bytes() for other in folder.path.iterdir()}
    for _ in range(80):
        content = bytearray(sound)
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
        result = opened(folder, tmp_path)
        if isinstance(result, str):
            found += 1
            assert damaged == "log.sqlite"
            assert "log.sqlite: " in result
            assert "\n" not in result
        else:
            assert result == whole
        for other in folder.path.iterdir():
            other.unlink()
        for other, before in kept.items():
            other.write_bytes(before)

    assert found > 5 or damaged == "snapshot"


@pytest.mark.parametrize("more", [(), ("--check",)])
def test_a_log_without_the_model_where_it_began_is_not_begun_anew(tmp_path, capsys, more):
    folder = Folder(tmp_path / "model")
    begin(folder, None, "adagrad", {}, {})
    folder.open()[1].close()
    folder.base.unlink()
    capsys.readouterr()

    assert run(["serve", "--data", str(tmp_path), *more]) == 2
    said = capsys.readouterr()
    assert said.out.count("a new model") == 0
    assert "has a log and no base.ouzel, where it began; put that file back" in said.err
