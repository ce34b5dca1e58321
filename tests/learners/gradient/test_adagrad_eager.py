"""Eager AdaGrad keeps to its domain and takes the least step."""

import numpy as np
import pytest

from ouzel.errors import OuzelError
from ouzel.learners.gradient import adagrad, adagrad_eager, adagrad_rda
from ouzel.learners.rows import Rows
from ouzel.terms.losses import Logistic, derivative
from ouzel.terms.penalties.domains import L1Ball, L2Ball
from ouzel.terms.penalties.l1_and_l2 import ElasticNet
from ouzel.terms.penalties.norms import L2Norm, MaxNorm
from tests.learners.streams import dense, learn, sparse_rows

DIMENSION, ROUNDS = 20, 300
BOTH = pytest.mark.parametrize("dual", [False, True], ids=["mirror-descent", "dual-averaging"])


@pytest.mark.interpreted
@BOTH
def test_with_a_separable_penalty_it_is_what_the_lazy_learners_do(dual):
    rows, targets = sparse_rows(ROUNDS, DIMENSION, 5, seed=1)
    lazy = adagrad_rda if dual else adagrad
    penalty = ElasticNet(0.02, 0.1)
    _, expected = learn(lazy, rows, targets, DIMENSION, lazy.Settings(Logistic(), penalty, 0.5, 0.1))
    settings = adagrad_eager.Settings(Logistic(), penalty, 0.5, 0.1, bool(dual))

    _, margins = learn(adagrad_eager, rows, targets, DIMENSION, settings)

    np.testing.assert_allclose(margins, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.interpreted
@BOTH
@pytest.mark.parametrize("term", [L1Ball(0.8), L2Ball(0.5), L2Norm(0.05), MaxNorm(0.05)], ids=str)
def test_every_update_solves_equation_23(dual, term):
    rows, targets = sparse_rows(40, DIMENSION, 5, seed=2)
    settings = adagrad_eager.Settings(Logistic(), term, 0.5, 0.1, bool(dual))
    rng = np.random.default_rng(3)
    w, G, squares = np.zeros(DIMENSION), np.zeros(DIMENSION), np.zeros(DIMENSION)

    for t in range(1, 41):
        here = rows._replace(offsets=rows.offsets[: t + 1])
        state, margins = learn(adagrad_eager, here, targets[:t], DIMENSION, settings)
        x = dense(here, DIMENSION)[-1]
        g = derivative(Logistic(), margins[-1], targets[t - 1]) * x
        G, squares = G + g, squares + g**2
        h = np.where(squares > 0, 0.1 + np.sqrt(squares), 0.0)
        u = 0.5 * G if dual else 0.5 * g - h * w
        w = state.weight

        others = np.where(h > 0, w + rng.normal(size=(200, DIMENSION)) * 10.0 ** rng.uniform(-4, 0, (200, 1)), 0.0)
        others = np.array([within(term, other) for other in others])
        strength = 0.5 * t if dual else 0.5
        np.testing.assert_allclose(within(term, w), w, rtol=1e-9)
        assert (cost(term, others, u, h, strength) >= cost(term, w, u, h, strength) - 1e-12).all()


def within(term, x):
    size = np.abs(x).sum() if isinstance(term, L1Ball) else np.linalg.norm(x)
    return x * min(1.0, term.radius / size) if hasattr(term, "radius") and size > 0 else x


def cost(term, x, u, h, strength):
    order = np.inf if isinstance(term, MaxNorm) else 2
    norm = 0.0 if hasattr(term, "radius") else term.l1 * np.linalg.norm(x, order, axis=-1)
    return x @ u + (x * x) @ h / 2 + strength * norm


def test_growing_changes_nothing():
    rows, targets = sparse_rows(40, 5, 3, seed=5)
    settings = adagrad_eager.Settings(Logistic(), L1Ball(0.8), 0.5)
    small, _ = learn(adagrad_eager, rows, targets, 5, settings)
    large, _ = learn(adagrad_eager, rows, targets, 9, settings)

    for array, expected in zip(adagrad_eager.grow(small, 9, settings)[:4], large[:4], strict=True):
        np.testing.assert_array_equal(array, expected)


def test_too_many_features_are_refused_with_a_way_out():
    with pytest.raises(OuzelError, match="adagrad-rda"):
        adagrad_eager.init(2**21, adagrad_eager.Settings())


@pytest.mark.interpreted
@pytest.mark.parametrize("term", [L1Ball(2.0), L2Ball(0.5), MaxNorm(1e-4)])
def test_a_gradient_whose_square_is_nothing_is_not_divided_by(term):
    settings = adagrad_eager.Settings(Logistic(), term, dual_averaging=True)
    values = np.array([3000.0, 1600.0, 1.0], np.float32)  # the second example is very right, its gradient 1e-174
    rows = Rows(np.array([0, 1, 3], np.uint64), np.array([0, 0, 1], np.uint32), values)

    state, _ = learn(adagrad_eager, rows, np.ones(2), 2, settings)

    assert np.isfinite(state.weight).all()
    assert state.weight[0] > 0.2
