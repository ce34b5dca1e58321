"""Alarms when features change: false ones at most at the stated rate, found soon, resumed, whatever the blocks."""

import json

import numpy as np
import pytest

import ouzel
from ouzel.cli.app import run
from ouzel.evaluation.input_alarm import FIRST, InputAlarm, restored
from ouzel.evaluation.progressive import progressive_validation
from ouzel.streams.memory import blocks_from

MODEL = ouzel.Model("ogd")


def seen(X, rate=0.01, rows=500):
    alarm = InputAlarm(rate)
    for start in range(0, len(X), rows):
        alarm.see(MODEL, next(blocks_from(X[start : start + rows].astype(np.float32))))
    return alarm


def test_false_alarms_of_stationary_features_are_at_most_the_stated_rate():
    """Numbers with light and heavy tails, and categories, rare and common; inputs have half of the rate."""
    random, rate, false = np.random.default_rng(0), 0.2, 0
    for _ in range(200):
        numbers = np.column_stack([random.normal(size=1600), random.standard_t(2, 1600), random.exponential(size=1600)])
        categories = random.random((1600, 3)) < (0.06, 0.3, 0.9)
        false += seen(np.column_stack([numbers, categories]), rate).changed > 0

    assert false <= rate / 2 * 200


@pytest.mark.parametrize("kind", ["mean", "share", "spread"])
def test_a_change_is_found_soon_and_named(kind):
    random = np.random.default_rng(1)
    X = random.normal(size=(6000, 4))
    X[:, 2] = random.random(6000) < 0.3
    if kind == "mean":
        X[4000:, 1] -= 1.0
    elif kind == "share":
        X[4000:, 2] = random.random(2000) < 0.6
    else:
        X[4000:, 3] *= 3.0

    alarm = seen(X)

    assert {event.feature for event in alarm.changes} == {{"mean": "1", "share": "2", "spread": "3"}[kind]}
    first = alarm.changes[0]
    assert 4000 < first.example < (4300 if kind != "spread" else 4600)
    if kind != "spread":
        assert first.higher == (kind == "share")
        assert first.before == pytest.approx(X[:FIRST, int(first.feature)].mean(), abs=1e-6)


@pytest.mark.parametrize("rows", [1, 37, 6000])
def test_alarms_are_the_same_whatever_the_blocks_and_through_json(rows):
    random = np.random.default_rng(2)
    X = random.normal(size=(3000, 3))
    X[2000:] += 2.0
    whole = seen(X)

    alarm = InputAlarm(0.01)
    for number, start in enumerate(range(0, len(X), rows)):
        alarm.see(MODEL, next(blocks_from(X[start : start + rows].astype(np.float32))))
        if start + rows >= FIRST and number % 7 == 0:
            alarm = restored(json.loads(json.dumps(alarm.to_json())))
            assert isinstance(alarm, InputAlarm)

    assert sorted(alarm.changes) == sorted(whole.changes)
    assert len(whole.changes) >= 3


def test_rare_and_constant_features_are_not_watched():
    X = np.zeros((1500, 3))
    X[:, 0], X[::40, 1], X[:, 2] = 5.0, 1.0, np.arange(1500) % 7

    assert seen(X).features.tolist() == [2]


def test_training_and_reports_say_which_column_changed(tmp_path, capsys):
    random = np.random.default_rng(3)
    lines = ["age,city,sold"]
    for k in range(3000):
        age = random.normal(40, 10) + 15 * (k > 2000)
        lines.append(f"{age:.1f},{random.choice(['Rome', 'Oslo'])},{int(age + random.normal() > 45)}")
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    path = str(tmp_path / "people.csv")

    assert run(["train", path, "--label", "sold", "--alarm", "0.01", "--alarm-inputs", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {event["feature"] for event in report["input_drift"]} == {"age"}
    assert run(["train", path, "--label", "sold", "--alarm", "0.01", "--alarm-inputs"]) == 0
    assert "age is higher than it was; its mean was " in capsys.readouterr().err
    assert run(["train", path, "--label", "sold", "--alarm-inputs"]) == 2
    assert "--alarm 0.01" in capsys.readouterr().err
    model = ouzel.Model("adagrad")
    report = progressive_validation(model, ouzel.read(path, label="sold"), alarm=0.01, alarm_inputs=True)
    assert report.input_drift[0]["feature"] == "age"
    assert progressive_validation(model, ouzel.read(path, label="sold"), alarm=0.01).input_drift is None


def test_a_resumed_training_watches_on(tmp_path):
    random = np.random.default_rng(4)
    X = random.normal(size=(4000, 2)).round(3)
    X[3000:, 0] += 2.0
    lines = [f"{int(a > b)} 1:{a} 2:{b}\n" for a, b in X.tolist()]
    for name, part in (("whole", lines), ("first", lines[:2000]), ("rest", lines[2000:])):
        (tmp_path / f"{name}.svm").write_text("".join(part))
    watch = ["--alarm", "0.01", "--alarm-inputs"]

    assert run(["train", str(tmp_path / "whole.svm"), "--model", str(tmp_path / "w"), *watch]) == 0
    for name, more in (("first", []), ("rest", ["--resume", str(tmp_path / "p")])):
        assert run(["train", str(tmp_path / f"{name}.svm"), "--model", str(tmp_path / "p"), *watch, *more]) == 0

    from ouzel.model.persistence import load_notes

    whole, parts = (load_notes(tmp_path / name)[1]["run"]["progress"]["alarm"]["inputs"] for name in ("w", "p"))
    assert [event[:2] for event in parts["changes"]] == [event[:2] for event in whole["changes"]] != []
