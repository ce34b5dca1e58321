"""`ouzel train --workers N`, as a user has it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from ouzel.cli.app import run
from tests.distributed.conftest import examples, svmlight_lines
from tests.forked import program
from torture.killing import strike, written


@pytest.fixture
def svm(tmp_path):
    path = tmp_path / "some.svm"
    path.write_text("\n".join(svmlight_lines(*examples(6000))) + "\n")
    return path


def ouzel(*arguments, **more):
    return subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, **more)


SPREAD = ("--learner", "adagrad", "--merge-every", 200, "--shards", 3)


def test_two_workers_give_the_bits_of_none_and_a_report(svm, tmp_path):
    one, two = tmp_path / "one.ouzel", tmp_path / "two.ouzel"

    alone = ouzel("train", svm, *SPREAD, "--workers", 0, "--model", one, "--json", "--holdout-every", 10)
    command = [
        sys.executable,
        "-m",
        "ouzel",
        "train",
        svm,
        *SPREAD,
        "--workers",
        2,
        "--model",
        two,
        "--holdout-every",
        10,
    ]
    spread = subprocess.run(list(map(str, command)), capture_output=True, text=True)

    assert (alone.returncode, spread.returncode) == (0, 0), alone.stderr + spread.stderr
    found = json.loads(alone.stdout)
    assert found["examples"] + found["holdout"][0]["examples"] == 6000
    assert found["spread"]["rounds"] > 3
    assert one.read_bytes() == two.read_bytes()
    assert "processes: 2 workers, 3 shards, merged every 200 examples" in spread.stderr
    assert "beyond the slowest worker" in spread.stdout
    assert ouzel("test", two, svm).returncode == 0


def test_a_training_that_is_killed_goes_on_to_the_same_bits(svm, tmp_path):
    one, two = tmp_path / "one.ouzel", tmp_path / "two.ouzel"
    assert ouzel("train", svm, *SPREAD, "--workers", 0, "--model", one).returncode == 0
    command = [sys.executable, "-m", "ouzel", "train", svm, *SPREAD, "--workers", 1, "--model", two]
    command += ["--checkpoint-every", 1]
    running = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    strike(running, written(two))

    resumed = ouzel("train", svm, *SPREAD, "--workers", 0, "--model", two, "--resume", two)

    assert resumed.returncode == 0, resumed.stderr
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--merge-every", "5"], "--merge-every is for learning in rounds; add --workers N, or --cluster ADDRESS"),
        (["--workers", "2", "--cluster", "tcp://x:1"], "give one of them"),
        (["--workers", "2", "--passes", "2"], "--passes does not go with --workers and --cluster"),
        (["--workers", "2", "--alarm", ".01"], "--alarm does not go with --workers and --cluster (lanes learn parts"),
        (["--workers", "1", "--merge-every", "x"], "--merge-every takes a number of examples, or auto; got 'x'"),
    ],
)
def test_what_does_not_go_together_is_said_in_a_line(svm, capsys, given, said):
    assert run(["train", str(svm), *given]) == 2
    assert said in capsys.readouterr().err


def test_a_scheduler_that_is_not_there_is_said_in_a_line(svm):
    program = (
        "import ouzel.distributed.dask_engine as engine; engine.CONNECTING = 1; from ouzel.cli import main; main()"
    )
    command = [sys.executable, "-c", program, "train", str(svm), "--cluster", "tcp://127.0.0.1:1"]
    found = subprocess.run(command, capture_output=True, text=True)

    assert found.returncode == 2
    assert "there is no Dask scheduler to be reached" in found.stderr
    assert "Traceback" not in found.stderr


def test_standard_input_is_not_spread(svm):
    found = ouzel("train", "-", "--format", "svmlight", "--workers", 0, input=svm.read_text())

    assert found.returncode == 2
    assert "put them in files first" in found.stderr
