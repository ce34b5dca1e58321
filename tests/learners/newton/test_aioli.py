"""AIOLI (Jezequel, Gaillard & Rudi 2020), against its definition and its bound."""

import numpy as np
import pytest

from ouzel.learners.newton import aioli
from ouzel.learners.newton import online_newton as ons
from ouzel.terms.bounds import Project
from tests.learners.newton.test_online_newton import learn, stream


def logistic(margins, labels):
    return np.logaddexp(0.0, -labels * margins)


def by_definition(X, labels, alpha, width):
    """z = theta'x of the theta that minimises surrogate losses, both losses of x, and alpha |theta|^2 / 2.

    Surrogates are slope (z' - z) + eta / 2 slope^2 (z' - z)^2, eta = exp(y z) / (1 + B R), of z' = theta's x.
    """
    d = X.shape[1]
    A, b, margins = alpha * np.eye(d), np.zeros(d), []
    for x, y in zip(X, labels, strict=True):
        theta = np.linalg.solve(A, b)

        def objective(theta, A=A, b=b, x=x):
            return 0.5 * theta @ A @ theta - b @ theta + logistic(theta @ x, 1.0) + logistic(theta @ x, -1.0)

        for _ in range(100):  # Newton's method over all of theta, by half where that is too far
            bend = np.tanh(0.5 * theta @ x)
            rise = A @ theta - b + bend * x
            step = np.linalg.solve(A + 0.5 * (1.0 - bend**2) * np.outer(x, x), rise)
            while objective(theta - step) > objective(theta) + 1e-12:
                step = 0.5 * step
            theta = theta - step
        z = theta @ x
        g = -y / (1.0 + np.exp(y * z)) * x
        eta = np.exp(y * z) / (1.0 + width)
        A = A + eta * np.outer(g, g)
        b = b + eta * g * (g @ theta) - g
        margins.append(z)
    return np.array(margins)


@pytest.mark.interpreted
@pytest.mark.parametrize("width", [0.0, 3.0])
def test_predictions_are_those_of_the_definition(width):
    X, labels = stream(300, 6, seed=0, share=0.5)

    _, margins = learn(aioli, X, labels, aioli.Settings(learning_rate=2.0, largest=width))

    np.testing.assert_allclose(margins, by_definition(X, labels, 0.5, width), atol=1e-8)


@pytest.mark.interpreted
@pytest.mark.parametrize("B", [1.0, 4.0, 16.0])
def test_regret_is_within_its_bound_which_grows_with_b_and_not_with_its_exponential(B):
    """alpha |u|^2 / 2 + d (1 + B) log(1 + n / (4 alpha d (1 + B))), the paper's form, for any |u| <= B, |x| <= 1."""
    rng = np.random.default_rng(1)
    n, d = 1500, 3
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    u = np.full(d, B / np.sqrt(d))
    labels = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-X @ u)), 1.0, -1.0)

    margins = learn(aioli, X, labels, aioli.Settings(learning_rate=1.0, largest=B))[1]

    regret = logistic(margins, labels).sum() - logistic(X @ u, labels).sum()
    assert regret <= 0.5 * B**2 + d * (1.0 + B) * np.log(1.0 + n / (4.0 * d * (1.0 + B)))


@pytest.mark.interpreted
def test_it_has_a_lower_loss_than_online_newton_at_the_curvature_that_its_theorem_asks_for():
    """sigma = exp(-C) makes proper Newton steps long where predictions are wide; the reason for AIOLI."""
    rng = np.random.default_rng(2)
    B = 8.0
    X = rng.normal(size=(1500, 4))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    labels = np.where(rng.random(1500) < 1.0 / (1.0 + np.exp(-X @ np.full(4, B / 2.0))), 1.0, -1.0)
    proper = ons.Settings(curvature=np.exp(-B), bound=Project(), largest=B)

    found = logistic(learn(aioli, X, labels, aioli.Settings(largest=B))[1], labels).sum()
    other = logistic(learn(ons, X, labels, proper)[1], labels).sum()

    best = logistic(X @ np.full(4, B / 2.0), labels).sum()
    assert found - best < 0.8 * (other - best)
