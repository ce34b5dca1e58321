"""Regret against the best fixed vector stays below the bounds of Theorems 5 and 7, at every T tried."""

import numpy as np
import pytest
from scipy.optimize import minimize

from ouzel.learners.gradient import adagrad, adagrad_full, adagrad_rda
from ouzel.learners.rows import Rows
from ouzel.terms.losses import Logistic, derivative, value
from ouzel.terms.penalties.l1_and_l2 import SquaredL2
from tests.learners.streams import dense, row, sparse_rows

DIMENSION = 8
TIMES = (5, 20, 80, 300)
ROUNDS = TIMES[-1]
L2 = 0.01


def best_fixed(X, y):
    """The vector of least total loss and penalty, and that total."""

    def total(w):
        margins = y * (X @ w)
        slope = X.T @ (-y / (1 + np.exp(margins))) + len(y) * L2 * w
        return np.logaddexp(0.0, -margins).sum() + len(y) * L2 * (w @ w) / 2, slope

    found = minimize(total, np.zeros(DIMENSION), jac=True, tol=1e-12)
    return found.x, found.fun


def play(module, settings, rows, targets):
    """Weights before each round (T, d), gradients (T, d), and what each round cost."""
    state = module.init(DIMENSION, settings)
    played, gradients, costs = [], [], []
    for i, (x, y) in enumerate(zip(dense(rows, DIMENSION), targets, strict=True)):
        w = np.array(module.weights(state, settings), np.float64)
        slots, values = row(rows, i)
        one, margin = Rows(np.array([0, len(slots)], np.uint64), slots, values), np.empty(1)
        module.learn_rows(state, one, np.array([y]), np.ones(1, np.float32), settings, margin)
        played.append(w)
        gradients.append(derivative(Logistic(), margin[0], y) * x)
        costs.append(value(Logistic(), margin[0], y) + L2 * (w @ w) / 2)
    return np.array(played), np.array(gradients), np.array(costs)


@pytest.mark.interpreted
@pytest.mark.parametrize("dual", [False, True], ids=["mirror-descent", "dual-averaging"])
@pytest.mark.parametrize("full", [False, True], ids=["theorem-5", "theorem-7"])
@pytest.mark.parametrize("rate", [0.1, 1.0])
@pytest.mark.parametrize("noise", [0.3, 30.0], ids=["separable", "random-labels"])
def test_regret_is_below_the_bound(dual, full, rate, noise):
    rows, targets = sparse_rows(ROUNDS, DIMENSION, 3, seed=1, noise=noise)
    X = dense(rows, DIMENSION)
    # dual averaging needs a damping no less than any gradient; those of the logistic loss are no larger than x
    largest = np.linalg.norm(X, axis=1).max() if full else np.abs(X).max()
    damping = float(largest) if dual else 0.0
    if full:
        module = adagrad_full
        settings = module.Settings(Logistic(), SquaredL2(L2), rate, damping, bool(dual))
    else:
        module = adagrad_rda if dual else adagrad
        settings = module.Settings(Logistic(), SquaredL2(L2), rate, damping)
    played, gradients, costs = play(module, settings, rows, targets)

    for T in TIMES:
        best, least = best_fixed(X[:T], targets[:T])
        regret = costs[:T].sum() - least
        norms = "nuc" if full else None
        size = np.linalg.norm(gradients[:T], norms) if full else np.linalg.norm(gradients[:T], axis=0).sum()
        order = 2 if full else np.inf
        reach = np.linalg.norm(best, order) if dual else np.linalg.norm(best - played[:T], order, axis=1).max()
        half = 1.0 if dual else 0.5
        bound = damping / rate * (best @ best) + half / rate * reach**2 * size + rate * size

        assert regret <= bound, T
