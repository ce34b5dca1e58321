"""LIBOL's rules solve the problem of two independent rows with one covariance, but for CW's own approximation."""

import numpy as np
import pytest

from ouzel.reproduce.elementwise.libol_variance import AROW, CONFIDENT, SQUARED, one_pass, steps
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
