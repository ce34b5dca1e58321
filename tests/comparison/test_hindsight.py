"""The best fixed weights against exact minima: of least squares, of linear programs, of a grid that closes in."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from ouzel.comparison.hindsight import CLOSE, REACH, best_fixed
from ouzel.errors import OuzelError
from ouzel.terms.losses import (
    Absolute,
    Hinge,
    Logistic,
    Poisson,
    Quantile,
    SmoothedHinge,
    Squared,
    SquaredHinge,
    derivative,
    value,
)

CLASSES = [Logistic(), Hinge(), SmoothedHinge(), SquaredHinge()]
NUMBERS = [Squared(), Absolute(), Quantile(0.8)]


def examples(loss, n=60, d=2):
    """Examples that no weights fit, of features of different sizes and importances of their own."""
    random = np.random.default_rng(5)
    X = np.c_[np.ones(n), random.standard_normal((n, d - 1)) * 10.0 ** np.arange(d - 1)]
    noisy = X @ random.standard_normal(d)
    noisy += noisy.std() * random.standard_normal(n)
    targets = np.where(noisy > 0.0, 1.0, -1.0) if loss in CLASSES else noisy
    return X, targets, random.integers(0, 4, n).astype(float)


def total(X, targets, importances, loss, weights):
    """The total loss, by example."""
    triples = zip(X @ weights, targets, importances, strict=True)
    return sum(importance * value(loss, margin, target) for margin, target, importance in triples)


def least_of_grid(X, targets, importances, loss):
    """The least total loss of two weights, on grids that close in."""
    middle, width = np.zeros(2), 16.0
    for _ in range(60):
        grid = [middle + width * np.array([a, b]) for a in np.linspace(-1, 1, 9) for b in np.linspace(-1, 1, 9)]
        middle = min(grid, key=lambda weights: total(X, targets, importances, loss, weights))
        width *= 0.7
    return total(X, targets, importances, loss, middle)


def least_of_program(X, targets, importances, loss):
    """The least total loss of a loss of two lines, by a linear program over weights and losses."""
    n, d = X.shape
    if isinstance(loss, Hinge):
        lines = [(-targets, np.ones(n)), (np.zeros(n), np.zeros(n))]
    else:
        low, high = derivative(loss, -1.0, 0.0), derivative(loss, 1.0, 0.0)
        lines = [(np.full(n, slope), -slope * targets) for slope in (low, high)]
    above = np.vstack([np.hstack([slopes[:, None] * X, -np.eye(n)]) for slopes, _ in lines])
    limits = np.concatenate([-constants for _, constants in lines])
    costs = np.concatenate([np.zeros(d), importances])
    return linprog(costs, above, limits, bounds=[(None, None)] * (d + n)).fun


@pytest.mark.parametrize("loss", [Logistic(), SmoothedHinge(), SquaredHinge()])
def test_smooth_losses_have_the_minimum_of_a_grid(loss):
    given = examples(loss)
    found = best_fixed(csr_array(given[0]), *given[1:], loss)

    assert found.loss == pytest.approx(least_of_grid(*given, loss), rel=1e-6)


@pytest.mark.parametrize("loss", [Hinge(), Absolute(), Quantile(0.8)])
@pytest.mark.parametrize("d", [2, 5])
def test_losses_with_a_kink_have_the_minimum_of_a_linear_program(loss, d):
    given = examples(loss, d=d)
    found, exact = best_fixed(csr_array(given[0]), *given[1:], loss), least_of_program(*given, loss)

    assert found.ridge == 0.0
    assert exact * (1.0 - 1e-9) <= found.loss <= exact + found.within
    assert found.loss == pytest.approx(exact, abs=CLOSE * total(*given, loss, np.zeros(d)))


def test_the_square_loss_has_the_minimum_of_least_squares():
    X, targets, importances = examples(Squared(), d=5)
    root = np.sqrt(importances)
    exact = np.linalg.lstsq(X * root[:, None], targets * root, rcond=None)[0]

    found = best_fixed(csr_array(X), targets, importances, Squared())

    np.testing.assert_allclose(found.weights, exact, rtol=1e-5)
    assert found.loss == pytest.approx(total(X, targets, importances, Squared(), exact), rel=1e-9)


@pytest.mark.parametrize("loss", CLASSES + NUMBERS)
def test_no_weights_within_reach_are_better_than_is_said(loss):
    given, random = examples(loss, d=4), np.random.default_rng(6)
    found = best_fixed(csr_array(given[0]), *given[1:], loss)

    assert found.loss == pytest.approx(total(*given, loss, found.weights))
    assert found.within < CLOSE * total(*given, loss, np.zeros(4))
    assert found.ridge == 0.0
    for size in 10.0 ** np.linspace(-6.0, np.log10(REACH), 100):
        other = found.weights + size * np.abs(found.weights) * random.standard_normal(4) / 4.0
        assert total(*given, loss, other) >= found.loss - found.within


def test_many_features_have_a_minimum_too():
    random = np.random.default_rng(7)
    X = csr_array(random.standard_normal((30, 1200)) * (random.random((30, 1200)) < 0.02))
    targets = random.standard_normal(30)

    assert best_fixed(X, targets, np.ones(30), Squared()).loss < 1e-6 * float(targets @ targets)


def test_classes_that_are_separated_have_a_ridge():
    X, targets, importances = np.c_[np.ones(20), np.arange(20.0)], np.where(np.arange(20) < 9, -1.0, 1.0), np.ones(20)

    found = best_fixed(csr_array(X), targets, importances, Logistic())

    assert found.ridge == 0.01
    assert "separate" in found.reason
    assert np.isfinite(found.weights).all()
    assert best_fixed(csr_array(X), targets, importances, SquaredHinge()).loss == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("loss", CLASSES + NUMBERS)
def test_no_weights_have_a_lower_sum_of_loss_and_ridge(loss):
    given, random = examples(loss, d=3), np.random.default_rng(8)
    scale = np.abs(given[0]).max(axis=0)
    found = best_fixed(csr_array(given[0]), *given[1:], loss, ridge=10.0)

    least = total(*given, loss, found.weights) + 5.0 * ((found.weights * scale) ** 2).sum()
    for size in 10.0 ** np.linspace(-6.0, 1.0, 100):
        other = found.weights + size * random.standard_normal(3) / scale
        assert total(*given, loss, other) + 5.0 * ((other * scale) ** 2).sum() >= least - found.within


def test_a_loss_not_known_to_be_convex_is_refused():
    with pytest.raises(OuzelError, match="no best fixed weights are known of the loss poisson"):
        best_fixed(csr_array(np.ones((2, 1))), np.ones(2), np.ones(2), Poisson())
