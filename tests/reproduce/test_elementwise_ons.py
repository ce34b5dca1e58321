"""The element-wise Newton paper's experiments run, and their parts are what they say."""

import numpy as np
import pytest

from ouzel.comparison.grid import Candidate
from ouzel.comparison.shuffles import Summary
from reproduce import find
from reproduce.elementwise import readings, tables
from tests.learners.classes import learn, stream


@pytest.mark.long
@pytest.mark.parametrize("name", ["elementwise-ons-tables", "elementwise-ons-readings"])
def test_an_experiment_leaves_a_table_and_a_plot(name, data, tmp_path):
    find(name).load()(data("satimage.scale.svm.xz").parent, tmp_path, quick=True)

    assert "| satimage" in (tmp_path / f"{name}.md").read_text()
    assert (tmp_path / f"{name}.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("title", "name", "given"),
    [
        ("kept: b with f (1 - f), A = f (1 - f) + lambda", "elementwise-ons", {}),
        ("gradient descent on the hinge", "ogd-multiclass", {"learning_rate": 0.5}),
    ],
)
def test_a_reading_is_the_learner_of_that_rule(title, name, given):
    X, y = stream(200, 5, 3, seed=1)
    _, state, scores, _ = learn(name, X, y, 3, **given)

    mistakes, updates = readings.learn(readings.READINGS[title], X, y)

    others = np.where(np.arange(3) == y[:, None], -np.inf, scores).max(axis=1)
    np.testing.assert_array_equal(mistakes, scores[np.arange(200), y] <= others)
    assert updates == state.updates[0]


def test_a_reading_that_leaves_the_numbers_counts_as_mistaken():
    X, y = stream(50, 4, 3, seed=2)
    diverging = readings.Reading(lambda y, s, x, w: (-y * x * 1e200 * (1 + abs(s)), 1.0))

    with np.errstate(all="ignore"):
        mistakes, _ = readings.learn(diverging, X, y)

    assert mistakes[5:].all()


def test_published_figures_stand_beside_full_covariances_where_there_are_any():
    grown = np.array([[310.4, 620.8]])
    found = [
        Summary(Candidate(name, None, None, None, {}), np.array([1552, 3104]), grown, grown, grown, 3104.0, "x")
        for name in ("elementwise-ons", "cw", "cw-full")
    ]

    rows = tables.rows_of_table("satimage", found)

    assert [row[2] for row in rows] == ["0.171", "", "0.191"]
    assert rows[2][4] == "+0.009"
    assert rows[2][6] == "0.200 ± 0.000"
