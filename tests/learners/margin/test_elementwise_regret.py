"""The element-wise step loses little to the best fixed weights: what its paper's Theorem 1 says, and what it proves.

The proof bounds the sum of k_t (w_t - w*) for steps w - k_t / (2 sqrt(t)), whatever the vectors k_t are. It is a bound
on the regret of a loss where k_t is a gradient of it. As the learner reads the formulas, k_t is nearly that of the
hinge of the true class over the best wrong one, as long as scores are small beside log(1 / lambda).
"""

import numpy as np
import pytest
from scipy.optimize import linprog

from ouzel.learners.catalogue import find
from ouzel.learners.margin import elementwise_newton
from ouzel.learners.rows import Rows
from ouzel.model.settings import resolve_settings

FEATURES, CLASSES = 4, 3
TIMES = (50, 200, 800)


def stream(noise, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(TIMES[-1], FEATURES)).astype(np.float32)
    scores = X @ rng.normal(size=(FEATURES, CLASSES)) + noise * rng.gumbel(size=(len(X), CLASSES))
    return X, scores.argmax(axis=1)


def played(X, y, settings):
    """Weights (T + 1, d, classes) before each round and after the last."""
    state = elementwise_newton.init(FEATURES, CLASSES, settings)
    weights = [elementwise_newton.weights(state, settings)]
    for x, label in zip(X, y, strict=True):
        rows = Rows(np.array([0, FEATURES], np.uint64), np.arange(FEATURES, dtype=np.uint32), x)
        one = np.array([label]), np.ones(1, np.float32)
        elementwise_newton.learn_rows(state, rows, *one, settings, np.empty((1, CLASSES)))
        weights.append(elementwise_newton.weights(state, settings))
    return np.array(weights, np.float64)


def hinge(W, X, y):
    """The loss of each example (n,) under weights (d, classes), or (n, d, classes)."""
    scores = X @ W if W.ndim == 2 else np.einsum("nd,ndc->nc", X, W)
    own = scores[np.arange(len(y)), y]
    scores[np.arange(len(y)), y] = -np.inf
    return np.maximum(0.0, 1.0 - own + scores.max(axis=1))


def best_fixed(X, y):
    """The weights (d, classes) within [-3, 3] of the least sum of losses, by linear programming."""
    n = len(y)
    rows = []
    for i, label in enumerate(y):
        for wrong in set(range(CLASSES)) - {label}:
            row = np.zeros(FEATURES * CLASSES + n)
            row[wrong : FEATURES * CLASSES : CLASSES] = X[i]
            row[label : FEATURES * CLASSES : CLASSES] = -X[i]
            row[FEATURES * CLASSES + i] = -1.0
            rows.append(row)
    cost = np.r_[np.zeros(FEATURES * CLASSES), np.ones(n)]
    bounds = [(-3, 3)] * (FEATURES * CLASSES) + [(0, None)] * n
    found = linprog(cost, np.array(rows), -np.ones(len(rows)), bounds=bounds).x
    return found[: FEATURES * CLASSES].reshape(FEATURES, CLASSES)


@pytest.mark.parametrize("noise", [0.1, 30.0], ids=["separable", "random-labels"])
def test_regret_of_the_hinge_is_below_the_theorems_bound_and_falls_by_the_round(noise):
    X, y = stream(noise)
    settings = resolve_settings(find("elementwise-ons"), {})
    weights = played(X, y, settings)
    steps = 0.5 / np.sqrt(np.arange(1, len(X) + 1))
    k = np.sqrt(((np.diff(weights, axis=0) / steps[:, None, None]) ** 2).sum(axis=(1, 2))).max()
    means = []
    for T in TIMES:
        best = best_fixed(X[:T].astype(float), y[:T])
        regret = (hinge(weights[:T], X[:T], y[:T]) - hinge(best, X[:T], y[:T])).sum()
        F = np.sqrt(((weights[:T] - best) ** 2).sum(axis=(1, 2))).max()
        means.append(regret / T)

        assert regret <= (F**2 + k**2) * np.sqrt(T)

    assert 0.0 < means[2] < means[1] < means[0]
