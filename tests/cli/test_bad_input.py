"""Bad input, kind by kind: one line on standard error, exit status 2, and nothing lost that was there before."""

import gzip
import lzma
import re

import numpy as np
import pyarrow
import pyarrow.ipc
import pytest

from ouzel.errors import DataError, OuzelError
from ouzel.model import persistence
from ouzel.model.persistence import load_model
from ouzel.model.tasks import classification
from ouzel.streams.read import read
from ouzel.streams.sources import chunks

GOOD = b"+1 1:1 2:0.5\n-1 1:-1 3:2\n"

FILES = {
    "empty": (b"", "is empty|no examples"),
    "only blank lines": (b"\n\n\n", "empty|no examples|cannot be told"),
    "only comments": (b"# nothing\n# here\n", "no examples|cannot be told"),
    "a label of two words": (GOOD + b"yes,no maybe 1:1\n", ":3:"),
    "no colon": (GOOD + b"+1 7\n", ":3:"),
    "a feature without a value": (GOOD + b"+1 7:\n", ":3:"),
    "a value that is not a number": (GOOD + b"+1 7:abc\n", ":3:"),
    "a value that is not finite": (GOOD + b"+1 7:nan\n", ":3:"),
    "an infinite value": (GOOD + b"+1 7:inf\n", ":3:"),
    "a value beyond float32": (GOOD + b"+1 7:1e60\n", ":3:"),
    "a negative id": (GOOD + b"+1 -7:1\n", ":3:"),
    "an id above the limit": (GOOD + b"+1 99999999999999:1\n", ":3:"),
    "an id that is not a number": (GOOD + b"+1 x7:1\n", ":3:"),
    "a label that is not finite": (GOOD + b"nan 7:1\n", ":3:"),
    "binary": (bytes(range(256)) * 20, "cannot be told|expected"),
    "a truncated gzip": (gzip.compress(GOOD * 5000)[:200], "damaged|ends early"),
    "a truncated xz": (lzma.compress(GOOD * 5000)[:60], "damaged|ends early"),
    "a damaged gzip": (gzip.compress(GOOD * 5000)[:-9] + b"garbage!!", "damaged"),
    "gzip with nothing in it": (gzip.compress(b""), "is empty|no examples"),
}


def check(ran, pattern):
    """One line beside the table of progress, and the status of bad input."""
    assert ran.status == 2, ran
    last = [line for line in ran.err.splitlines() if line.startswith("ouzel: ")]
    assert len(last) == 1, ran.err
    assert ran.err.rstrip().endswith(last[0]), ran.err
    assert re.search(pattern, last[0]), last[0]


@pytest.mark.parametrize("kind", FILES)
def test_a_bad_file_is_one_line(ouzel, tmp_path, kind):
    content, pattern = FILES[kind]
    path = tmp_path / "bad.svm"
    path.write_bytes(content)

    ran = ouzel("train", path)

    check(ran, pattern)
    assert "bad.svm" in ran.err
    assert ran.out == ""
    if pattern == ":3:":
        way_out = "; fix it, or skip such lines with --on-error skip"
        kept = "; 2 examples were learnt before it and no model was written; --model OUT writes one\n"
        assert ran.err.endswith(way_out + kept)
        assert ouzel("train", path, "--on-error", "skip", "--json").json["skipped"] == 1


def test_in_python_the_way_out_is_an_argument(tmp_path):
    path = tmp_path / "bad.svm"
    path.write_bytes(GOOD + b"+1 7:abc\n")

    with pytest.raises(DataError, match=r"skip such lines with on_error='skip'$"):
        list(read(path))
    assert sum(block.rows for block in read(path, on_error="skip")) == 2


