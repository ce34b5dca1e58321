"""`--interval` and `--calibrate` on the command line: train, resume, predict, test, compare."""

import json

import numpy as np
import pytest

from ouzel.cli.app import run
from tests.printed import titles


@pytest.fixture
def files(tmp_path):
    """A file of numbers and one of three classes, of the same features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_000, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=3_000)
    rows = [",".join(f"{value:.6f}" for value in row) for row in X]
    numbers, classes = tmp_path / "numbers.csv", tmp_path / "classes.csv"
    numbers.write_text("a,b,c,y\n" + "".join(f"{row},{label:.6f}\n" for row, label in zip(rows, y, strict=True)))
    names = np.array(["low", "middle", "high"])[np.digitize(y, [-1.0, 1.0])]
    classes.write_text("a,b,c,y\n" + "".join(f"{row},{label}\n" for row, label in zip(rows, names, strict=True)))
    return str(numbers), str(classes)


def output_of(capsys, *arguments):
    status = run([*map(str, arguments)])
    found = capsys.readouterr()
    return status, found.out, found.err


TRAIN = "--label", "y", "--learner", "adagrad"


def test_intervals_are_kept_reported_and_told(capsys, tmp_path, files):
    model, plot = tmp_path / "m.ouzel", tmp_path / "p.svg"
    given = *TRAIN, "--interval", ".9", "--interval", ".8", "--model", model, "--plot", plot, "--json"
    status, out, _ = output_of(capsys, "train", files[0], *given)
    intervals = json.loads(out)["intervals"]

    assert status == 0
    assert [one["level"] for one in intervals] == [0.8, 0.9]
    assert all(abs(one["coverage"] - one["level"]) <= 0.01 for one in intervals)
    assert plot.read_text().count("mean width of intervals") == 1
    rows = output_of(capsys, "predict", model, files[0], "--interval", ".9", "--json")[1].splitlines()
    inside = [row["low"] <= row["actual"] <= row["high"] for row in map(json.loads, rows)]
    assert np.mean(inside) == pytest.approx(0.9, abs=0.03)
    status, out, _ = output_of(capsys, "test", model, files[0])
    assert "coverage of intervals or sets of 0.9" in out
    status, _, err = output_of(capsys, "predict", model, files[0], "--interval", ".5")
    assert status
    assert "the model keeps intervals of 0.8, 0.9; got 0.5" in err


def test_sets_are_lists_of_labels_and_resumed_models_contradict_other_levels(capsys, tmp_path, files):
    model = tmp_path / "m.ouzel"
    assert output_of(capsys, "train", files[1], *TRAIN, "--interval", ".9", "--calibrate", "--model", model)[0] == 0
    row = json.loads(output_of(capsys, "predict", model, files[1], "--interval", ".9", "--json")[1].splitlines()[0])
    assert set(row["set"]) <= {"low", "middle", "high"}
    given = "train", files[1], "--resume", model, "--relearn", "--model", model
    status, _, err = output_of(capsys, *given, "--interval", ".5")
    assert status
    assert "contradicts" in err
    assert "--interval 0.9" in err


def test_a_comparison_has_columns_of_coverage(capsys, files):
    out = output_of(capsys, "compare", files[1], "--label", "y", "--learners", "adagrad,ogd", "--interval", ".9")[1]

    assert {"coverage", "of", "0.9"} <= titles(out)


def test_recalibration_is_of_probabilities(capsys, files):
    status, _, err = output_of(capsys, "train", files[1], *TRAIN, "--loss", "hinge", "--calibrate")

    assert status
    assert "the loss gives no probabilities" in err


def test_intervals_by_group_are_reported_predicted_and_resumed(capsys, tmp_path):
    rng = np.random.default_rng(0)
    regions, x = rng.choice(["north", "east"], 6_000, p=[0.7, 0.3]), rng.normal(size=6_000)
    y = x + rng.normal(size=6_000) * np.where(regions == "east", 10.0, 1.0)
    rows = [f"{a:.6f},{region},{b:.6f}\n" for a, region, b in zip(x, regions, y, strict=True)]
    first, rest, model = tmp_path / "first.csv", tmp_path / "rest.csv", tmp_path / "m.ouzel"
    first.write_text("x,region,y\n" + "".join(rows[:3_000]))
    rest.write_text("x,region,y\n" + "".join(rows[3_000:]))
    given = *TRAIN, "--interval", ".9", "--interval-by", "region", "--model", model
    assert output_of(capsys, "train", first, *given)[0] == 0
    status, out, _ = output_of(capsys, "train", rest, "--resume", model, "--json")
    groups = {group["group"]: group for group in json.loads(out)["intervals"][0]["groups"]}

    assert status == 0
    assert sum(group["examples"] for group in groups.values()) == 3_000
    assert all(abs(group["coverage"] - 0.9) < 0.011 for group in groups.values())
    assert groups["region=east"]["size"] > 5.0 * groups["region=north"]["size"]
    rows = output_of(capsys, "predict", model, rest, "--interval", ".9", "--json")[1].splitlines()
    widths = [row["high"] - row["low"] for row in map(json.loads, rows)]
    assert np.unique(np.round(widths, 6)).size == 2
    text = output_of(capsys, "test", model, rest)[1]
    assert "region=east" in text
    _, _, err = output_of(capsys, "train", rest, "--resume", model, "--interval-by", "x")
    assert "--interval-by x contradicts" in err
    _, _, err = output_of(capsys, "train", first, *TRAIN, "--interval-by", "region")
    assert "leave out --interval-by region" in err
    _, _, err = output_of(capsys, "train", first, *TRAIN, "--interval", ".9", "--interval-by", "city")
    assert "there are x, region; got --interval-by city" in err
