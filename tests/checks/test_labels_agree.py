"""A label is the same class, no label, or an error of one line, through every entry point."""

import json
import warnings

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

import ouzel
from ouzel.cli.app import run
from ouzel.errors import OuzelError
from ouzel.streams.labels import is_infinite, label_of

pandas = pytest.importorskip("pandas")

ROWS = [{"x": float(k)} for k in range(4)]
INFINITE = ("Infinity", "inf", "-INF", "1e999", " inf ")
NONE = ("", " ", "nan", "NaN")
WORDS = ("infinite", "nano", "1e", "NA")
BAD = {"infinite": "expected a finite number", "missing": "leave out examples without a label"}


def labels_with(label):
    return ["a", "b", label, "b"]


def by_learn_one(label):
    model = ouzel.OnlineClassifier("adagrad")
    for row, given_label in zip(ROWS, labels_with(label), strict=True):
        model.learn_one(row, given_label)
    return model


def by_blocks(label):
    model = ouzel.OnlineClassifier("adagrad")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ouzel.progressive_validation(model, ouzel.blocks_from(list(zip(ROWS, labels_with(label), strict=True))))
    return model


def by_fit(kind, form):
    def fit(label):
        y = {"list": list, "array": np.array, "objects": lambda given: np.array(given, object), "series": pandas.Series}
        X = {"rows": ROWS, "frame": pandas.DataFrame(ROWS), "array": np.arange(4.0)[:, None]}[kind]
        return ouzel.OnlineClassifier("adagrad").fit(X, y[form](labels_with(label)))

    return fit


FITTED = {
    "learn_one": by_learn_one,
    "rows": by_fit("rows", "list"),
    "frame": by_fit("frame", "series"),
    "array": by_fit("array", "array"),
    "objects": by_fit("array", "objects"),
}


def write(label, path):
    rows = [{**row, "label": given_label} for row, given_label in zip(ROWS, labels_with(label), strict=True)]
    if path.suffix == ".csv":
        pandas.DataFrame(rows).to_csv(path, index=False)
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    else:
        start = "| x:" if path.suffix == ".vw" else "1:"
        path.write_text("".join(f"{row['label']} {start}{row['x']}\n" for row in rows))
    return path


def train(path, *flags):
    return run(["train", str(path), "--learner", "adagrad", "--model", f"{path}.m", "--json", *flags])


@pytest.mark.parametrize("label", INFINITE)
def test_an_infinite_number_in_words_is_an_error(label, tmp_path, capsys):
    for entry in (*FITTED.values(), by_blocks):
        with pytest.raises(OuzelError, match=f"label is .*{label}.*expected a finite number"):
            entry(label)
    with pytest.raises(OuzelError, match="expected a finite number"):
        ouzel.OnlineClassifier("adagrad").partial_fit([[1.0]], ["a"], classes=["a", label])

    for kind in ("csv", "parquet", "jsonl", "vw", "svm"):
        assert train(write(label, tmp_path / f"l.{kind}")) != 0
        line = capsys.readouterr().err
        assert "expected a" in line
        assert "finite" in line
        assert train(tmp_path / f"l.{kind}", "--on-error", "skip") == 0
        assert ouzel.load(tmp_path / f"l.{kind}.m").classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize("label", NONE)
def test_a_label_that_files_read_as_none_is_missing(label, tmp_path):
    for entry in FITTED.values():
        with pytest.raises(OuzelError, match=r"the label is missing .*; leave out examples without a label"):
            entry(label)

    assert by_blocks(label).classes_.tolist() == ["a", "b"]
    for kind in ("csv", "parquet", "jsonl"):
        assert train(write(label, tmp_path / f"l.{kind}")) == 0
        assert ouzel.load(tmp_path / f"l.{kind}.m").classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize("label", WORDS)
def test_words_that_look_like_them_are_classes(label, tmp_path):
    expected = sorted(["a", "b", label])
    kinds = ["parquet", "jsonl", "vw", "svm"] + ["csv"] * (label != "NA")  # which is missing in a cell of CSV

    models = {name: entry(label) for name, entry in {**FITTED, "blocks": by_blocks}.items()}
    for kind in kinds:
        assert train(write(label, tmp_path / f"l.{kind}")) == 0
        models[kind] = ouzel.load(tmp_path / f"l.{kind}.m")

    assert {name: model.classes_.tolist() for name, model in models.items()} == dict.fromkeys(models, expected)


@settings(max_examples=40, deadline=None)
@given(some.one_of(some.text("infatye+-.e019 N", max_size=8), some.floats().map(str)))
@example("Infinity")
@example("")
def test_what_python_learns_is_what_files_read(label):
    """A law: `label_of`, by which files read, decides for Python as well."""
    expected = "error" if is_infinite(label) else "missing" if label_of(label) is None else "class"

    for entry in (by_learn_one, FITTED["array"]):
        try:
            found = "class" if label in entry(label).classes_.tolist() else "another"
        except OuzelError as error:
            found = "error" if BAD["infinite"] in str(error) else "missing" if BAD["missing"] in str(error) else "?"
        assert found == expected
