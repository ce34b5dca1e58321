"""LIBOL's rules solve the problem of two independent rows with one covariance, but for CW's own approximation."""

import numpy as np
import pytest

from ouzel.learners.gaussian import arow, rule
from reproduce.elementwise.libol_variance import AROW, CONFIDENT, SQUARED, one_pass, steps
from tests.learners.classes import rows_of, stream


@pytest.mark.parametrize("rule", [CONFIDENT, SQUARED])
def test_beta_makes_the_variance_that_alpha_presumes(rule):
    margin, v, phi = -0.4, 1.7, 0.6

    alpha, beta = steps(rule, margin, v, phi, 1.0)

    after = v - beta * v * v
    assert 1.0 / after == pytest.approx(1.0 / v + alpha * phi / np.sqrt(2.0 * after))


def test_arow_passes_its_margin_where_the_variance_is_large():
    alpha, _ = steps(AROW, 0.0, 1e6, 0.0, 1.0)

    assert 2.0 * alpha * 1e6 == pytest.approx(2.0, rel=1e-3)  # the margin after the step: twice the 1 that was aimed at


@pytest.mark.parametrize("rule", [AROW, CONFIDENT, SQUARED])
def test_a_pass_learns(rule):
    X, y = stream(300, 4, 3, seed=0)
    table, covariance = np.zeros((4, 3)), np.eye(4)

    mistakes, updates = one_pass(rows_of(X), y, np.arange(300), table, covariance, rule, 0.4, 1.0)

    assert mistakes < 150
    assert mistakes <= updates <= 300
    np.testing.assert_allclose(covariance, covariance.T)


@pytest.mark.parametrize("classes", [2, 3])
def test_arow_with_pairwise_turned_off_is_libols(classes):
    X, y = stream(300, 4, classes, seed=1)
    table, covariance = np.zeros((4, classes)), np.eye(4)
    expected, updates = one_pass(rows_of(X), y, np.arange(300), table, covariance, AROW, 0.4, 0.5)
    settings = arow.Settings(regularization=0.5, prior=2.0, full=True, pairwise=False)
    state, scores = rule.init(4, classes, settings), np.empty((300, classes))

    rule.learn_rows(state, rows_of(X), y, np.ones(300, np.float32), settings, scores)

    wrong = np.where(np.arange(classes) == y[:, None], -np.inf, scores).max(axis=1)
    assert abs((~(scores[np.arange(300), y] > wrong)).sum() - expected) <= 1  # ours are in single precision
    assert abs(state.updates[0] - updates) <= 1
    np.testing.assert_allclose(state.table, table, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(state.covariance, covariance, rtol=1e-3, atol=1e-6)
