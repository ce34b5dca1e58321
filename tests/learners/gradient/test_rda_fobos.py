"""The learners AdaGrad is compared with do what their papers say, lazily."""

import numpy as np
import pytest

from ouzel.learners.gradient import fobos, rda
from ouzel.terms.losses import Logistic, derivative
from ouzel.terms.penalties.domains import Box
from ouzel.terms.penalties.l1_and_l2 import L1, ElasticNet
from tests.learners.streams import dense, learn, merged_states, sparse_rows
from tests.oracles.adagrad import Eager

DIMENSION, ROUNDS = 40, 600
BOTH = pytest.mark.parametrize("module", [fobos, rda], ids=["fobos", "rda"])


@pytest.mark.interpreted
@BOTH
@pytest.mark.parametrize("penalty", [L1(0.01), ElasticNet(0.01, 0.1), Box(-0.3, 0.2)], ids=["l1", "elastic-net", "box"])
def test_lazy_equals_eager_at_every_step(module, penalty):
    rows, targets = sparse_rows(ROUNDS, DIMENSION, 5, seed=1)
    settings = module.Settings(Logistic(), penalty, 0.7)
    box = tuple(penalty) if isinstance(penalty, Box) else None
    l1, l2 = getattr(penalty, "l1", 0.0), getattr(penalty, "l2", 0.0)
    oracle = Eager(DIMENSION, 0.7, 0.0, l1, l2, dual=module is rda, adaptive=False, box=box)
    expected = [
        oracle.learn(x, lambda margin, y=y: derivative(Logistic(), margin, y))
        for x, y in zip(dense(rows, DIMENSION), targets, strict=True)
    ]

    state, margins = learn(module, rows, targets, DIMENSION, settings)

    np.testing.assert_allclose(margins, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(module.weights(state, settings), oracle.w, rtol=1e-9, atol=1e-10)


@BOTH
def test_merging_a_state_with_nothing_keeps_its_weights(module):
    rows, targets = sparse_rows(200, DIMENSION, 5, seed=2)
    settings = module.Settings(Logistic(), L1(0.01), 0.7)
    state, _ = learn(module, rows, targets, DIMENSION, settings)

    merged = merged_states(module, [state, module.init(DIMENSION, settings)], settings, DIMENSION)

    np.testing.assert_allclose(module.weights(merged, settings), module.weights(state, settings), rtol=1e-6, atol=1e-9)


@BOTH
def test_exchanged_classes_give_the_mirrored_state(module):
    rows, targets = sparse_rows(200, DIMENSION, 5, seed=3)
    settings = module.Settings(Logistic(), L1(0.01), 0.7)
    state, _ = learn(module, rows, targets, DIMENSION, settings)
    exchanged, _ = learn(module, rows, -targets, DIMENSION, settings)

    for mirrored, array in zip(module.swap_classes(state), exchanged, strict=True):
        np.testing.assert_array_equal(mirrored, array)
