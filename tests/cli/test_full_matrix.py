"""Learners with a full matrix take six columns from any entry point: names hash to 18 bits, and need few slots."""

import json
import zlib

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import ouzel as package
from ouzel.model import persistence

COLUMNS = ["age", "height", "income", "rooms", "score", "weight"]
LEARNERS = pytest.mark.parametrize("learner", ["ons", "sop-full"])


@pytest.fixture
def six(tmp_path):
    """A folder of one table of six numeric columns in several formats."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6)).astype(np.float32).round(3)
    words = np.where(X @ np.arange(-2.0, 4.0) > 0.0, "yes", "no").tolist()
    rows = [
        {**dict(zip(COLUMNS, map(float, map(str, row)), strict=True)), "label": word}
        for row, word in zip(X, words, strict=True)
    ]
    header = ",".join([*COLUMNS, "label"])
    cells = [",".join(map(str, row.values())) for row in rows]
    (tmp_path / "six.csv").write_text("\n".join([header, *cells]))
    (tmp_path / "first.csv").write_text("\n".join([header, *cells[:50]]))
    (tmp_path / "second.csv").write_text("\n".join([header, *cells[50:]]))
    (tmp_path / "six.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    turned = [dict(reversed(row.items())) for row in rows]
    (tmp_path / "turned.jsonl").write_text("".join(json.dumps(row) + "\n" for row in turned))
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "six.parquet")
    vw = [" ".join(f"{name}:{row[name]}" for name in COLUMNS) for row in rows]
    signs = [1 if row["label"] == "yes" else -1 for row in rows]
    (tmp_path / "six.vw").write_text("".join(f"{sign} | {text}\n" for sign, text in zip(signs, vw, strict=True)))
    ids = [4_000_000_000 - zlib.crc32(name.encode()) % 1_000_000 for name in COLUMNS]
    numbers = [" ".join(f"{ids[k]}:{row[name]}" for k, name in enumerate(COLUMNS)) for row in rows]
    (tmp_path / "six.svm").write_text("".join(f"{sign} {text}\n" for sign, text in zip(signs, numbers, strict=True)))
    return tmp_path


def trained(ouzel, path, learner, *options):
    model = path.with_suffix(path.suffix + ".model")
    label = ["--label", "label"] if path.suffix in (".csv", ".jsonl", ".parquet") else []
    ran = ouzel("train", path, "--learner", learner, *label, "--model", model, *options)
    assert ran.status == 0, ran.err
    return model


def margins(ouzel, model, path):
    ran = ouzel("predict", model, path, "--only", "margins")
    assert ran.status == 0, ran.err
    return np.array(ran.out.split(), float)


@LEARNERS
def test_csv_json_and_parquet_teach_the_same_and_predict_in_any_order_of_columns(ouzel, six, learner):
    models = [trained(ouzel, six / f"six.{kind}", learner) for kind in ("csv", "jsonl", "parquet")]
    found = [margins(ouzel, model, six / asked) for model in models for asked in ("six.csv", "turned.jsonl")]

    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
    assert persistence.load_model(models[0]).slots == 7


@LEARNERS
def test_names_in_vw_text_and_large_numbers_are_learnt(ouzel, six, learner):
    by_column = margins(ouzel, trained(ouzel, six / "six.csv", learner), six / "six.csv")

    for kind in ("vw", "svm"):
        model = trained(ouzel, six / f"six.{kind}", learner)
        found = margins(ouzel, model, six / f"six.{kind}")
        np.testing.assert_allclose(np.abs(found), np.abs(by_column), rtol=1e-3, atol=1e-5)
        assert ouzel("top", model, "-n", "3").status == 0
        assert ouzel("predict", model, six / f"six.{kind}", "--explain", "2").status == 0


@LEARNERS
def test_dictionaries_learnt_one_by_one_are_the_file(ouzel, six, learner):
    kind = package.OnlineClassifier(learner)
    rows = [json.loads(line) for line in (six / "six.jsonl").read_text().splitlines()]

    for row in rows:
        label = row.pop("label")
        kind.learn_one(row, label)

    told = margins(ouzel, trained(ouzel, six / "six.jsonl", learner), six / "six.jsonl")
    np.testing.assert_array_equal([kind.predict_one(row) == "yes" for row in rows], told > 0.0)
    by_name = dict(kind.top_weights())
    assert set(by_name) - {"(intercept)"} == set(COLUMNS)


@LEARNERS
def test_a_training_that_is_resumed_predicts_what_one_reading_predicts(ouzel, six, learner):
    whole = six / "whole.model"
    ran = ouzel(
        "train", six / "first.csv", six / "second.csv", "--label", "label", "--learner", learner, "--model", whole
    )
    assert ran.status == 0, ran.err
    part = six / "part.model"
    assert ouzel("train", six / "first.csv", "--label", "label", "--learner", learner, "--model", part).status == 0

    ran = ouzel("train", six / "second.csv", "--resume", part, "--model", part)

    assert ran.status == 0, ran.err
    np.testing.assert_array_equal(margins(ouzel, part, six / "six.csv"), margins(ouzel, whole, six / "six.csv"))


@LEARNERS
def test_workers_that_meet_columns_in_other_orders_make_one_model(ouzel, six, learner):
    given = (six / "six.jsonl", six / "turned.jsonl", "--label", "label", "--learner", learner)
    ran = ouzel("train", *given, "--workers", "2", "--merge-every", "30", "--model", six / "rounds.model")
    assert ran.status == 0, ran.err

    found = margins(ouzel, six / "rounds.model", six / "six.csv")

    labels = [json.loads(line)["label"] for line in (six / "six.jsonl").read_text().splitlines()]
    assert np.mean((found > 0.0) == (np.array(labels) == "yes")) > 0.85


def test_all_of_them_are_compared(ouzel, six):
    learners = "ons,adagrad-full,sop-full,arow-full"

    ran = ouzel("compare", six / "six.csv", "--label", "label", "--learners", learners, "--json")

    assert ran.status == 0, ran.err
    assert {entry["learner"] for entry in ran.json} == set(learners.split(","))
    assert all(entry["error_rate"] < 0.3 for entry in ran.json)


def test_an_exported_model_goes_by_the_ids_of_names(ouzel, six):
    pytest.importorskip("onnx")
    model = trained(ouzel, six / "six.csv", "ons", "--standardize")

    ran = ouzel("export", model, six / "six.onnx")

    assert ran.status == 0, ran.err
