"""Alarms of rising errors: a slow oracle, false alarms over the whole life, finding changes, saved and resumed."""

import json
from math import sqrt

import numpy as np
import pytest

import ouzel
from ouzel.cli.app import run
from ouzel.errors import OuzelError
from ouzel.evaluation.alarm import Alarm, _uniform
from ouzel.evaluation.progressive import Run, progressive_validation
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from

POWERS, LINES, ODDS = (15 / 16, 7 / 8, 3 / 4, 1 / 2, 1 / 4), (0.25, 1.0), (1.5, 2.5, 5.0)


def slow_capital(errors):
    """The martingale after each error: p-values by counting, a product of bets for each beginning."""
    found, begun, asleep = [], [], 1.0  # begun: a bet's capital by its beginning
    bets = [lambda p, q, k=k: k * p ** (k - 1) for k in POWERS]
    bets += [lambda p, q, e=e: 1 + e * (1 - 2 * p) for e in LINES]
    bets += [lambda p, q, o=o: (o if p < q else 1) / (1 + (o - 1) * q) for o in ODDS]
    for n, error in enumerate(errors, start=1):
        so_far = errors[:n]
        theta = _uniform.py_func(n) if hasattr(_uniform, "py_func") else _uniform(n)
        p = (np.sum(so_far > error) + theta * np.sum(so_far == error)) / n
        q = np.mean(so_far[:-1] > 0) if n > 1 else 0.0
        q = q if 0.0 < q <= 0.5 else 0.25
        left = 1.0 / sqrt(sqrt(sqrt(n + 1)))
        begun.append(np.full(len(bets), asleep - left))
        asleep = left
        begun = [capital * np.array([bet(p, q) for bet in bets]) for capital in begun]
        found.append(asleep + np.sum(begun) / len(bets))
    return np.array(found)


def test_capital_is_that_of_the_oracle():
    with np.errstate(over="ignore"):
        random = np.random.default_rng(3)
        some = (random.random(150) < 0.2).astype(float), (random.random(150) < 0.7).astype(float)
        for errors in (*some, 2.0 ** random.integers(-3, 4, 150)):
            alarm, capital = Alarm(1e-100), slow_capital(errors)
            for stop in (1, 70, 150):
                alarm.add(errors[int(alarm.counts[1]) : stop])
                here = 1.0 / sqrt(sqrt(sqrt(stop + 1))) + alarm.capital.mean()
                assert here == pytest.approx(capital[stop - 1], rel=1e-9)


def test_false_alarms_of_10_000_stationary_streams_are_at_most_the_stated_rate():
    """Mistakes that are rare and common, and absolute errors with heavy tails; each stream is watched all its life."""
    random, rate, streams = np.random.default_rng(1), 0.05, 10_000
    false = 0
    for k in range(streams):
        drawn = random.random(500)
        errors = (drawn < (0.02, 0.1, 0.5)[k % 4]).astype(float) if k % 4 < 3 else 1.0 / drawn
        false += bool(Alarm(rate).add(errors))

    assert false <= rate * streams


def test_false_alarms_of_learners_on_stationary_streams_are_at_most_the_stated_rate():
    """Errors of a model that learns fall, which an alarm must not take for a change."""
    random, false = np.random.default_rng(5), 0
    for k in range(200):
        X = random.standard_normal((500, 3)).astype(np.float32)
        y = X @ random.standard_normal(3) + random.standard_normal(500)
        if k % 2:
            report = progressive_validation(Model("ogd"), blocks_from(X, np.where(y > 0, "a", "b")), alarm=0.05)
        else:
            report = progressive_validation(Model("ogd", loss="squared"), blocks_from(X, y), alarm=0.05)
        false += bool(report.drift)

    assert false <= 0.05 * 200


@pytest.mark.parametrize("before", [500, 50_000])
def test_a_rise_is_found_early_and_late_in_a_stream(before):
    random = np.random.default_rng(2)
    alarm = Alarm(0.01)

    assert alarm.add((random.random(before) < 0.1).astype(float)) == []
    (found,) = alarm.add((random.random(300) < 0.5).astype(float))

    assert before < found.example < before + 150
    assert 0.08 < found.before < 0.2
    assert alarm.add((random.random(2000) < 0.5).astype(float)) == [], "after an alarm all is counted anew"


