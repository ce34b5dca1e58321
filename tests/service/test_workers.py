"""Readers side by side: they answer at one port, from the writer's snapshots, and end when they should."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time

import httpx
import numpy as np
import pytest

from ouzel.errors import OuzelError
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.service.folder import Folder, begin
from ouzel.service.server import Place, follow
from ouzel.service.workers import SharedSnapshots, listening_socket
from ouzel.streams.memory import blocks_from
from tests.service.killing import Running, free_port

pytestmark = [
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked"),
]


def get(address, **options):
    """An answer, once there is somebody to give it."""
    for _ in range(400):
        try:
            return httpx.get(address, **options)
        except httpx.HTTPError:
            time.sleep(0.05)
    raise AssertionError(f"{address} does not answer")


def wait_for(address, examples):
    for _ in range(400):
        if get(f"{address}/v1/model").json()["examples_in_all"] == examples:
            return
        time.sleep(0.05)
    raise AssertionError(f"{address} does not follow")


def learn(running, count):
    examples = [{"label": k % 2, "x": k % 3, "word": f"w{k % 2}"} for k in range(count)]
    httpx.post(f"{running.address}/v1/learn", json=examples).raise_for_status()


@pytest.fixture
def served(tmp_path):
    """A service that learns with two readers beside it, and the address of these."""
    folder, port = Folder(tmp_path / "model"), free_port()
    begin(folder, None, "adagrad", {}, {})
    running = Running(folder, place=Place(workers=2, readers_port=port, follow_every=0.1, log="none"))
    yield running, f"http://127.0.0.1:{port}", folder
    if running.process.is_alive():
        running.end()


def test_readers_answer_as_the_service_that_learns_does_at_its_last_snapshot(served):
    running, readers, _ = served
    learn(running, 300)
    wait_for(readers, 300)
    example = {"x": 1, "word": "w1"}
    expected = {httpx.post(f"{running.address}/v1/predict", json=example).text}
    for _ in range(400):  # one reader may follow later than the other
        said = {httpx.post(f"{readers}/v1/predict", json=example).text for _ in range(20)}
        if said == expected:
            break
        time.sleep(0.05)

    assert said == expected
    refused = httpx.post(f"{readers}/v1/learn", json={"label": 1, "x": 1})
    assert (refused.status_code, running.address.rpartition(":")[2] in refused.json()["detail"]) == (409, True)


def test_a_reader_that_is_killed_is_begun_again(served):
    running, readers, _ = served
    get(f"{readers}/health")
    tasks = f"/proc/{running.process.pid}/task/{running.process.pid}/children"
    if not os.path.exists(tasks):
        pytest.skip("the system does not tell the children of a process")
    with open(tasks) as file:
        supervisor = int(file.read().split()[0])
    with open(f"/proc/{supervisor}/task/{supervisor}/children") as file:
        children = [int(number) for number in file.read().split()]
    assert len(children) == 2
    for child in children:
        os.kill(child, signal.SIGKILL)

    assert get(f"{readers}/health").status_code == 200


def test_readers_end_with_the_service_whether_it_is_told_to_or_killed(served):
    running, readers, folder = served
    get(f"{readers}/health")
    running.kill()
    for _ in range(400):
        try:
            httpx.get(f"{readers}/health")
        except httpx.HTTPError:
            break
        time.sleep(0.05)
    else:
        raise AssertionError("the readers have not ended")

    again = Running(folder)
    learn(again, 3)
    again.end()


def test_readers_of_another_service_share_a_port_and_say_when_it_is_gone(tmp_path):
    folder, port = Folder(tmp_path / "model"), free_port()
    begin(folder, None, "adagrad", {}, {})
    writer = Running(folder)
    learn(writer, 50)
    place = Place(port=port, workers=2, follow_every=0.1, log="none")
    process = multiprocessing.get_context("fork").Process(target=follow, args=(writer.address, ["model"], place, None))
    process.start()
    readers = f"http://127.0.0.1:{port}"
    try:
        wait_for(readers, 50)
        writer.end()
        for _ in range(200):
            ready = get(f"{readers}/ready")
            if ready.status_code == 503:
                break
            time.sleep(0.05)
        assert "cannot be reached" in ready.json()["failures"]["model"]
        assert httpx.post(f"{readers}/v1/predict", json={"x": 1}).status_code == 200
    finally:
        process.terminate()
        process.join(30)
    assert process.exitcode == 0


def test_a_port_that_is_taken_is_one_line():
    with (
        listening_socket("127.0.0.1", 0) as held,
        pytest.raises(OuzelError, match=r"127.0.0.1:\d+: cannot listen there \(.*\); try another port"),
    ):
        listening_socket("127.0.0.1", held.getsockname()[1])


def test_a_packed_snapshot_is_unpacked_once_for_all_processes_that_map_it(tmp_path):
    snapshots, shared = [tmp_path / f"snapshot-{k}.ouzel" for k in range(4)], SharedSnapshots(tmp_path / "readers")
    model = Model("adagrad")
    for block in blocks_from([({"a": 1.0}, 0), ({"b": 1.0}, 1)]):
        model.learn(block)
    for path in snapshots:
        persistence.save(model, path, {"reading": {"label": "y"}})

    places = [shared.unpacked(path) for path in snapshots]
    before = places[-1].stat().st_ino
    again = SharedSnapshots(tmp_path / "readers").unpacked(snapshots[-1])

    assert (again, again.stat().st_ino) == (places[-1], before)
    assert shared.unpacked(again) == again, "whole already"
    assert [place.exists() for place in places] == [False, False, True, True]
    mapped, notes = persistence.load_notes(again, mapped=True)
    assert notes == {"reading": {"label": "y"}}
    np.testing.assert_array_equal(mapped.states[0].table, model.states[0].table)
    assert snapshots[0].stat().st_size < again.stat().st_size / 100


@pytest.mark.parametrize("learner", ["adagrad", "awm", "auto"])
def test_a_mapped_model_answers_and_learns_as_one_that_is_read(tmp_path, learner):
    folder = Folder(tmp_path / "model")
    begin(folder, None, learner, {"budget": "8KB"} if learner == "awm" else {}, {})
    owner, log = folder.open()
    log.close()
    texts = [b'{"label": %d, "x": %d, "y": "w%d"}' % (k % 2, k % 5, k % 3) for k in range(90)]
    lines = [line.example for line in owner.reading.lines(texts, [None] * len(texts))]
    owner.learn(lines)
    path = tmp_path / "a.ouzel"
    owner.save(path)
    before = path.read_bytes()
    (read, _), (mapped, _) = persistence.load_notes(path), persistence.load_notes(path, mapped=True)
    block = owner.reading.block(lines)

    np.testing.assert_array_equal(read.margins(block), mapped.margins(block))
    read.learn(block), mapped.learn(block)
    np.testing.assert_array_equal(read.margins(block), mapped.margins(block))
    assert path.read_bytes() == before, "what is learnt changes nothing in the file"
