"""A model knows what it has read: nothing is learnt twice, and what contradicts it is told."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

from ouzel.evaluation.holdout import Holdout
from ouzel.model.persistence import load_model, load_notes
from ouzel.streams.read import read
from ouzel.streams.sources import chunks
from ouzel.training.resumed_stream import ResumedStream
from ouzel.training.source_records import Ledger, Record
from tests.cli.conftest import lines_of

LINES = lines_of(3000)
OGD = ("--learner", "ogd")
BAD = "+1 1:x\n"


@pytest.fixture
def trained(ouzel, tmp_path, monkeypatch):
    """`trained(model, *arguments)`: train into a model of the folder, and what that said."""
    monkeypatch.chdir(tmp_path)

    def train(model, *arguments):
        return ouzel("train", *arguments, "--model", model, "--json")

    return train


def write(name, lines):
    """A file of the folder."""
    with open(name, "w") as file:
        file.writelines(lines)


def same(first, second):
    """Whether two models of the folder are the same bytes."""
    with open(first, "rb") as one, open(second, "rb") as other:
        return one.read() == other.read()


def cut_off(trained, model, *names, at, **contents):
    """Have a model whose run was cut off at an example of the last file."""
    write(names[-1], [*LINES[:at], BAD])
    ran = trained(model, *names, *OGD, *contents.get("options", ()))
    assert ran.status == 2
    assert f"{model} holds the first" in ran.err


def states(model):
    return [array.tobytes() for array in load_model(model).states[0]]


def contradicts(ran, pattern):
    """One line that says what contradicts, and how to learn nevertheless."""
    assert ran.status == 2
    assert re.search(pattern, ran.err.splitlines()[-1]), ran.err
    assert "--relearn" in ran.err
    assert "goes on after that" not in ran.err
    return True


@pytest.mark.parametrize("options", [(), ("--passes", "3"), ("--passes", "2", "--holdout-every", "10")])
def test_a_run_that_was_cut_off_ends_in_the_bytes_of_an_unbroken_one(trained, options):
    cut_off(trained, "m", "a.svm", at=2000, options=options)  # where examples held out are judged
    write("a.svm", LINES)

    gone_on = trained("m", "a.svm", "--resume", "m")
    trained("whole", "a.svm", *OGD, *options)

    assert gone_on.json["examples"] == (3000 if "--holdout-every" not in options else 2700)
    assert "going on after" in gone_on.err
    assert same("m", "whole")


def test_the_bytes_do_not_depend_on_the_folder_the_time_or_the_cuts(trained, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    write("a.svm", LINES)
    write("elsewhere/a.svm", LINES)

    trained("first", "a.svm", *OGD)
    monkeypatch.setattr(chunks, "CHUNK", 1000)
    trained("second", tmp_path / "elsewhere" / "a.svm", *OGD, "--checkpoint-every", "333")

    assert same("first", "second")
    assert str(tmp_path).encode() not in (tmp_path / "second").read_bytes()


def test_a_file_cut_short_is_a_contradiction(trained):
    cut_off(trained, "m", "a.svm", at=2000)
    before = states("m")
    write("a.svm", LINES[:1000])

    ran = trained("m", "a.svm", "--resume", "m")

    assert contradicts(ran, r"a\.svm: has 1,000 examples, but m has learnt 2,000 of it; give it as it was")
    assert states("m") == before


@pytest.mark.parametrize(
    ("name", "row"), [("a.svm", 0), ("a.svm", 5), ("a.svm", 1500), ("renamed.svm", 1500), ("a.svm", 1999)]
)
def test_a_change_of_what_was_learnt_is_a_contradiction(trained, row, name):
    cut_off(trained, "m", "a.svm", at=2000)
    write(name, [*LINES[:row], "-1 1:0.25\n", *LINES[row + 1 :]])

    assert contradicts(
        trained("m", name, "--resume", "m"), rf"{name}: has changed: its first ([\d,]+ )?examples? (is|are) not"
    )


def test_a_finished_file_that_has_changed_or_shrunk_is_a_contradiction(trained):
    write("a.svm", LINES)
    trained("m", "a.svm", *OGD)

    write("a.svm", [*LINES[:2500], "-1 1:0.25\n"])
    assert contradicts(trained("m", "a.svm", "--resume", "m"), "has 2,501 examples, but m has learnt 3,000")
    write("a.svm", [*LINES[:1500], "-1 1:0.25\n", *LINES[1500:]])
    assert contradicts(trained("m", "a.svm", "--resume", "m"), "has changed: its first 2,048 examples")


def test_files_in_another_order_are_a_contradiction(trained):
    write("a.svm", LINES[:900])
    write("c.svm", LINES[900:])
    cut_off(trained, "m", "c.svm", "a.svm", "b.svm", at=800)

    assert contradicts(
        trained("m", "b.svm", "a.svm", "--resume", "m"), r"another order: c\.svm, a\.svm, b\.svm; give them"
    )


def test_a_file_is_recognised_by_its_content(trained, tmp_path):
    cut_off(trained, "m", "a.svm", at=2000)
    (tmp_path / "moved").mkdir()
    for name in ("other.svm", "moved/a.svm"):
        write(name, LINES)
    (tmp_path / "packed.gz").write_bytes(gzip.compress("".join(LINES).encode()))
    trained("whole", "other.svm", *OGD)

    for name in ("other.svm", "moved/a.svm", "packed.gz"):
        ran = trained(f"from {name}".replace("/", " "), name, "--resume", "m")
        assert ran.json["examples"] == 3000
        assert states(f"from {name}".replace("/", " ")) == states("whole")
    assert same("from other.svm", "whole")


def test_more_rows_and_more_files_are_learnt_and_nothing_twice(trained):
    write("a.svm", LINES[:1000])
    trained("m", "a.svm", *OGD)
    write("a.svm", LINES[:1500])
    write("b.svm", LINES[1500:2000])
    write("all.svm", LINES[:2000])
    trained("whole", "all.svm", *OGD)

    ran = trained("m", "a.svm", "b.svm", "--resume", "m")

    assert ran.json["examples"] == 1000
    assert "a.svm: the first 1,000 examples were learnt before and are left out; --relearn learns" in ran.err
    assert states("m") == states("whole")


def test_a_run_that_was_cut_off_learns_what_was_added_meanwhile(trained):
    write("a.svm", LINES[:1000])
    cut_off(trained, "m", "a.svm", "b.svm", at=600)
    write("a.svm", LINES[:1010])
    write("b.svm", LINES[:700])
    write("c.svm", LINES[2000:])
    write("expected.svm", [*LINES[:1000], *LINES[:600], *LINES[1000:1010], *LINES[600:700], *LINES[2000:]])
    trained("expected", "expected.svm", *OGD)

    ran = trained("m", "a.svm", "b.svm", "c.svm", "--resume", "m")

    assert ran.json["examples"] == 2710
    assert states("m") == states("expected")


def test_the_same_content_again_is_told_and_not_learnt(trained):
    write("a.svm", LINES)
    write("copy.svm", LINES)
    first = trained("m", "a.svm", *OGD, "--passes", "2").json
    before = load_notes("m")[1]

    for name in ("a.svm", "copy.svm"):
        ran = trained("m", name, "--resume", "m")
        told = f"{name}: all 3,000 examples were learnt before and are left out; --relearn learns them once more"
        assert ran.err.splitlines()[-1] == told
        assert {**ran.json, **first, "seconds_reading": 0} == {**first, "seconds_reading": 0}
        assert load_notes("m")[1] == before


def test_again_learns_once_more(trained):
    write("a.svm", LINES)
    write("twice.svm", LINES * 2)
    trained("m", "a.svm", *OGD)
    trained("whole", "twice.svm", *OGD)

    ran = trained("m", "a.svm", "--resume", "m", "--relearn")

    assert ran.json["examples"] == 3000
    assert states("m") == states("whole")
    assert "--relearn needs --resume" in trained("new", "a.svm", "--relearn").err


def test_other_content_of_the_same_name_is_learnt_by_a_finished_model(trained):
    write("today.svm", LINES[:1000])
    trained("m", "today.svm", *OGD)
    write("today.svm", LINES[1000:])
    write("all.svm", LINES)
    trained("whole", "all.svm", *OGD)

    assert trained("m", "today.svm", "--resume", "m").json["examples"] == 2000
    assert states("m") == states("whole")
    write("today.svm", LINES[:1000])  # of the first run
    assert "all 1,000 examples were learnt before" in trained("m", "today.svm", "--resume", "m").err


def test_two_files_of_one_name_are_told_apart_by_what_follows(trained, tmp_path):
    for part in ("1", "2"):
        (tmp_path / part).mkdir()
        write(f"{part}/a.svm", [LINES[0], *LINES[int(part) * 1000 :]])
    trained("m", "1/a.svm", "2/a.svm", *OGD)

    for order in (("1/a.svm", "2/a.svm"), ("2/a.svm", "1/a.svm"), ("2/a.svm",)):
        ran = trained("m", *order, "--resume", "m")
        assert ran.status == 0
        assert ran.err.count("were learnt before") == len(order)


def test_a_file_changed_between_two_passes_is_a_contradiction(trained, monkeypatch):
    from ouzel.training.session import Session

    write("a.svm", LINES)
    opened, open_ = [], Session.open

    def opening(session):
        if opened:
            write("a.svm", [*LINES[:700], "-1 1:0.25\n", *LINES[701:]])
        opened.append(session)
        return open_(session)

    monkeypatch.setattr(Session, "open", opening)
    ran = trained("m", "a.svm", *OGD, "--passes", "2")

    assert ran.status == 2
    assert "a.svm: has changed: its first 1,024 examples are not those that the pass before has learnt" in ran.err


@pytest.mark.parametrize("format", ["csv", "parquet", "jsonl", "vw"])
def test_every_format_goes_on(trained, tmp_path, format):
    import pyarrow
    from pyarrow import csv, parquet

    random = np.random.default_rng(0)
    table = {
        "x": random.standard_normal(1500).round(3),
        "word": np.array(["sun", "rain", "Föhn"])[random.integers(0, 3, 1500)],
        "y": np.array(["dry", "wet"])[random.integers(0, 2, 1500)],
    }

    def put(rows):
        part = pyarrow.table({name: column[:rows] for name, column in table.items()})
        if format == "csv":
            csv.write_csv(part, "t.csv")
        elif format == "parquet":
            parquet.write_table(part, "t.parquet", row_group_size=400)
        else:
            rows_ = part.to_pylist()
            text = [json.dumps(row) if format == "jsonl" else _vw(row) for row in rows_]
            (tmp_path / f"t.{format}").write_text("\n".join(text) + "\n")

    put(1500)
    trained("whole", f"t.{format}", *OGD)
    put(700)
    trained("m", f"t.{format}", *OGD)
    put(1500)
    ran = trained("m", f"t.{format}", "--resume", "m")

    assert ran.json["examples"] == 800
    assert states("m") == states("whole")
    put(600)
    assert contradicts(trained("m", f"t.{format}", "--resume", "m"), "has 600 examples, but m has learnt 1,500")


def _vw(row):
    return f"{1 if row['y'] == 'dry' else -1} | x:{row['x']} {row['word']}"


def test_a_pipe_is_recognised_by_what_it_brings(trained):
    def piped(model, lines, *arguments):
        command = [sys.executable, "-m", "ouzel", "train", "-", "--model", model, "--json", *arguments]
        ran = subprocess.run(command, input="".join(lines), capture_output=True, text=True)
        return json.loads(ran.stdout) if ran.returncode == 0 else ran.stderr

    write("all.svm", LINES)
    trained("whole", "all.svm", *OGD)
    assert "m holds the first 1,400 examples" in piped("m", [*LINES[:1400], BAD], *OGD)

    assert "has changed: its first 1,400 examples" in piped("m", [*LINES[:1300], *LINES[1301:]], "--resume", "m")
    assert piped("m", LINES[:2000], "--resume", "m")["examples"] == 2000  # those before included
    assert piped("m", LINES[2000:], "--resume", "m")["examples"] == 1000
    assert states("m") == states("whole")
    assert piped("m", LINES[:2000], "--resume", "m")["examples"] == 1000  # of the run before
    assert states("m") == states("whole")


def test_groups_by_sizes_are_to_be_given_again_and_no_folder_is_noted(trained, tmp_path):
    write("a.svm", LINES[:40])
    (tmp_path / "sizes").write_text("8\n" * 10)
    ranking = ("--task", "ranking", "--learner", "adagrad", "--query", tmp_path / "sizes")
    trained("m", "a.svm", *ranking)
    write("a.svm", LINES[:80])

    assert (
        "was learnt with the groups of sizes; give them again with --query"
        in trained("m", "a.svm", "--resume", "m").err
    )
    ran = trained("m", "a.svm", "--resume", "m", "--query", tmp_path / "sizes")
    trained("whole", "a.svm", *ranking)

    assert ran.json["examples"] == 40
    assert np.array_equal(load_model("m").weights(), load_model("whole").weights())
    assert str(tmp_path).encode() not in (tmp_path / "m").read_bytes()


def test_a_model_without_notes_learns_what_it_is_given(trained, tmp_path):
    import ouzel as library

    write("a.svm", LINES)
    X = np.eye(7, dtype=np.float32)[1:3]  # column k is id k of the file, which counts from 1
    library.OnlineGradientClassifier().fit(X, [-1, 1]).save(tmp_path / "m")

    assert trained("m", "a.svm", "--resume", "m").json["examples"] == 3000


def test_only_what_was_learnt_is_noted(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("".join(LINES[:300]))
    ledger = Ledger()
    stream = ResumedStream(read(path), [str(path)], ledger)
    next(stream)

    noted = []
    for learnt in (0, 4, 300):
        stream.learnt(learnt)
        noted.append([record["examples"] for record in ledger.to_json()["sources"]])

    assert noted == [[], [4], [300]]
    assert [len(record.marks) for record in ledger.sources] == [9]


def test_records_of_earlier_versions_are_understood():
    record = {"name": "a.svm", "piped": False, "before": 0, "examples": 0, "digest": "", "marks": []}

    assert [found.to_json() for found in Record.from_json([record | {"size": 17}, record, "none"])] == [record, record]


def test_an_interruption_while_notes_are_taken_waits_until_they_are_whole(trained, monkeypatch):
    write("a.svm", LINES * 7)
    trained("whole", "a.svm", *OGD)
    mark, calls = Record.extend, []

    def interrupted(record, digest, block):
        calls.append(digest.examples)
        if len(calls) == 1:
            os.kill(os.getpid(), signal.SIGINT)
        mark(record, digest, block)

    monkeypatch.setattr(Record, "extend", interrupted)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background of a shell it is ignored

    first = trained("m", "a.svm", *OGD)
    last = trained("m", "a.svm", *OGD, "--resume", "m")

    assert (first.status, last.status) == (130, 0)
    assert same("whole", "m")


def test_an_interruption_waits_until_what_was_held_out_is_judged(trained, monkeypatch):
    write("a.svm", LINES * 7)
    trained("whole", "a.svm", *OGD, "--holdout-every", "7")
    monkeypatch.setattr(chunks, "CHUNK", 1000)  # bytes: some lines of a stretch
    divide, calls = Holdout.divide, []

    def interrupted(holdout, block, row):
        calls.append(row)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return divide(holdout, block, row)

    monkeypatch.setattr(Holdout, "divide", interrupted)
    signal.signal(signal.SIGINT, signal.default_int_handler)

    first = trained("m", "a.svm", *OGD, "--holdout-every", "7", "--checkpoint-every", "100")
    last = trained("m", "a.svm", "--resume", "m")

    assert (first.status, last.status) == (130, 0)
    assert len(calls) > 2
    assert same("whole", "m")


def test_an_error_counts_what_this_run_has_learnt(ouzel, trained):
    write("a.svm", LINES[:100])
    write("b.svm", [*LINES[100:110], BAD])
    write("c.svm", [BAD])
    trained("m", "a.svm", *OGD)

    unsaved, nothing = ouzel("train", "b.svm", "--resume", "m").err, trained("n", "c.svm", "--resume", "m").err

    assert "10 examples were learnt before it and no model was written" in unsaved
    assert "learnt before" not in nothing
