"""`ouzel compile` as people run it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ouzel.cli.commands.compile import FRAMES, LISTING, SINGLE, Runs, remove_unused
from tests.printed import check


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cpu", "x86-64-v2"], "name it with --cache-dir DIR"),
        (
            ["--cpu", "i386", "--cache-dir", "kernels"],
            "--cpu takes one of x86-64, x86-64-v2, x86-64-v3, x86-64-v4, armv8-a",
        ),
        (["--prune"], "name it with --cache-dir DIR"),
        (["--learner", "no-such"], "no-such"),
    ],
)
def test_what_cannot_be_done_is_one_line(ouzel, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OUZEL_CACHE_DIR", raising=False)

    ran = ouzel("compile", *arguments)

    assert ran.status == 2
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.long
def test_nothing_is_left_to_compile(tmp_path):
    def run(*arguments):
        environment = {**os.environ, "OUZEL_CACHE_DIR": str(tmp_path / "kernels"), "NUMBA_DISABLE_JIT": "0"}
        return subprocess.run(
            [sys.executable, "-m", "ouzel", *arguments], env=environment, capture_output=True, text=True, check=True
        )

    whole = json.loads(run("compile", "--learner", "ogd", "--json").stdout)
    found = json.loads(run("compile", "--learner", "ogd", "--prune", "--json").stdout)
    check("compile", found)
    (tmp_path / "t.csv").write_text("label,city,price\n" + "1,Rome,2.5\n0,Bonn,1\n" * 20)
    ran = run("train", str(tmp_path / "t.csv"), "--learner", "ogd", "--model", str(tmp_path / "m"))

    assert 0 < found["kernels"] < whole["kernels"]
    assert "compiling" not in ran.stdout


def test_first_runs_are_those_of_the_commands_and_options_that_a_wheel_promises(tmp_path):
    with Runs(["auto", "ogd"], None) as runs:
        ran = [" ".join(command) for _, command in runs._commands()]

    for said in (
        "--text",
        "--alarm",
        "--class-weight",
        "--explain",
        "compare two.svm --learners auto,ogd",
        "predict_proba_one",
    ):
        assert any(said in command for command in ran), said
    assert any(FRAMES in command for command in ran)
    assert {"large.arrow", "large.parquet"} <= set(runs.files)


@pytest.mark.parametrize("program", [FRAMES, SINGLE])
def test_the_programs_of_first_runs_end_well(program):
    subprocess.run([sys.executable, "-c", program, "adagrad"], check=True, timeout=300)


def test_pruning_leaves_what_is_opened_and_removes_the_rest(tmp_path):
    (tmp_path / "module").mkdir()
    names = ("used.nbc", "used.nbi", "part.nbc", "part.nbi")
    for name in names:
        (tmp_path / "module" / name).write_bytes(b"")
    program = "import sys; open(sys.argv[1]).close(); open(sys.argv[2]).close()"
    opened = [str(tmp_path / "module" / name) for name in names[:2]]
    notes = tmp_path / "notes.txt"

    subprocess.run([sys.executable, "-c", LISTING, str(notes), "-c", program, *opened], check=True)
    remove_unused(tmp_path, {Path(line) for line in notes.read_text().splitlines()})

    assert sorted(path.name for path in (tmp_path / "module").iterdir()) == ["used.nbc", "used.nbi"]
