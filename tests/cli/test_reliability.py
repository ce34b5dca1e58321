"""Nothing learnt is lost: to closed or full outputs, other processes, signals, or a disk that takes no more."""

import array
import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time

import pytest

from ouzel import files
from ouzel.errors import OuzelError
from ouzel.model import persistence
from ouzel.model.persistence import load_model
from tests.cli.conftest import lines_of
from tests.forked import program
from torture.killing import strike, written

OUZEL = [sys.executable, "-m", "ouzel"]
OGD = ["--learner", "ogd"]


def shell(command, folder, ouzel=f"{sys.executable} -m ouzel", **environment):
    """Run a line of shell in which `ouzel` is this one; what came of it."""
    line = command.replace("ouzel ", f"{ouzel} ")
    return subprocess.run(
        ["sh", "-c", line], cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )


@pytest.fixture
def folder(tmp_path):
    """A folder with small.svm, and words.csv with names beyond ASCII."""
    (tmp_path / "small.svm").write_text("".join(lines_of(300)))
    (tmp_path / "words.csv").write_text("Wetter,y\n" + "Föhn…,trocken\nrain,naß\n" * 50, encoding="utf-8")
    return tmp_path


ANSWERS = {
    "train": "ouzel train small.svm --learner ogd --model m --plot p.png",
    "explain": "ouzel explain words.csv --label y --label-positive naß --model m --plot p.png",
    "deltoids": "ouzel deltoids words.csv words.csv --column Wetter --model m --plot p.png",
    "pmi": "ouzel pmi words.csv --column Wetter --model m --plot p.png",
}


@pytest.mark.parametrize("output", ["| true", "> /dev/full", ">&-"])
@pytest.mark.parametrize("command", ["train", "explain"])
def test_the_files_are_written_whoever_reads_the_answer(folder, command, output):
    begun = (
        {} if output == ">&-" else {"ouzel": program()}
    )  # where it is closed Python must be begun, else it may be forked
    ran = shell(f"({ANSWERS[command]}; echo $? >&3) 3>status {output}", folder, **begun)

    assert persistence.load_model(folder / "m").examples
    assert (folder / "p.png").read_bytes().startswith(b"\x89PNG")
    assert "Traceback" not in ran.stderr
    if output != "| true":
        assert (folder / "status").read_text() == "2\n"
        assert ran.stderr.splitlines()[-1].startswith("ouzel: standard output: ")
        assert ran.stderr.splitlines()[-1].endswith(
            "; model written to m; " + {"train": "curve", "explain": "picture"}[command] + " drawn in p.png"
        )


def test_the_model_is_on_disk_before_the_first_word(ouzel, folder, monkeypatch):
    from ouzel.cli.ui import training_report

    seen = []
    monkeypatch.setattr(training_report, "show_answer", lambda *_: seen.append((folder / "m").exists()))
    ouzel("train", folder / "small.svm", *OGD, "--model", folder / "m")

    assert seen == [True]


@pytest.mark.parametrize(
    "command", ["train words.csv --learner ogd", "explain words.csv --label y --label-positive trocken"]
)
def test_names_beyond_the_encoding_are_escaped(folder, command):
    ascii_only = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = shell(f"ouzel {command} --model m", folder, **ascii_only)

    assert ran.returncode == 0, ran.stderr
    assert "Wetter=F\\xf6hn" in ran.stdout
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        ("COLUMNS=0 ouzel train small.svm --learner ogd", 0, ""),
        ("ouzel train small.svm --learner ogd 2>&-", 0, ""),
        ("ouzel train small.svm --learner ogd 2>/dev/full", 0, ""),
        ("ouzel learners 2>&-", 0, ""),
        ("ouzel learners >&-", 2, "ouzel: standard output: Bad file descriptor\n"),
        ("ouzel train - <&-", 2, "ouzel: standard input: is closed; name a file, or pipe the data in\n"),
        ("ouzel train absent.svm 2>&-", 2, ""),
    ],
)
def test_closed_streams_and_no_width_are_no_traceback(folder, command, status, message):
    ran = shell(command, folder)

    assert ran.returncode == status, ran.stderr
    assert bool(ran.stdout) == (status == 0)
    assert ran.stderr.endswith(message)
    assert "Traceback" not in ran.stderr
    if "COLUMNS" in command:
        assert "error so far" in ran.stderr
        assert "most important features" in ran.stdout


def learning(folder, *arguments):
    """A training of standard input that has learnt 300 examples and waits for more."""
    command = [*OUZEL, "train", "-", *OGD, "--model", "m", *arguments]
    ran = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    ran.stdin.write((folder / "small.svm").read_bytes())
    while ran.stderr.readline().split()[:1] != [b"256"]:
        assert ran.poll() is None
    time.sleep(0.2)
    return ran


