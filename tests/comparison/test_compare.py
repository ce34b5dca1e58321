"""Comparing: ranges, side by side as alone, recovery, random orders."""

import time

import numpy as np
import pytest

from ouzel.comparison.grid import candidates, learner_names, parse_range, step_size
from ouzel.comparison.one_pass import Entry, best_of_rows, compare
from ouzel.comparison.shuffles import compare_orders, join
from ouzel.errors import OuzelError
from ouzel.evaluation.progressive import progressive_validation
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from


def stream(rows=200, n=600):
    random = np.random.default_rng(2)
    X = random.standard_normal((n, 4)).astype(np.float32)
    return blocks_from(X, np.where(X[:, 0] > 0, "a", "b"), block_rows=rows)


def test_side_by_side_equals_alone():
    chosen = candidates(["ogd"], steps=[0.25, 0.5])
    alone = [progressive_validation(Model("ogd", learning_rate=rate), stream()) for rate in (0.25, 0.5)]

    for jobs in (1, 2):
        found = compare(chosen, stream(), jobs=jobs)
        assert [c.scores.error_rate for c in found] == [report.error_rate for report in alone]
        assert [c.curve.points for c in found] == [report.curve for report in alone]


def test_a_step_size_is_a_learning_rate_or_the_inverse_of_alpha():
    assert step_size(("loss", "learning_rate"), 0.25) == {"learning_rate": 0.25}
    assert step_size(("loss", "alpha"), 0.25) == {"alpha": 4.0}
    assert step_size(("loss",), 0.25) == {}


def test_choices_a_learner_has_no_setting_for_are_left_out():
    chosen = candidates(["ogd", "adagrad"], l1=[0.1, 0.2], budgets=["1KB"])

    assert [(c.learner, c.l1, c.budget) for c in chosen] == [
        ("ogd", None, None),
        ("adagrad", 0.1, None),
        ("adagrad", 0.2, None),
    ]
    with pytest.raises(OuzelError, match="none of ogd has a setting 'nonesuch'"):
        candidates(["ogd"], settings={"nonesuch": 1})


@pytest.mark.parametrize("text", ["", "a", "2^3:2^1", "0:1", "-1", "nan", "1e999", "2^-2000:2^2000"])
def test_ranges_that_are_none_are_refused(text):
    with pytest.raises(OuzelError, match="a range"):
        parse_range(text)


def test_groups_of_learners_have_names():
    assert "ogd" in learner_names("all")
    assert "awm" in learner_names("all-budgeted")
    assert learner_names("ogd,ogd") == ["ogd"]


def test_the_best_of_a_row_includes_ties():
    found = compare(candidates(["ogd"], steps=[0.5, 0.5, 1e-9]), stream())

    (best,) = best_of_rows(found)

    assert len(best) >= 2


def test_joined_blocks_are_the_stream():
    whole = join(stream(rows=600))
    pieces = join(stream(rows=77))

    for one, other in zip(whole[:5], pieces[:5], strict=True):
        assert (one == other).all()


def test_joining_follows_the_names_of_labels():
    parts = [next(blocks_from([({"x": 1.0}, name)])) for name in ("dry", "wet", "dry")]

    joined = join(parts)

    assert [joined.label_names[int(k)] for k in joined.labels] == ["dry", "wet", "dry"]


def test_orders_are_the_same_for_all_and_repeat():
    chosen = candidates(["ogd"], steps=[0.5, 0.5])
    one, two = (compare_orders(chosen, join(stream()), 3, jobs=jobs) for jobs in (1, 2))

    assert (one[0].mistakes == one[1].mistakes).all()
    assert (one[0].mistakes == two[0].mistakes).all()
    assert one[0].examples[-1] == 600
    assert one[0].row()["error"][1] > 0


def test_learners_that_take_long_are_named_while_one_waits(monkeypatch):
    monkeypatch.setattr("ouzel.comparison.one_pass.PATIENCE", 0.01)
    learn, told = Entry.learn, []
    monkeypatch.setattr(Entry, "learn", lambda self, block: (time.sleep(0.1), learn(self, block)))

    compare(candidates(["ogd", "adagrad"]), stream(), jobs=2, on_wait=told.append)

    assert {tuple(names) for names in told} <= {("ogd",), ("adagrad",), ("ogd", "adagrad")}
    assert told
