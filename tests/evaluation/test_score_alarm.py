"""Alarms of scores without labels: false ones at most at the stated rate, found soon, whatever the blocks."""

import numpy as np
import pytest

from ouzel.cli.app import run
from ouzel.evaluation.input_alarm import ScoreAlarm


def changes(scores, rate=0.01, rows=500):
    alarm = ScoreAlarm(rate, [f"score of {k}" for k in range(scores.shape[1])])
    return [change for start in range(0, len(scores), rows) for change in alarm.add(scores[start : start + rows])]


def test_false_alarms_of_stationary_scores_are_at_most_the_stated_rate():
    random, rate, false = np.random.default_rng(0), 0.2, 0
    for _ in range(200):
        scores = np.column_stack([random.normal(size=1600), random.standard_t(2, 1600), random.random(1600) < 0.1])
        false += bool(changes(scores, rate))

    assert false <= rate * 200


@pytest.mark.parametrize("rows", [1, 37, 6000])
def test_a_change_is_found_soon_and_named_whatever_the_blocks(rows):
    scores = np.random.default_rng(1).normal(size=(6000, 2))
    scores[4000:, 1] -= 1.0
    first, *_ = changes(scores, rows=rows)

    assert (first.feature, first.higher) == ("score of 1", False)
    assert 4000 < first.example < 4300
    assert first.before == pytest.approx(scores[:1000, 1].mean())
    assert changes(scores, rows=rows) == changes(scores, rows=100)


def test_the_command_says_when_scores_change(tmp_path, capsys):
    random = np.random.default_rng(2)
    X = random.normal(size=(6000, 2))
    table = tmp_path / "old.csv"
    table.write_text("a,b,y\n" + "".join(f"{a:.3f},{b:.3f},{int(a + random.normal() > 0)}\n" for a, b in X))
    X[4000:, 0] += 1.5
    (tmp_path / "new.csv").write_text("a,b\n" + "".join(f"{a:.3f},{b:.3f}\n" for a, b in X))
    model = str(tmp_path / "m.ouzel")
    assert run(["train", str(table), "--label", "y", "--learner", "adagrad", "--model", model]) == 0
    capsys.readouterr()
    assert run(["predict", model, str(tmp_path / "new.csv"), "--alarm", "0.01", "--only", "labels"]) == 0
    (line,) = capsys.readouterr().err.splitlines()

    assert line.startswith("alarm at example 4,")
    assert "score is higher than it was; its mean was " in line
    assert run(["predict", model, str(tmp_path / "new.csv"), "--alarm", "3"]) == 2
