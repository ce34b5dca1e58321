"""Every learner on every engine, with one to three workers of which five are killed: the bits of one process."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from ouzel.distributed import partitions, train
from ouzel.distributed.engine import Serial
from ouzel.distributed.processes import Processes
from ouzel.learners import catalogue

pytestmark = pytest.mark.long

ROUNDS = {"merge_every": 100, "lanes": 3}
KILLS = 5
WORKERS = [1, 2, 3]

RAY = """
import os, random, signal, sys, threading, time, warnings
from contextlib import suppress
warnings.simplefilter("ignore")
import psutil
import ray
from ouzel.distributed import partitions, train

folder, workers, learners = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
partitions.SMALLEST = 1 << 8
ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level=40)
chance = random.Random(workers)
AGENTS = "ray::Dashboard", "ray::RuntimeEnv"  # the node ends with them
kills, ended = 0, threading.Event()

def kill():
    global kills
    while not ended.wait(chance.uniform(0.0, 0.3)) and kills < %d:
        with suppress(psutil.NoSuchProcess):
            names = [(each, each.name()) for each in psutil.Process().children(recursive=True)]
            found = [each for each, name in names if name.startswith("ray::") and not name.startswith(AGENTS)]
            if found:
                chance.choice(found).send_signal(signal.SIGKILL)
                kills += 1

def wait(training):  # so that a fast training has its kills, too
    while kills < min(training.rounds, %d):
        time.sleep(0.01)

for learner in learners:
    kills = 0
    ended.clear()
    thread = threading.Thread(target=kill)
    thread.start()
    output = os.path.join(folder, learner + ".%%d" %% workers)
    given = {"merge_every": 100, "lanes": 3, "output": output, "on_round": wait}
    train(os.path.join(folder, "some.svm"), learner, cluster="ray", **given)
    ended.set()
    thread.join()
    print("killed", kills, learner, flush=True)
ray.shutdown()
"""


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(partitions, "SMALLEST", 1 << 8)


@pytest.mark.parametrize("learner", catalogue.LEARNERS)
def test_processes_of_this_machine(svm, tmp_path, learner):
    one = tmp_path / "one.ouzel"
    train(svm, learner, cluster=Serial(), output=one, **ROUNDS)
    chance = random.Random(learner)

    for workers in WORKERS:
        out, engine, kills = tmp_path / f"{workers}.ouzel", Processes(workers), [0]

        def kill(training, engine=engine, kills=kills):
            pids = engine.processes()
            if kills[0] < KILLS and pids:
                kills[0] += 1
                with suppress(ProcessLookupError):  # it was killed a round ago, and had nothing to do since
                    os.kill(chance.choice(pids), signal.SIGKILL)

        try:
            train(svm, learner, cluster=engine, output=out, on_round=kill, **ROUNDS)
        finally:
            engine.close()
        assert one.read_bytes() == out.read_bytes()


@pytest.fixture(scope="module", params=WORKERS)
def cluster(request):
    distributed = pytest.importorskip("distributed")
    import dask

    patient = dask.config.set(
        {"distributed.deploy.lost-worker-timeout": "1h"}
    )  # or a cluster of this kind gives one up
    with (
        patient,
        distributed.LocalCluster(
            n_workers=request.param, threads_per_worker=1, dashboard_address=None, processes=True
        ) as here,
        distributed.Client(here) as client,
    ):
        yield client


@pytest.mark.parametrize("learner", catalogue.LEARNERS)
def test_dask(svm, tmp_path, cluster, learner):
    from ouzel.distributed.dask_engine import Dask

    one, out, chance, kills = tmp_path / "one.ouzel", tmp_path / "out.ouzel", random.Random(learner), [0]

    def kill(training):
        pids = list(cluster.run(os.getpid, on_error="ignore").values())
        if kills[0] < KILLS and pids:
            kills[0] += 1
            os.kill(chance.choice(pids), signal.SIGKILL)

    train(svm, learner, cluster=Serial(), output=one, **ROUNDS)
    train(svm, learner, cluster=Dask(cluster), output=out, on_round=kill, **ROUNDS)

    assert one.read_bytes() == out.read_bytes()
    assert kills == [KILLS]


@pytest.mark.parametrize("workers", WORKERS)
def test_ray(svm, tmp_path, workers):
    pytest.importorskip("ray")
    pytest.importorskip("psutil")
    program = tmp_path / "program.py"
    program.write_text(RAY % (KILLS, KILLS))
    command = [sys.executable, str(program), str(tmp_path), str(workers), *catalogue.LEARNERS]

    ray = subprocess.run(
        command, env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}, capture_output=True, text=True, timeout=3000
    )

    assert ray.returncode == 0, ray.stderr[-2000:]
    killed = [line.split() for line in ray.stdout.splitlines() if line.startswith("killed")]
    assert killed == [["killed", str(KILLS), learner] for learner in catalogue.LEARNERS]
    for learner in catalogue.LEARNERS:
        one = tmp_path / "one.ouzel"
        train(svm, learner, cluster=Serial(), output=one, **ROUNDS)
        assert one.read_bytes() == (tmp_path / f"{learner}.{workers}").read_bytes(), learner