def test_a_second_training_into_one_model_is_told_who_holds_it(folder):
    first = learning(folder)
    second = shell("ouzel train small.svm --learner ogd --model m", folder)
    _, err = first.communicate(b"")

    assert second.returncode == 2
    assert second.stderr.count("\n") == 1
    assert f"ouzel: m: process {first.pid} on " in second.stderr
    assert "train - --learner ogd --model m) is at work on this file; wait for it to end, stop it" in second.stderr
    assert first.returncode == 0, err
    assert load_model(folder / "m").examples == 300
    assert sorted(entry.name for entry in folder.iterdir()) == ["m", "small.svm", "words.csv"]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_a_signal_to_end_saves_what_was_learnt(folder, number, status):
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the signal is ignored here, as it is under nohup")
    ran = learning(folder)
    ran.send_signal(number)
    ran.wait(timeout=60)  # its input stays open: it does not end because nothing more comes
    _, err = ran.communicate()

    assert ran.returncode == status
    assert b"ouzel: stopped; m holds the first 300 examples" in err
    assert load_model(folder / "m").examples == 300
    assert sorted(entry.name for entry in folder.iterdir()) == ["m", "small.svm", "words.csv"]


@pytest.mark.parametrize(
    ("arguments", "at_work"),
    [
        (("compare", "small.svm"), "ouzel.comparison.one_pass.learn_side_by_side"),
        (("convert", "small.svm", "small.arrow"), "ouzel.streams.convert.convert"),
    ],
)
def test_a_command_that_is_interrupted_says_that_it_stopped(ouzel, folder, monkeypatch, arguments, at_work):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.chdir(folder)
    monkeypatch.setattr(at_work, interrupt)
    ran = ouzel(*arguments)

    assert ran.status == 130
    assert ran.err.splitlines()[-1] == "ouzel: stopped"


def test_an_analysis_that_is_told_to_end_saves_and_shows_what_it_found(folder):
    command = [*OUZEL, "explain", "-", "--format", "csv", "--label", "y", "--label-positive", "rain", "--model", "m"]
    ran = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    ran.stdin.write((folder / "words.csv").read_bytes())
    waiting = array.array("i", [1])
    while waiting[0]:
        time.sleep(0.05)
        fcntl.ioctl(ran.stdin, termios.FIONREAD, waiting)
    time.sleep(0.5)
    ran.send_signal(signal.SIGTERM)
    out, _ = ran.communicate(timeout=60)

    assert ran.returncode == 143
    assert b"stopped; " in out
    assert load_model(folder / "m")


def test_a_signal_that_was_ignored_stays_ignored(folder):
    ran = shell("trap '' HUP; ouzel train small.svm --learner ogd --model m & kill -HUP $!; wait $!", folder)

    assert ran.returncode == 0, ran.stderr
    assert load_model(folder / "m").examples == 300


def test_a_killed_training_leaves_no_lock_and_goes_on_to_the_same_bytes(folder):
    (folder / "big.svm").write_text("".join(lines_of(3000)) * 10)
    command = [*OUZEL, "train", "big.svm", *OGD, "--json", "--checkpoint-every", "2000", "--model"]
    subprocess.run([*command, "whole"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    ran = subprocess.Popen([*command, "m"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    strike(ran, written(folder / "m"))
    subprocess.run([*command, "m", "--resume", "m"], cwd=folder, check=True, capture_output=True)

    assert (folder / "m").read_bytes() == (folder / "whole").read_bytes()
    assert sorted(entry.name for entry in folder.iterdir()) == ["big.svm", "m", "small.svm", "whole", "words.csv"]


@pytest.mark.parametrize("command", ["explain", "deltoids", "pmi"])
def test_an_analysis_writes_the_same_bytes_twice(ouzel, folder, monkeypatch, command):
    monkeypatch.chdir(folder)
    arguments = ANSWERS[command].split()[1:-2]
    for name in ("first", "second"):
        assert ouzel(*arguments[:-1], name).status == 0

    assert (folder / "first").read_bytes() == (folder / "second").read_bytes()


def test_a_folder_that_vanishes_is_one_line_and_the_answer_stays(ouzel, folder, monkeypatch):
    from ouzel.evaluation.progressive import Run

    (folder / "models").mkdir()
    report = Run.to_json

    def remove(run):
        for entry in (folder / "models").iterdir():
            entry.unlink()
        (folder / "models").rmdir()
        return report(run)

    monkeypatch.setattr(Run, "to_json", remove)
    ran = ouzel("train", folder / "small.svm", *OGD, "--model", folder / "models" / "m")

    assert ran.status == 2
    assert "error rate" in ran.out
    assert "models/m: there is no folder" in ran.err.splitlines()[-1]


def test_a_disk_that_fills_at_a_checkpoint_leaves_the_checkpoint_before(ouzel, folder, monkeypatch):
    replace, done = os.replace, []

    def full(*places):
        done.append(places)
        if len(done) > 1:
            raise OSError(28, "No space left on device")
        replace(*places)

    monkeypatch.setattr(files.os, "replace", full)
    ran = ouzel("train", folder / "small.svm", *OGD, "--model", folder / "m", "--checkpoint-every", "100")

    assert ran.status == 2
    assert "m: cannot be written (No space left on device)" in ran.err
    assert "m holds the first 100 examples" in ran.err
    assert load_model(folder / "m").examples == 100


def test_an_analysis_that_cannot_be_saved_is_shown(ouzel, folder, monkeypatch):
    def full(*_):
        raise OuzelError("m: cannot be written (No space left on device)")

    monkeypatch.setattr(persistence, "save", full)
    monkeypatch.chdir(folder)
    ran = ouzel(*ANSWERS["explain"].split()[1:], "--json")

    assert ran.status == 2
    assert json.loads(ran.out)["rows"] == 100
    assert (folder / "p.png").exists()
    assert ran.err.splitlines()[-1] == "ouzel: m: cannot be written (No space left on device)"