def test_errors_that_fall_raise_no_alarm():
    random = np.random.default_rng(2)
    alarm = Alarm(0.5)

    for share in np.linspace(0.9, 0.0, 200):
        alarm.add((random.random(50) < share).astype(float))

    assert alarm.raised == 0


def test_any_size_of_blocks_saved_in_between_gives_the_same_bits():
    errors = np.abs(np.random.default_rng(0).standard_normal(600)) * np.repeat([1.0, 9.0], 300)
    whole, cut = Alarm(0.01), Alarm(0.01)
    whole.add(errors)
    for error in errors:
        cut.add(np.array([error]))
        cut = Alarm.from_json(json.loads(json.dumps(cut.to_json())))

    assert whole.raised == 1
    assert json.dumps(whole.to_json()) == json.dumps(cut.to_json())


@pytest.mark.parametrize(
    "forged",
    [
        {"bins": [[9999], [1]]},
        {"counts": [1.0]},
        {"capital": [-1.0] * 7},
        {"capital": [0.0] * 8},
        {"rate": 2.0},
        {"events": [[1]]},
        {"bins": 3},
    ],
)
def test_what_no_alarm_can_have_noted_is_refused(forged):
    stored = Run(Model("ogd"), alarm=0.1).to_json()
    stored["alarm"] |= forged
    with pytest.raises(OuzelError, match="is not sound"):
        Run(Model("ogd")).restore(stored)


def test_an_alarm_that_version_0_2_0_saved_goes_on():
    alarm = Alarm(0.01)
    alarm.add(np.zeros(500))
    older = json.loads(json.dumps(alarm.to_json()))
    older["capital"] = older["capital"][:7]

    (found,) = Alarm.from_json(older).add(np.ones(20))

    assert found.example < 510


def changed(path, n=6000):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 2)).round(3)
    y = np.where((X[:, 0] > 0) ^ (np.arange(n) >= n // 2), "a", "b")
    rows = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), y, strict=True)]
    path.write_text("x,z,y\n" + "\n".join(rows) + "\n")
    return str(path)


def test_training_says_when_errors_rise_and_nothing_is_lost_between_two_parts(tmp_path, capsys):
    file, whole, part = changed(tmp_path / "t.csv"), str(tmp_path / "whole.ouzel"), str(tmp_path / "part.ouzel")
    common = ["train", file, "--label", "y", "--learner", "ogd"]
    assert run([*common, "--alarm", "0.01", "-m", whole]) == 0
    told = capsys.readouterr().err
    assert told.count("alarm at example 3,0") == 1
    assert run([*common, "--alarm", "0.01", "-m", str(tmp_path / "w.ouzel"), "--json"]) == 0
    (event,) = json.loads(capsys.readouterr().out)["drift"]
    assert 3000 < event["example"] < 3100

    lines = (tmp_path / "t.csv").read_text().splitlines(keepends=True)
    (tmp_path / "one.csv").write_text("".join(lines[:2001]))
    (tmp_path / "two.csv").write_text("".join([lines[0], *lines[2001:]]))
    begin = ["train", str(tmp_path / "one.csv"), "--label", "y", "--learner", "ogd", "-m", part]
    assert run([*begin, "--alarm", "0.01", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["drift"] == []
    assert run(["train", str(tmp_path / "two.csv"), "--resume", part, "-m", part, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["drift"] == [event], "counted from the first example of the model"
    assert run(["train", file, "--resume", part, "--alarm", "0.3"]) == 2
    assert "--alarm 0.3 contradicts" in capsys.readouterr().err


def test_without_alarms_nothing_is_noted(tmp_path, capsys):
    file = changed(tmp_path / "t.csv", 100)
    assert run(["train", file, "--label", "y", "--learner", "ogd", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["drift"] is None
    assert "alarm" not in Run(Model("ogd")).to_json()
    for rate in ("0.7", "-1", "nan"):
        assert run(["train", file, "--label", "y", "--alarm", rate]) == 2
        assert "alarm must be" in capsys.readouterr().err
    assert run(["train", file, "--label", "y", "--alarm", "0.1", "--workers", "2"]) == 2
    with pytest.raises(ouzel.OuzelError, match="a ranking learns groups"):
        Run(Model("adagrad-rda", task="ranking"), alarm=0.1)
