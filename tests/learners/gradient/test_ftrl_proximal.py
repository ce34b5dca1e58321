"""FTRL-Proximal does what its paper says."""

import numpy as np
import pytest

from ouzel.learners.gradient import adagrad, ftrl_proximal
from ouzel.terms.losses import Logistic, derivative
from tests.learners.streams import dense, learn, sparse_rows
from tests.oracles.ftrl_proximal import FTRLProximal

DIMENSION, ROUNDS = 40, 600


@pytest.mark.parametrize(("beta", "l1", "l2"), [(1.0, 0.0, 0.0), (1.0, 0.5, 0.0), (0.0, 0.2, 0.3)])
def test_every_margin_and_weight_is_the_algorithms(beta, l1, l2):
    rows, targets = sparse_rows(ROUNDS, DIMENSION, 5, seed=1)
    settings = ftrl_proximal.Settings(Logistic(), 0.7, beta, l1, l2)
    oracle = FTRLProximal(DIMENSION, 0.7, beta, l1, l2)
    expected = [
        oracle.learn(x, lambda margin, y=y: derivative(Logistic(), margin, y))
        for x, y in zip(dense(rows, DIMENSION), targets, strict=True)
    ]

    state, margins = learn(ftrl_proximal, rows, targets, DIMENSION, settings)

    np.testing.assert_allclose(margins, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ftrl_proximal.weights(state, settings), oracle.weights(), rtol=1e-9, atol=1e-10)


def test_without_penalties_it_is_adagrad():
    rows, targets = sparse_rows(ROUNDS, DIMENSION, 5, seed=2)

    _, margins = learn(ftrl_proximal, rows, targets, DIMENSION, ftrl_proximal.Settings(Logistic(), 0.5, 1e-3))
    _, expected = learn(adagrad, rows, targets, DIMENSION, adagrad.Settings(learning_rate=0.5, damping=1e-3))

    np.testing.assert_allclose(margins, expected, rtol=1e-4, atol=1e-4)  # adagrad's state is in single precision


def test_l1_makes_weights_exactly_zero():
    rows, targets = sparse_rows(ROUNDS, DIMENSION, 5, seed=3)
    found = []
    for l1 in (0.0, 1.0, 10.0):
        settings = ftrl_proximal.Settings(l1=l1)
        state, _ = learn(ftrl_proximal, rows, targets, DIMENSION, settings)
        found.append(int(np.count_nonzero(ftrl_proximal.weights(state, settings))))

    assert found[0] > found[1] > found[2]
