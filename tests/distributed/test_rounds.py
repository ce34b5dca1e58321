"""The same bits on every engine, with any number of workers, whatever dies meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import ouzel
from ouzel.distributed import partitions, train
from ouzel.distributed.engine import Serial
from ouzel.distributed.processes import Processes
from ouzel.distributed.training import interval_for
from ouzel.errors import OuzelError
from ouzel.model import persistence
from ouzel.model.model import Model
from tests.distributed.conftest import examples, svmlight_lines

ROUNDS = {"merge_every": 100, "lanes": 3}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(partitions, "SMALLEST", 1 << 8)


@pytest.fixture(scope="module")
def processes():
    engine = Processes(2)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True) as here,
        distributed.Client(here) as client,
    ):
        yield client


def dask_engine(client):
    from ouzel.distributed.dask_engine import Dask

    return Dask(client)


@pytest.mark.parametrize("learner", ["adagrad", "awm", "auto"])
def test_processes_give_the_bits_of_one_process(svm, tmp_path, processes, learner):
    one, two = (tmp_path / name for name in ("one.ouzel", "two.ouzel"))

    train(svm, learner, cluster=Serial(), output=one, **ROUNDS)
    train(svm, learner, cluster=processes, output=two, **ROUNDS)

    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("learner", ["adagrad-multiclass", "elementwise-ons", "awm-nce"])
def test_lanes_that_meet_classes_in_other_orders_learn_them_in_one(tmp_path, learner):
    paths = []
    for k, order in enumerate(["abc", "cba", "bca"]):
        paths.append(tmp_path / f"{k}.csv")
        paths[-1].write_text("label,x\n" + "".join(f"{order[i % 3]},{i % 3 + k}\n" for i in range(60)))

    training = train(list(map(str, paths)), learner, cluster=Serial(), merge_every=20, lanes=3)

    assert training.model.examples == 180
    assert sorted(training.model.classes.known) == ["a", "b", "c"]


@pytest.mark.parametrize("killed", [0, 2])
def test_a_cluster_of_dask_gives_the_bits_of_one_process(svm, tmp_path, cluster, killed):
    one, two = (tmp_path / name for name in ("one.ouzel", "two.ouzel"))

    def kill(training):
        if training.rounds <= killed:
            pids = cluster.run(os.getpid)
            os.kill(next(iter(pids.values())), signal.SIGKILL)

    train(svm, "adagrad", cluster=Serial(), output=one, **ROUNDS)
    train(svm, "adagrad", cluster=dask_engine(cluster), output=two, on_round=kill, **ROUNDS)

    assert one.read_bytes() == two.read_bytes()


def test_workers_that_are_killed_change_nothing(svm, tmp_path):
    one, two, engine = tmp_path / "one.ouzel", tmp_path / "two.ouzel", Processes(2)

    def kill(training):
        for pid in engine.processes() if training.rounds in (1, 3) else []:
            os.kill(pid, signal.SIGKILL)

    train(svm, "adagrad", cluster=Serial(), output=one, **ROUNDS)
    try:
        train(svm, "adagrad", cluster=engine, output=two, on_round=kill, **ROUNDS)
    finally:
        engine.close()

    assert one.read_bytes() == two.read_bytes()


def test_a_worker_that_is_killed_while_it_answers_is_replaced():
    engine, size = Processes(1), 100_000_000
    try:
        for k in range(6):
            job = engine.submit(bytes, size, shard=0)
            time.sleep(0.02 * k)
            os.kill(engine.processes()[0], signal.SIGKILL)
            assert len(engine.result(job)) == size
    finally:
        engine.close()


def test_a_driver_that_is_killed_goes_on_to_the_same_bits(svm, tmp_path):
    one, two = tmp_path / "one.ouzel", tmp_path / "two.ouzel"

    class StopError(Exception):
        pass

    def stop(training):
        if training.rounds == 3:
            raise StopError

    train(svm, "awm", cluster=Serial(), output=one, **ROUNDS)
    with pytest.raises(StopError):
        train(svm, "awm", cluster=Serial(), output=two, checkpoint_every=2, on_round=stop, **ROUNDS)
    training = train(svm, "awm", cluster=Serial(), output=two, resume=two, **ROUNDS)

    assert training.spread.rounds == training.rounds - 2
    assert one.read_bytes() == two.read_bytes()


def test_other_files_are_not_gone_on_with(svm, tmp_path):
    out, other = tmp_path / "out.ouzel", tmp_path / "other.svm"
    other.write_text(svm.read_text() * 2)
    train(svm, "ogd", cluster=Serial(), output=out, **ROUNDS)

    with pytest.raises(OuzelError, match="begun with other files"):
        train(other, "ogd", cluster=Serial(), output=out, resume=out, **ROUNDS)
    with pytest.raises(OuzelError, match="--merge-every 50 contradicts"):
        train(svm, "ogd", cluster=Serial(), output=out, resume=out, merge_every=50, lanes=3)


def test_a_worker_of_another_version_is_refused(svm, monkeypatch):
    from ouzel.distributed import rounds

    monkeypatch.setattr(rounds, "__version__", "99.0")

    with pytest.raises(OuzelError, match=r"a worker has Ouzel .*, and this training Ouzel 99.0"):
        train(svm, "ogd", cluster=Serial(), **ROUNDS)


def test_classes_that_one_lane_alone_has_are_learnt(tmp_path):
    X, y = examples(600)
    labels = ["cat" if label > 0 else "dog" for label in y]
    labels[550:] = ["bird"] * 50
    path = tmp_path / "some.csv"
    lines = [",".join(["label", *(f"f{j}" for j in range(X.shape[1]))])]
    lines += [",".join([label, *map(str, row)]) for label, row in zip(labels, X, strict=True)]
    path.write_text("\n".join(lines) + "\n")

    training = train(path, "adagrad", cluster=Serial(), reading={"label": "label"}, **ROUNDS)

    assert sorted(training.model.classes.known) == ["bird", "cat", "dog"]
    assert training.model.examples == 600
    assert training.report().confusion is not None
    assert sum(map(sum, training.report().confusion)) == 600


def test_bad_lines_and_parts_are_skipped_and_counted(tmp_path):
    lines = svmlight_lines(*examples(600))
    lines[100] = lines[500] = "1 x"
    path = tmp_path / "some.svm"
    path.write_text("\n".join(lines) + "\n")

    training = train(path, "ogd", cluster=Serial(), reading={"on_error": "skip"}, **ROUNDS)

    assert (training.model.examples, training.run.skipped) == (598, 2)


def test_strays_are_remarked_on_in_rounds_as_well_once_for_columns_and_once_for_labels(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 2))
    y = X[:, 0] + random.normal(size=900)
    X[[700, 800], 1], y[[600, 650]] = 999999.0, 1e6
    path, lines = tmp_path / "strays.svm", []
    path.write_text("".join(f"{y[i]:.6g} 1:{X[i, 0]:.6g} 2:{X[i, 1]:.6g}\n" for i in range(900)))

    def remember(training):
        lines.append(training.model.remark)

    train(path, "auto", loss="squared", cluster=Serial(), on_round=remember, **ROUNDS)

    shown = "\n".join(filter(None, lines)).splitlines()
    assert sorted(line[:32] for line in shown) == [
        "column 2: a row has the value 99",
        "label: a row has the value 10000",
    ]


@pytest.mark.parametrize("learner", ["auto", "adagrad", "adagrad-rda", "sop", "son-oja", "awm"])
def test_one_round_is_a_merge_of_the_models_of_its_shards(tmp_path, learner):
    paths = [tmp_path / f"{k}.svm" for k in range(3)]
    for k, path in enumerate(paths):
        path.write_text("\n".join(svmlight_lines(*examples(90, seed=k))) + "\n")

    training = train(list(map(str, paths)), learner, cluster=Serial(), merge_every=1000, lanes=3)

    parts = []
    for path in paths:
        parts.append(Model(learner, classes=training.model.classes.known))
        parts[-1].space = training.model.space
        for block in ouzel.read(str(path)):
            parts[-1].learn(block)
    test = next(iter(ouzel.read(str(paths[0]))))
    assert training.notes()["rounds"] == 1
    np.testing.assert_allclose(training.model.margins(test), ouzel.merge(parts).margins(test), rtol=1e-9, atol=1e-12)


def test_held_out_examples_are_predicted_and_not_learnt(svm):
    training = train(svm, "adagrad", cluster=Serial(), holdout_every=10, **ROUNDS)

    report = training.report()
    assert training.model.examples + report.holdout[0]["examples"] == 1200
    assert report.holdout[0]["error_rate"] < 0.4


def test_what_is_learnt_in_rounds_is_nearly_what_one_pass_learns(tmp_path):
    path = tmp_path / "many.svm"
    path.write_text("\n".join(svmlight_lines(*examples(12_000))) + "\n")

    rounds, whole = (
        train(path, "adagrad", cluster=Serial(), merge_every=500, lanes=lanes, holdout_every=10).run.report().holdout[0]
        for lanes in (4, 1)
    )

    assert rounds["error_rate"] < whole["error_rate"] + 0.03


def test_a_model_learnt_in_rounds_is_a_model(svm, tmp_path):
    out = tmp_path / "out.ouzel"
    training = train(svm, "awm", cluster=Serial(), output=out, **ROUNDS)

    assert persistence.load_model(out).top(3) == training.model.top(3)


def test_workers_end_when_their_driver_is_killed(svm, tmp_path):
    program = (
        "import sys, time\n"
        "from ouzel.distributed.processes import Processes\n"
        "if __name__ == '__main__':\n"
        "    engine = Processes(2)\n"
        "    jobs = [engine.submit(abs, -1, shard=k) for k in range(2)]\n"
        "    [engine.result(job) for job in jobs]\n"
        "    print(*engine.processes(), flush=True)\n"
        "    time.sleep(60)\n"
    )
    path = tmp_path / "driver.py"
    path.write_text(program)
    driver = subprocess.Popen([sys.executable, str(path)], stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    pids = [int(word) for word in driver.stdout.readline().split()]
    driver.kill()
    driver.wait()
    driver.stdout.close()

    deadline = time.monotonic() + 20
    while any(_runs(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(pids) == 2
    assert not any(_runs(pid) for pid in pids)


def _runs(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().split(")")[-1].split()[0] != "Z"
    except OSError:
        return False


def test_the_interval_of_merges_goes_by_the_sizes_of_models_and_examples():
    short, long = (interval_for(Model("awm"), nonzeros, "auto", None) for nonzeros in (20.0, 400.0))
    larger = interval_for(Model("awm", budget=65_536), 400.0, "auto", None)

    assert short == 65_536
    assert 5_000 <= long < larger < 10_000
    assert interval_for(Model("awm"), 20.0, 100, None) == 100
    with pytest.raises(OuzelError, match=r"merge_every is a number of examples of 1 or more"):
        interval_for(Model("awm"), 20.0, "often", None)
