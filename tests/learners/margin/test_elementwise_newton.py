"""The element-wise Newton step against Algorithm 1 with every weight decayed in every update."""

import numpy as np
import pytest

from reproduce.elementwise import readings
from reproduce.elementwise.readings import READINGS
from tests.learners.classes import learn, stream


def every_weight(X, classes, K, regularization, learning_rate):
    """Scores before each round, and the weights (K, d) after the last."""
    W, found = np.zeros((K, X.shape[1])), []
    for t, (x, c) in enumerate(zip(X, classes, strict=True), start=1):
        s = W @ x
        found.append(s)
        wrong = max((k for k in range(K) if k != c), key=lambda k: (s[k], -k))
        if s[c] - s[wrong] < 1:
            for k, sign in ((c, 1.0), (wrong, -1.0)):
                f = 1 / (1 + np.exp(-sign * s[k]))
                b = -sign * f * (1 - f) * x + regularization * W[k]  # (5)
                W[k] = W[k] - learning_rate / np.sqrt(t) * b / (f * (1 - f) + regularization)  # (6), (7)
    return np.array(found), W


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("regularization", [0.001, 0.05, 5.0], ids=["paper", "strong", "beyond"])
def test_the_lazy_decay_is_exact(classes, regularization):
    X, y = stream(300, 8, classes, seed=5)
    X[np.random.default_rng(0).random(X.shape) < 0.6] = 0.0
    expected, W = every_weight(X, y, classes, regularization, 0.5)

    given = {"regularization": regularization, "learning_rate": 0.5}
    module, state, found, settings = learn("elementwise-ons", X, y, classes, **given)

    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(module.weights(state, settings).T, W, rtol=1e-3, atol=1e-4)


def test_the_scale_is_folded_before_it_vanishes():
    X, y = stream(2000, 8, 3, seed=6)
    given = {"regularization": 5.0, "learning_rate": 1.0}

    _, state, found, _ = learn("elementwise-ons", X, y, 3, **given)

    assert (state.scale >= 1e-6).all()
    np.testing.assert_allclose(found, every_weight(X, y, 3, 5.0, 1.0)[0], rtol=1e-3, atol=1e-4)


def test_a_step_goes_downhill():
    X, y = stream(200, 6, 3, seed=7)
    module, state, _, settings = learn("elementwise-ons", X, y, 3)
    x, before = X[:1], module.weights(state, settings).copy()
    target = int((x @ before).argmin())

    _, state, _, _ = learn("elementwise-ons", x, np.array([target]), 3, state=state)

    gained = x[0] @ (module.weights(state, settings) - before)
    assert gained[target] > 0.0
    assert gained[int((x @ before).argmax())] < 0.0


@pytest.mark.parametrize(
    ("given", "reading"),
    [
        ({}, READINGS["kept: b with f (1 - f), A = f (1 - f) + lambda"]),
        ({"least_margin": 0.0}, READINGS["the same, on mistakes alone"]),
        ({"updated": 1.0}, READINGS["the same, all classes in every update"]),
        ({"updated": 2.0}, READINGS["the same, each class by its own hinge"]),
        ({"squares": True}, READINGS["A = x² f (1 - f) + lambda"]),
        ({"true_slope": True}, READINGS["b with 1 - f, A = f (1 - f) + lambda"]),
        ({"true_slope": True, "squares": True}, READINGS["b with 1 - f, A = x² f (1 - f) + lambda"]),
    ],
    ids=["kept", "mistakes", "all", "each", "squares", "true-slope", "true-newton"],
)
def test_the_other_readings_are_settings(given, reading):
    X, y = stream(300, 8, 3, seed=8)
    X[np.random.default_rng(0).random(X.shape) < 0.4] = 0.0
    X[np.abs(X) < 0.3] *= 0.0
    with np.errstate(all="ignore"):
        expected, updates = readings.learn(reading, X.astype(np.float32), y)

    _, state, found, _ = learn("elementwise-ons", X, y, 3, regularization=readings.REGULARIZATION, **given)

    wrong = np.where(np.arange(3) == y[:, None], -np.inf, found).max(axis=1)
    assert (~(found[np.arange(300), y] > wrong) != expected).sum() <= 2  # ours are in single precision
    assert abs(state.updates[0] - updates) <= 2
