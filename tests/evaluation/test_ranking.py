"""Measures of rankings."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from ouzel.evaluation.ranking import average_precision, precision_at
from ouzel.model.tasks.ranking import groups_of


def test_average_precision_is_scikit_learns_where_no_scores_are_equal():
    rng = np.random.default_rng(0)
    for _ in range(100):
        relevant = rng.random(12) < 0.4
        relevant[0] = True
        scores = rng.permutation(12).astype(float)

        assert average_precision(scores, relevant) == pytest.approx(average_precision_score(relevant, scores))


def test_equal_scores_earn_nothing():
    relevant = np.array([True, True, False, False])

    assert precision_at(2, np.zeros(4), relevant) == 0.0
    assert average_precision(np.zeros(4), relevant) == pytest.approx((1 / 3 + 2 / 4) / 2)


def test_scores_that_are_no_numbers_come_last():
    assert precision_at(1, np.array([np.nan, 0.0]), np.array([True, False])) == 0.0


def test_a_group_without_relevant_examples_has_no_average_precision():
    assert np.isnan(average_precision(np.arange(3.0), np.zeros(3)))


def test_groups_are_runs_of_equal_numbers():
    found = [(here.start, here.stop) for here in groups_of(np.array([4, 4, 1, 4]))]

    assert found == [(0, 2), (2, 3), (3, 4)]
    assert list(groups_of(np.array([], np.int64))) == []
