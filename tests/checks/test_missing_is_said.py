"""A value that is missing is called so by explanations, and not 0, whatever entry point it comes in by."""

import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import ouzel
from ouzel.cli.app import run
from ouzel.streams.missing import NA_FEATURE

pandas = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore:no better than a constant")  # of 200 rows

RNG = np.random.default_rng(0)
WHOLE = [
    {"age": float(RNG.integers(20, 60)), "job": str(RNG.choice(["a", "b", "c"])), "n": float(RNG.normal())}
    for _ in range(200)
]
LABELS = ["yes" if row["age"] + 3.0 * row["n"] > 40.0 else "no" for row in WHOLE]
HOLES = [{**row, "age": None, "job": None} if k % 5 == 0 else row for k, row in enumerate(WHOLE)]
LEARNERS = ("auto", "adagrad", "awm")
GAP = {"age": None, "job": None, "n": 1.0}
MISSING = {"age": NA_FEATURE, "job": NA_FEATURE, "n": 1.0}
WORD = {"age": 0.0, "job": "a", "n": 1.0}


def values(entry, learner):
    """What an explanation says that columns are; a budgeted learner knows only those of the example."""
    found = {column["name"]: column["value"] for column in entry["columns"] if not column["name"].startswith("(")}
    return {**MISSING, **found} if learner == "awm" else found


def learnt(learner, rows, by):
    model = ouzel.OnlineClassifier(learner)
    if by == "frame":
        return model.fit(pandas.DataFrame(rows), LABELS)
    for row, label in zip(rows, LABELS, strict=True):
        model.learn_one(row, label)
    return model


@pytest.mark.parametrize("by", ["frame", "learn_one"])
@pytest.mark.parametrize("rows", [WHOLE, HOLES], ids=["never before", "before"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_python_says_so(learner, rows, by):
    model = learnt(learner, rows, by)

    for gap in (GAP, {**GAP, "age": float("nan")}, {**GAP, "job": float("nan")}, {**GAP, "job": pandas.NA}):
        (entry,) = model.explain_one(gap)
        assert values(entry, learner) == MISSING
    assert entry["margin"] == pytest.approx(sum(column["contribution"] for column in entry["columns"]))
    names = [feature["name"] for feature in entry["features"]]
    assert {"age", "job"}.isdisjoint(names)
    if learner != "awm":
        assert {f"age={NA_FEATURE}", f"job={NA_FEATURE}"} <= {*names}
        assert values(model.explain_one(WORD)[0], learner) == WORD
        (age,) = (line for line in model.debug_one(GAP).splitlines() if line.startswith("age"))
        assert age.split()[1] == NA_FEATURE


@pytest.mark.parametrize("rows", [WHOLE, HOLES], ids=["never before", "before"])
@pytest.mark.parametrize("learner", ["auto", "adagrad"])
def test_files_say_so(learner, rows, tmp_path, capsys):
    learnt(learner, rows, "frame").save(tmp_path / "m")
    (tmp_path / "t.jsonl").write_text(json.dumps(GAP) + "\n")
    (tmp_path / "t.csv").write_text("age,job,n\n,,1\n")
    (tmp_path / "no_age.csv").write_text("job,n\n,1\n")
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([GAP, WORD]).slice(0, 1), tmp_path / "t.parquet")

    for name in ("t.jsonl", "t.csv", "no_age.csv", "t.parquet"):
        capsys.readouterr()
        assert run(["predict", str(tmp_path / "m"), str(tmp_path / name), "--explain", "5"]) == 0
        said = capsys.readouterr().out
        assert f"age={NA_FEATURE} " in said
        assert f"job={NA_FEATURE} " in said


def test_columns_of_arrays_are_missing_too():
    X = np.array([[row["age"], row["n"]] for row in WHOLE])
    model = ouzel.OnlineClassifier("adagrad").fit(X, LABELS)

    (entry,) = model.explain_one({0: None, 1: 1.0})

    assert {column["name"]: column["value"] for column in entry["columns"][:2]} == {"0": NA_FEATURE, "1": 1.0}
