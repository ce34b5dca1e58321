"""Columns of dates are seconds and calendar parts, the same from every format."""

import datetime
import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import ouzel
from ouzel.sketches.hashing import feature_id
from ouzel.streams.dates import date_parts

TIMES = ["2024-01-31T12:30:00", None, "2023-07-04T00:00:00", "1969-12-31T23:59:59"]
LABELS = [1, 0, 1, 0]


def features_of(stream):
    """The features {id: value} of each example."""
    return [
        dict(zip(block.indices[a:b].tolist(), block.values[a:b].tolist(), strict=True))
        for block in stream
        for a, b in zip(block.offsets[:-1].astype(int), block.offsets[1:].astype(int), strict=True)
    ]


def moments():
    return [None if time is None else datetime.datetime.fromisoformat(time) for time in TIMES]


def of_every_format(path):
    (path / "t.csv").write_text(
        "when,y\n" + "".join(f"{time or 'NA'},{y}\n" for time, y in zip(TIMES, LABELS, strict=True))
    )
    (path / "t.jsonl").write_text(
        "".join(json.dumps({"when": t, "y": y}) + "\n" for t, y in zip(TIMES, LABELS, strict=True))
    )
    table = pyarrow.table({"when": moments(), "y": LABELS})
    pyarrow.parquet.write_table(table, path / "t.parquet")
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        yield name, ouzel.read(path / name, dates=["when"])
    yield "frame", ouzel.blocks_from(table.drop_columns("y"), LABELS, dates="w*")
    rows = [({"when": moment}, y) for moment, y in zip(moments(), LABELS, strict=True)]
    yield "dictionaries", ouzel.blocks_from(rows, dates="when")
    yield "words", ouzel.blocks_from([({"when": t}, y) for t, y in zip(TIMES, LABELS, strict=True)], dates="when")


def test_dates_are_the_same_features_in_every_format(tmp_path):
    seconds = datetime.datetime(2024, 1, 31, 12, 30, tzinfo=datetime.UTC).timestamp()
    parts = {feature_id(name): 1.0 for name in ("when.month=1", "when.weekday=Wed", "when.hour=12")}

    for name, stream in of_every_format(tmp_path):
        found = features_of(stream)
        assert found[0] == {feature_id("when"): float(np.float32(seconds)), **parts}, name
        assert found[1] == {feature_id("when=(missing)"): 1.0}, name
        assert found[3][feature_id("when")] == -1.0, name
        assert len(found[2]) == 4, name


def test_a_day_has_no_hour_and_a_time_zone_counts():
    assert date_parts("2024-01-31") == (1706659200.0, {"month": "1", "weekday": "Wed"})
    assert date_parts("2024-01-31T12:30+02:00") == (
        1706659200.0 + 10.5 * 3600,
        {"month": "1", "weekday": "Wed", "hour": "12"},
    )
    assert date_parts(np.datetime64("2024-01-31T12:30", "ns")) == date_parts("2024-01-31T12:30")
    assert date_parts(1706704200) == date_parts("1706704200") == date_parts("2024-01-31T12:30")


def test_what_is_not_a_date_is_a_bad_row(tmp_path):
    (tmp_path / "t.csv").write_text("when,y\n2024-01-31,1\n31/01/2024,0\n")
    (tmp_path / "t.jsonl").write_text('{"when":"2024-01-31","y":1}\n{"when":"soon","y":0}\n')

    with pytest.raises(ouzel.OuzelError, match=r"row 3, column 'when': found '31/01/2024'; expected a date such as"):
        list(ouzel.read(tmp_path / "t.csv", dates="when"))
    with pytest.raises(ouzel.OuzelError, match="found 'when': \"soon\"; expected a date such as"):
        list(ouzel.read(tmp_path / "t.jsonl", dates="when"))
    with pytest.raises(ouzel.OuzelError, match="feature 'when' is 'soon'; expected a date such as"):
        list(ouzel.blocks_from([({"when": "soon"}, 1)], dates="when"))
    assert len(features_of(ouzel.read(tmp_path / "t.csv", dates="when", on_error="skip"))) == 1


def test_a_missing_date_may_be_a_feature(tmp_path):
    for name, stream in (
        ("t.csv", "when,y\n2024-01-31,1\n,0\n"),
        ("t.jsonl", '{"when":"2024-01-31","y":1}\n{"when":null,"y":0}\n'),
    ):
        (tmp_path / name).write_text(stream)
        found = features_of(ouzel.read(tmp_path / name, dates="when", missing="indicator"))
        assert found[1] == {feature_id("when=(missing)"): 1.0}, name


def test_a_model_keeps_that_a_column_holds_dates(tmp_path):
    table = pyarrow.table({"when": [time or "2024-01-01" for time in TIMES] * 10})
    labels = LABELS * 10
    model = ouzel.OnlineClassifier("adagrad", dates=["when"]).fit(table, labels)
    model.save(tmp_path / "m")

    loaded = ouzel.load(tmp_path / "m")
    (tmp_path / "t.csv").write_text("when\n" + "\n".join(table["when"].to_pylist()) + "\n")

    expected = model.decision_function(table)
    assert loaded.dates == ["when"]
    np.testing.assert_array_equal(loaded.decision_function(table), expected)
    margins = [
        loaded.model_.answers(block).margins[:, 0]
        for block in ouzel.read(tmp_path / "t.csv", space=loaded.model_.space, unlabelled=True)
    ]
    np.testing.assert_array_equal(np.concatenate(margins), expected)
    one_by_one = ouzel.OnlineClassifier("adagrad", dates="when")
    for word, label in zip(table["when"].to_pylist(), labels, strict=True):
        one_by_one.learn_one({"when": word}, label)
    np.testing.assert_array_equal(one_by_one.decision_function(table), expected)
