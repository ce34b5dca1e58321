"""Perceptrons, gradient descent, passive-aggressive, ROMMA and ALMA against their definitions."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.learners.classes import learn, stream
from tests.oracles.margin_rules import RULES, margins, scores

D, K = 3, 3
PRICE = 0.3  # the C of the oracles
NAMES = ["perceptron", "ogd-multiclass", "pa", "pa1", "pa2", "romma", "aromma"]


def price(name):
    return {"aggressiveness": PRICE} if name in ("pa1", "pa2") else {}


@pytest.mark.parametrize("name", [*NAMES, "perceptron-uniform"])
def test_with_two_classes_the_rule_is_the_binary_one(name):
    X, y = stream(60, 4, 2, seed=1)

    _, _, found, _ = learn(name, X, y, 2, **price(name))

    expected = margins(RULES[name.removesuffix("-uniform")], X, 2 * y - 1, True)
    scale = 2.0 if name.startswith("perceptron") else 1.0  # of no consequence to the perceptron
    np.testing.assert_allclose(found[:, 1] - found[:, 0], scale * expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_with_more_classes_it_is_the_binary_rule_of_the_pair(name):
    X, y = stream(60, 4, 4, seed=2)

    _, _, found, _ = learn(name, X, y, 4, **price(name))

    np.testing.assert_allclose(found, scores(RULES[name], X, y, 4, False), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["pa", "pa1", "pa2", "romma", "aromma"])
@pytest.mark.parametrize("seed", range(3))
def test_a_step_solves_the_problem_that_defines_the_rule(name, seed):
    X, y = stream(3, D, K, seed)
    module, state, _, settings = learn(name, X[:2], y[:2], K, **price(name))
    before = module.weights(state, settings).T.astype(float)
    x, s = X[2], before @ X[2]
    target = int(s.argmin())  # a mistake, whatever the example was
    wrong = int(s.argmax())
    z = np.zeros((K, D))
    z[target], z[wrong] = x, -x

    _, state, _, _ = learn(name, X[2:], np.array([target]), K, state=state, **price(name))

    romma = "romma" in name
    cost = {
        "pa1": lambda p: 0.5 * ((p[:-1] - before.ravel()) ** 2).sum() + PRICE * p[-1],
        "pa2": lambda p: 0.5 * ((p[:-1] - before.ravel()) ** 2).sum() + PRICE * p[-1] ** 2,
        "pa": lambda p: 0.5 * ((p[:-1] - before.ravel()) ** 2).sum(),
    }.get(name, lambda p: 0.5 * (p[:-1] ** 2).sum())
    soft = name in ("pa1", "pa2")
    rules = [
        {"type": "ineq", "fun": lambda p: p[:-1] @ z.ravel() - 1.0 + (p[-1] if soft else 0.0)},
        {"type": "ineq", "fun": lambda p: p[-1]},
    ]
    if romma:  # and the half space whose nearest point to 0 the weights were
        rules.append({"type": "ineq", "fun": lambda p: p[:-1] @ before.ravel() - (before**2).sum()})
    start = np.append(before.ravel(), 5.0)
    best = minimize(cost, start, method="SLSQP", constraints=rules, options={"ftol": 1e-14, "maxiter": 500})
    np.testing.assert_allclose(module.weights(state, settings).T.ravel(), best.x[:-1], atol=1e-4)


def test_uniform_updates_take_from_every_class_that_scored_no_less():
    X, _ = stream(1, 4, 2, seed=3)

    module, state, _, settings = learn("perceptron-uniform", X, np.array([1]), 4)

    table = module.weights(state, settings).T
    np.testing.assert_allclose(table[1], X[0], rtol=1e-6)
    np.testing.assert_allclose(table[[0, 2, 3]], np.tile(-X[0] / 3, (3, 1)), rtol=1e-6)


def approximate_large_margin(X, labels, p, alpha=0.9, C=2**0.5):
    """Gentile's Figure 1 with one weight vector: margins w.x before each round."""
    q = p / (p - 1)
    w, k, found = np.zeros(X.shape[1]), 1, []

    def gradient(u, r):
        """Of half the squared r-norm; the map with the dual exponent is its inverse."""
        return np.sign(u) * np.abs(u) ** (r - 1) / np.linalg.norm(u, r) ** (r - 2) if u.any() else u

    for x, y in zip(X, labels, strict=True):
        found.append(w @ x)
        unit = x / np.linalg.norm(x, p)
        if y * (w @ unit) <= (1 - alpha) / alpha * np.sqrt((p - 1) / k):
            w = gradient(gradient(w, q) + C / np.sqrt((p - 1) * k) * y * unit, p)
            w = w / max(1.0, np.linalg.norm(w, q))
            k += 1
    return np.array(found)


@pytest.mark.parametrize("p", [2.0, 3.0, 6.0])
def test_alma_with_two_classes_is_the_binary_rule(p):
    X, y = stream(60, 4, 2, seed=4)

    _, _, found, _ = learn("alma", X, y, 2, p=p)

    binary = 2 ** ((p - 1) / p) * found[:, 1]
    np.testing.assert_allclose(binary, approximate_large_margin(X, 2 * y - 1, p), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("p", [2.0, 4.0])
def test_alma_keeps_weights_of_norm_1_or_less(p):
    X, y = stream(300, 6, 4, seed=5)

    module, state, _, settings = learn("alma", X, y, 4, p=p)

    assert np.linalg.norm(module.weights(state, settings).astype(float).ravel(), p / (p - 1)) <= 1.0 + 1e-4
