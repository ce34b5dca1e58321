"""Each rule that parts two classes equals its closed-form definition, binary and multiclass."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from ouzel.learners import catalogue
from ouzel.learners.rows import Rows
from ouzel.learners.settings import resolve_settings

NAMES = [
    name for name, learner in catalogue.LEARNERS.items() if learner.multiclass and hasattr(learner.module, "_step")
]
ALL = [
    *("elementwise-ons", "perceptron", "pa", "pa1", "pa2", "romma", "aromma", "sop"),
    *("cw", "arow", "scw1", "scw2", "narow", "nherd"),
]


def rows_of(X):
    n, d = X.shape
    offsets = np.arange(0, n * d + 1, d).astype(np.uint64)
    return Rows(offsets, np.tile(np.arange(d, dtype=np.uint32), n), X.astype(np.float32).ravel())


def stream(n, d, classes, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(3)
    return X, (X @ rng.normal(size=(d, classes)) + rng.normal(size=(n, classes))).argmax(axis=1)


def learn(name, X, y, classes, **given):
    learner = catalogue.find(name)
    settings = resolve_settings(learner, given)
    state = learner.module.init(X.shape[1], classes, settings)
    scores = np.empty((len(y), classes))
    learner.module.learn_rows(state, rows_of(X), y.astype(np.int64), np.ones(len(y), np.float32), settings, scores)
    return learner.module, state, scores, settings


def binary_oracle(name, X, y):
    """Margins w.x of the binary rules as their papers print them, the covariance diagonal."""
    d = X.shape[1]
    w, S, margins = np.zeros(d), np.ones(d), []
    phi = norm.ppf(0.75)
    for x, sign in zip(X, np.where(y == 1, 1.0, -1.0), strict=True):
        m, v = sign * (w @ x), (S * x) @ x
        margins.append(w @ x)
        loss = max(0.0, 1 - m)
        if name == "perceptron":
            w = w + 2 * sign * x * (m <= 0)  # the step does not matter to the predictions
        elif name.startswith("pa"):
            step = {"pa": loss / (x @ x), "pa1": min(2.0, loss / (x @ x)), "pa2": loss / (x @ x + 0.25)}[name]
            w = w + step * sign * x
        elif name == "arow":
            beta = 1 / (v + 1)
            w, S = (w + loss * beta * sign * S * x, S - beta * (S * x) ** 2) if loss > 0 else (w, S)
        elif name == "nherd":
            if loss > 0:
                w, S = w + loss / (v + 1) * sign * S * x, S - (v + 2) / (1 + v) ** 2 * (S * x) ** 2
        else:
            psi, xi = 1 + phi**2 / 2, 1 + phi**2
            alpha = max(0.0, (-m * psi + np.sqrt(m**2 * phi**4 / 4 + v * phi**2 * xi)) / (v * xi))
            alpha = min(1.0, alpha) if name == "scw1" else alpha
            if name == "scw2":
                n = v + 0.5
                root = phi * np.sqrt(phi**2 * m**2 * v**2 + 4 * n * v * (n + v * phi**2))
                alpha = max(0.0, (-(2 * m * n + phi**2 * m * v) + root) / (2 * (n**2 + n * v * phi**2)))
            u = 0.25 * (-alpha * v * phi + np.sqrt(alpha**2 * v**2 * phi**2 + 4 * v)) ** 2
            beta = alpha * phi / (np.sqrt(u) + v * alpha * phi)
            w, S = w + alpha * sign * S * x, S - beta * (S * x) ** 2
    return np.array(margins)


@pytest.mark.parametrize("name", ["perceptron", "pa", "pa1", "pa2", "arow", "nherd", "cw", "scw1", "scw2"])
def test_with_two_classes_the_rule_is_the_binary_one(name):
    X, y = stream(60, 4, 2, seed=1)

    _, _, scores, _ = learn(name, X, y, 2)

    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], binary_oracle(name, X, y), rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("name", ["cw", "scw1", "scw2"])
def test_the_step_solves_the_constrained_divergence_problem(name):
    module = catalogue.find(name).module
    settings = resolve_settings(catalogue.find(name), {})
    phi = norm.ppf(0.75)
    for margin, spread in [(-0.5, 1.0), (0.2, 2.0), (0.0, 0.5), (-2.0, 3.0)]:
        alpha, _ = module._step(margin, spread, 1.0, settings)

        # Along x the new margin is margin + alpha v with standard deviation s; the divergence's part that varies:
        def cost(p, name=name, margin=margin, spread=spread):
            step, s = p[0], np.exp(p[1])
            slack = max(0.0, phi * s - (margin + step * spread))
            price = {"cw": 1e4 * slack, "scw1": slack, "scw2": slack**2}[name]
            return -np.log(s) + 0.5 * s**2 / spread + 0.5 * step**2 * spread + price

        start = [float(alpha) + 0.01, 0.5 * np.log(spread) - 0.1]
        best = minimize(cost, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 20000})

        assert float(alpha) == pytest.approx(best.x[0], abs=5e-3)


def test_passive_aggressive_takes_the_shortest_step_to_margin_one():
    X, y = stream(1, 5, 3, seed=2)
    module, state, _, settings = learn("pa", X, y, 3)
    scores = np.empty((1, 3))
    module.predict_rows(state, rows_of(X), settings, scores)
    wrong = [c for c in range(3) if c != y[0]]

    assert scores[0, y[0]] - scores[0, wrong].min() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("name", ALL)
def test_rows_grow_for_classes_and_features_that_come_late(name):
    X, y = stream(80, 6, 4, seed=3)
    learner = catalogue.find(name)
    settings = resolve_settings(learner, {})
    ones = np.ones(len(y), np.float32)
    whole = learner.module.init(6, 4, settings)
    learner.module.learn_rows(whole, rows_of(X), y.astype(np.int64), ones, settings, np.empty((80, 4)))
    early = y < 2
    first = learner.module.init(4, 2, settings)
    grown = learner.module.grow(first, 6, 4, settings)
    learner.module.learn_rows(grown, rows_of(X), y.astype(np.int64), ones, settings, np.empty((80, 4)))

    assert early.any()
    for one, other in zip(whole, grown, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ALL)
def test_nothing_becomes_nan(name):
    X, y = stream(60, 3, 3, seed=4)
    X[:5] = 0.0
    X[5:8] = 1e18
    X[8:20] = X[8]

    module, state, _, settings = learn(name, X, y, 3)

    assert all(np.isfinite(array).all() for array in state)
    assert np.isfinite(module.weights(state, settings)).all()


def test_the_decay_of_absent_features_is_exact():
    X, y = stream(300, 8, 3, seed=5)
    X[np.random.default_rng(0).random(X.shape) < 0.6] = 0.0
    W, regular, rate = np.zeros((3, 8)), 0.05, 0.5
    expected = []
    for t, (x, c) in enumerate(zip(X, y, strict=True), start=1):
        s = W @ x
        expected.append(s)
        wrong = max((k for k in range(3) if k != c), key=lambda k: s[k])
        if s[c] - s[wrong] < 1:
            for k, sign in ((c, 1.0), (wrong, -1.0)):
                f = 1 / (1 + np.exp(-sign * s[k]))
                b = -sign * f * (1 - f) * x + regular * W[k]
                W[k] = W[k] - rate / np.sqrt(t) * b / (f * (1 - f) + regular)

    _, _, scores, _ = learn("elementwise-ons", X, y, 3, regularization=regular, learning_rate=rate)

    np.testing.assert_allclose(scores, expected, atol=1e-4)
