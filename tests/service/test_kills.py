"""A service killed at any moment has, when it comes back, learnt what it acknowledged, once each and to the bit."""

import os
import signal
import time

import httpx
import pytest

from ouzel.service.example_log import Log
from ouzel.service.folder import Folder, begin
from tests.service.killing import UNCERTAIN, Running, kill_and_compare

pytestmark = [
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="services are forked"),
]


def test_a_killed_service_has_what_it_acknowledged_and_is_the_model_of_its_log(tmp_path):
    load = kill_and_compare(tmp_path, kills=4, seed=1, **UNCERTAIN)

    assert len(load.acknowledged) > 20


@pytest.mark.long
@pytest.mark.parametrize("learner", ["adagrad", "awm"])
def test_two_hundred_kills_lose_nothing(tmp_path, learner):
    kills = 200 if learner == "adagrad" else 40
    load = kill_and_compare(tmp_path, kills=kills, seed=2, learner=learner, **UNCERTAIN)
    print(f"{kills} kills, {len(load.sent):,} examples, {len(load.acknowledged):,} acknowledged: none lost, none twice")


def test_a_service_that_is_told_to_end_leaves_nothing_to_replay(tmp_path):
    folder = Folder(tmp_path / "model")
    begin(folder, None, "adagrad", {}, {})
    running = Running(folder, snapshot_every=3600.0)
    for number in range(20):
        httpx.post(f"{running.address}/v1/learn", json={"label": number % 2, "x": number})
    running.end()

    assert running.process.exitcode == 0
    (snapshot,) = folder.snapshots()
    assert snapshot.name == "snapshot-000000000020.ouzel"


def test_a_second_service_on_the_same_folder_is_refused(tmp_path):
    folder = Folder(tmp_path / "model")
    begin(folder, None, "adagrad", {}, {})
    running = Running(folder)
    try:
        with pytest.raises(AssertionError, match="ended before it listened"):
            Running(folder)
    finally:
        running.end()


def test_a_stopped_service_that_goes_on_has_lost_nothing(tmp_path):
    folder = Folder(tmp_path / "model")
    begin(folder, None, "adagrad", {}, {})
    running = Running(folder)
    httpx.post(f"{running.address}/v1/learn", json={"label": 1, "x": 1})
    os.kill(running.process.pid, signal.SIGSTOP)
    time.sleep(0.2)
    os.kill(running.process.pid, signal.SIGCONT)
    httpx.post(f"{running.address}/v1/learn", json={"label": 0, "x": 2})
    running.kill()

    assert Log(folder.path / "log.sqlite").last() == 2