TABLES = {
    "csv without a label": ("bad.csv", "a,b\n1,2\n", [], "label"),
    "csv with another label": ("bad.csv", "a,b\n1,2\n", ["--label", "c"], "no column 'c'"),
    "csv with an unknown text column": ("bad.csv", "a,y\n1,2\n", ["--text", "words"], "no column 'words'"),
    "csv with an unknown column to ignore": ("bad.csv", "a,y\n1,2\n", ["--ignore", "z"], "no column 'z'"),
    "csv with an uneven row": ("bad.csv", "a,y\n1,2\n1,2,3\n", [], "bad.csv"),
    "csv with a header alone": ("bad.csv", "a,y\n", [], "no examples"),
    "csv without a header": (
        "bad.csv",
        "1,x,2.5\n2,z,3\n",
        [],
        r"1, x, 2.5, … are not names.*--column-names A,B,… --label NAME",
    ),
    "names where numbers are learnt": ("bad.csv", "a,y\n1,no\n", ["--loss", "squared"], "label 'no' is not a number"),
    "bad lines alone": ("bad.svm", "1 x:x\n1 z:z\n", ["--on-error", "skip"], "all 2 lines are bad.*--format NAME"),
    "jsonl that is no JSON": ("bad.jsonl", '{"a": 1, "y": 1}\n{"a": \n', [], ":2"),
    "parquet that is none": ("bad.parquet", "PAR1 but no more\n", ["--label", "y"], "bad.parquet"),
    "vw without a bar": ("bad.vw", "1 | a:1\n1 a:1\n", [], ":2:"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_bad_table_is_one_line(ouzel, tmp_path, kind):
    name, content, options, pattern = TABLES[kind]
    (tmp_path / name).write_text(content)

    check(ouzel("train", tmp_path / name, *options), pattern)


ARGUMENTS = {
    "no such file": (["train", "absent.svm"], "absent.svm: there is no such file"),
    "a folder": (["train", "."], "is a folder"),
    "no file": (["train"], "Missing argument 'FILE': .*; see `ouzel train --help`"),
    "no file to predict": (["predict", "MODEL"], "Missing argument 'FILE': a file, or - for standard input; see"),
    "a command of others": (["tune", "FILE"], "tune is called compare here; see `ouzel compare --help`$"),
    "a service among files": (["send", "FILE", "http://a:1"], "not a file; name the service with --to http://a:1$"),
    "no such command": (["trian"], "No such command 'trian'"),
    "no such option": (["train", "FILE", "--lerner", "ogd"], "No such option: --lerner"),
    "no such learner": (["train", "FILE", "--learner", "adagrid"], "Did you mean 'adagrad'"),
    "no such loss": (["train", "FILE", "--loss", "hinged"], "Did you mean 'hinge'"),
    "no such setting": (["train", "FILE", "--set", "learning_rat=1"], "has no setting 'learning_rat'"),
    "a setting without a value": (["train", "FILE", "--set", "learning_rate"], "NAME=VALUE"),
    "a setting that is not a number": (
        ["train", "FILE", "--learning-rate", "fast"],
        "--learning-rate of auto .* 'fast'",
    ),
    "a penalty that is not a number": (
        ["train", "FILE", "--learner", "fobos", "--l1", "much"],
        "l1 must .* 'much'",
    ),
    "a negative penalty": (["train", "FILE", "--learner", "fobos", "--l1", "-1"], "l1 must be a number .* got -1"),
    "a budget that is no size": (["train", "FILE", "--learner", "awm", "--budget", "8 elephants"], "number|size"),
    "a budget for a learner without one": (["train", "FILE", "--budget", "8KB"], "has no setting 'budget'"),
    "no such format": (["train", "FILE", "--format", "excel"], "format must be one of"),
    "bits beyond reason": (["train", "FILE", "--bits", "60"], "bits must be a whole number from 1 to 31; got 60"),
    "a number that is none": (["train", "FILE", "--bits", "many"], "--bits takes a whole number; got 'many'"),
    "no such rule for errors": (["train", "FILE", "--on-error", "ignore"], "--on-error must be"),
    "holding out everything": (["train", "FILE", "--holdout-every", "1"], "--holdout-every must be 2 or more"),
    "no pass at all": (["train", "FILE", "--passes", "0"], "passes must be a whole number from 1 to 1,000; got 0"),
    "passes over standard input": (["train", "-", "--passes", "2"], "read once only"),
    "checkpoints of nothing": (["train", "FILE", "--checkpoint-every", "10"], "needs --model"),
    "a model that is a device": (["train", "FILE", "--model", "/dev/null"], "/dev/null: is not an ordinary file"),
    "predictions to a device": (["predict", "MODEL", "FILE", "-o", "/dev/null"], "/dev/null: is not an ordinary file"),
    "a model in no folder": (["train", "FILE", "--model", "nowhere/m"], "there is no folder"),
    "a plot of no kind": (["train", "FILE", "--plot", "error.xls"], "ends in .svg"),
    "a plot in no folder": (["train", "FILE", "--plot", "nowhere/error.png"], "there is no folder"),
    "no such limit": (["train", "FILE", "--limit", "lines=1GB"], "there is no limit 'lines' of reading"),
    "a limit without a size": (["train", "FILE", "--limit", "line"], "--limit takes NAME=VALUE.*--limit line=1GB"),
    "resuming from nothing": (["train", "FILE", "--resume", "absent"], "no such model file"),
    "resuming from data": (["train", "FILE", "--resume", "FILE"], "text, as examples are, not a model"),
    "predicting without a model": (["predict", "absent", "FILE"], "no such model file"),
    "the top of data": (["top", "FILE"], "not a model; `ouzel train FILE --model MODEL` makes one"),
    "a model after data": (["predict", "FILE", "MODEL"], "`ouzel predict MODEL FILE` has the model first"),
    "testing a model after data": (["test", "FILE", "MODEL"], "`ouzel test MODEL FILE` has the model first"),
    "predicting a model": (["predict", "MODEL", "MODEL"], "a model, not examples; name a file of examples"),
    "training on a model": (["train", "MODEL"], "a model, not examples; name a file of examples"),
    "labels of a log": (["train", "FILE", "--labels", "y"], "or name the column of labels with --label$"),
    "comparing no learner": (["compare", "FILE", "--learners", ","], "at least one learner"),
    "a range that is none": (["compare", "FILE", "--step-sizes", "small:large"], "a range is 2\\^-3:2\\^6"),
    "a range backwards": (["compare", "FILE", "--step-sizes", "2^3:2^1"], "a range"),
    "no such experiment": (["reproduce", "son-figure-99"], "no experiment 'son-figure-99'"),
}


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_bad_arguments_are_one_line(ouzel, small, kind, monkeypatch):
    arguments, pattern = ARGUMENTS[kind]
    monkeypatch.chdir(small.parent)
    if "MODEL" in arguments:
        ouzel("train", small, "--model", "MODEL")

    ran = ouzel(*[small if argument == "FILE" else argument for argument in arguments])

    check(ran, pattern)
    assert ran.out == ""


def test_bad_lines_can_be_skipped_and_are_counted(ouzel, tmp_path):
    path = tmp_path / "some.svm"
    path.write_bytes(GOOD + b"+1 7:abc\n" + GOOD)

    report = ouzel("train", path, "--on-error", "skip", "--json").json

    assert (report["examples"], report["skipped"]) == (4, 1)


def test_what_was_learnt_before_a_bad_line_is_kept_and_goes_on_when_the_line_is_mended(ouzel, tmp_path):
    path, model, whole = tmp_path / "late.svm", tmp_path / "m", tmp_path / "whole"
    path.write_bytes(GOOD * 50 + b"+1 7:abc\n" + GOOD)

    check(ouzel("train", path, "--model", model), ":101:.*m holds the first 100 examples")
    path.write_bytes(GOOD * 50 + b"+1 7:3\n" + GOOD)
    mended = ouzel("train", path, "--model", model, "--resume", model, "--json")
    ouzel("train", path, "--model", whole, "--json")

    assert mended.json["examples"] == 103
    assert load_model(model).states[0].table.tobytes() == load_model(whole).states[0].table.tobytes()


def test_a_truncated_archive_gives_what_it_holds(ouzel, tmp_path):
    path, model = tmp_path / "cut.svm.gz", tmp_path / "m"
    lines = [f"{(-1) ** k:+d} 1:{k} {k % 7 + 2}:1\n".encode() for k in range(20_000)]
    path.write_bytes(gzip.compress(b"".join(lines))[:-3000])

    ran = ouzel("train", path, "--learner", "ogd", "--model", model)

    learnt = load_model(model).examples
    check(ran, f"it ends early.*m holds the first {learnt:,} examples")
    assert learnt > 10_000


def test_an_answer_is_not_lost_with_the_disk(ouzel, small, tmp_path, monkeypatch):
    def full(*_):
        raise OuzelError("m: cannot be written (No space left on device)")

    monkeypatch.setattr(persistence, "save", full)
    ran = ouzel("train", small, "--model", tmp_path / "m")

    check(ran, "No space left on device")
    assert "error rate" in ran.out
    assert "model written" not in ran.out


def test_a_class_for_every_example_raises_a_doubt(ouzel, tmp_path):
    path = tmp_path / "numbers.svm"
    path.write_text("".join(f"{k} {k % 3}:1\n" for k in range(250)))

    ran = ouzel("train", path, "--learner", "arow")

    assert ran.status == 0
    assert "250 classes in 250 examples: is this the label?" in ran.err


def test_classes_beyond_memory_are_refused_before_they_take_it(ouzel, tmp_path, monkeypatch):
    path = tmp_path / "numbers.svm"
    path.write_text("".join(f"{k} {k % 3}:1\n" for k in range(50)))
    monkeypatch.setattr(classification, "memory", lambda: 1 << 18)

    check(ouzel("train", path, "--learner", "adagrad"), "classes need .* is this the label\\?.*--loss squared")


def test_features_without_room_leave_what_was_learnt_before_them(ouzel, tmp_path, monkeypatch):
    path = tmp_path / "wide.svm"
    path.write_bytes(GOOD * 50 + b"+1 4000000000:1\n")
    monkeypatch.setattr(chunks, "CHUNK", 64)

    ran = ouzel("train", path, "--learner", "adagrad", "--model", tmp_path / "m")

    check(ran, f"4000000000.*m holds the first {load_model(tmp_path / 'm').examples} examples")
    assert load_model(tmp_path / "m").examples >= 90


@pytest.mark.parametrize("command", ["train", "compare", "explain", "pmi", "predict"])
def test_a_limit_is_named_and_can_be_raised(ouzel, tmp_path, command):
    path, model = tmp_path / "long.csv", tmp_path / "m"
    path.write_text("y,x\n1,2\n0,a b" + " " * 5_000_000 + "\n")
    arguments = {
        "train": ["train", path],
        "predict": ["predict", model, path],
        "compare": ["compare", path, "--learners", "ogd"],
        "explain": ["explain", path, "--outlier-column", "y"],
        "pmi": ["pmi", path, "--column", "x"],
    }[command]
    ouzel("train", path, "--learner", "ogd", "--model", model, "--limit", "line=8MB")

    check(ouzel(*arguments, "--limit", "line=3MB"), "more than the limit of 3MB; .* raise it with --limit line=6MB")
    assert ouzel(*arguments, "--limit", "line=8MB").status == 0


def test_a_model_goes_on_with_other_limits(ouzel, small, tmp_path):
    model = tmp_path / "m"
    ouzel("train", small, "--model", model, "--limit", "line=1MB")

    assert ouzel("train", small, "--resume", model, "--model", model, "--limit", "line=2MB").status == 0


@pytest.mark.parametrize("command", [["explain", "--outlier-column", "label"], ["pmi", "--column", "city"]])
def test_damaged_tables_are_one_line_in_the_analyses_too(ouzel, tmp_path, command):
    path = tmp_path / "t.arrow"
    table = pyarrow.table({"label": [1, 0, 1], "city": ["Rome", "x", "y"]})
    with pyarrow.ipc.new_stream(path, table.schema) as file:
        file.write_table(table)
    offsets, wrong = (np.array(ends, np.int32).tobytes() for ends in ([0, 4, 5, 6], [0, 400, 5, 6]))
    path.write_bytes(path.read_bytes().replace(offsets, wrong))

    check(ouzel(command[0], path, *command[1:]), "t.arrow: is not a sound arrow file")
    check(ouzel("deltoids", path, path, "--column", "city"), "t.arrow: is not a sound arrow file")
