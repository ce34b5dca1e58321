"""Multiclass AdaGrad computes a row of weights only when it needs it, and what the eager algorithm has then."""

import numpy as np
import pytest

from ouzel.learners import catalogue
from ouzel.learners.gradient import adagrad_multiclass as learner
from ouzel.learners.rows import Rows
from ouzel.terms.losses import Hinge, Logistic
from ouzel.terms.multiclass_losses import derivatives
from ouzel.terms.penalties.diagonal_prox import minimise
from ouzel.terms.penalties.l1_and_l2 import L1, NoPenalty
from ouzel.terms.penalties.norms import L2Norm, MaxNorm
from tests.checks.laws import LAWS
from tests.checks.merging_laws import MERGING_LAWS
from tests.learners.streams import dense, merged_states, sparse_rows

DIMENSION, CLASSES, ROUNDS = 25, 4, 300


def stream(seed):
    rows, _ = sparse_rows(ROUNDS, DIMENSION, 5, seed)
    rule = np.random.default_rng(seed).normal(size=(DIMENSION, CLASSES))
    return rows, (dense(rows, DIMENSION) @ rule).argmax(axis=1)


def module_of(settings):
    return learner.module_for("classification", settings.loss, settings)


def learn(rows, targets, settings):
    module = module_of(settings)
    state, scores = module.init(DIMENSION, CLASSES, settings), np.empty((len(targets), CLASSES))
    module.learn_rows(state, rows, targets, np.ones(len(targets), np.float32), settings, scores)
    return state, scores


def eager(rows, targets, settings):
    """Figure 1, eqs (3) and (4), with every row of the matrix updated on every example."""
    G, squares, W = (np.zeros((DIMENSION, CLASSES)) for _ in range(3))
    found, slopes, work = [], np.empty(CLASSES), np.empty((2, CLASSES))
    rate = settings.learning_rate
    for t, (x, y) in enumerate(zip(dense(rows, DIMENSION), targets, strict=True), start=1):
        found.append(x @ W)
        derivatives(settings.loss, found[-1], y, slopes)
        G += np.outer(x, slopes)
        squares += np.outer(x, slopes) ** 2
        H = np.where(squares > 0, settings.damping + np.sqrt(squares), 0.0)
        H = H if settings.adaptive else np.full_like(H, np.sqrt(t))
        for j in range(DIMENSION):
            linear = rate * G[j] if settings.dual_averaging else rate * x[j] * slopes - H[j] * W[j]
            minimise(settings.penalty, linear, H[j], rate * (t if settings.dual_averaging else 1), W[j], work)
    return W, np.array(found)


@pytest.mark.interpreted
@pytest.mark.parametrize("penalty", [NoPenalty(), L1(0.01), L2Norm(0.02), MaxNorm(0.02)], ids=str)
@pytest.mark.parametrize("adaptive", [True, False], ids=["adagrad", "one-rate"])
@pytest.mark.parametrize("dual", [True, False], ids=["dual-averaging", "mirror-descent"])
def test_lazy_equals_eager_at_every_step(penalty, adaptive, dual):
    rows, targets = stream(seed=1)
    settings = learner.Settings(Hinge(), penalty, 0.3, 0.0, adaptive, dual)
    expected, expected_scores = eager(rows, targets, settings)

    state, scores = learn(rows, targets, settings)

    np.testing.assert_allclose(scores, expected_scores, atol=1e-10)
    np.testing.assert_allclose(module_of(settings).weights(state, settings), expected, atol=1e-10)


@pytest.mark.parametrize("penalty", [L2Norm(0.04), MaxNorm(0.04)], ids=str)
def test_mixed_norms_null_whole_features(penalty):
    rows, targets = stream(seed=2)
    settings = learner.Settings(Hinge(), penalty, 0.3, 0.0)

    state, _ = learn(rows, targets, settings)
    used = np.count_nonzero(learner.weights(state, settings), axis=1)

    assert 0 < np.count_nonzero(used) < DIMENSION
    assert set(used) <= {0, CLASSES}


def test_mirror_descent_nulls_whole_features_as_well():
    rows, targets = stream(seed=2)
    settings = learner.Settings(Hinge(), L2Norm(0.15), 0.3, 0.0, dual_averaging=False)

    state, _ = learn(rows, targets, settings)
    used = module_of(settings).weights(state, settings).any(axis=1)

    assert 0 < np.count_nonzero(used[state.table[:, 1].any(axis=1)]) < np.count_nonzero(state.table[:, 1].any(axis=1))


def test_multinomial_logistic_learns_the_rule():
    rows, targets = stream(seed=3)

    _, scores = learn(rows, targets, learner.Settings(Logistic(), NoPenalty(), 0.3))

    assert (scores.argmax(axis=1) != targets)[200:].mean() < 0.35


def test_growing_by_slots_and_classes_changes_nothing():
    rows, targets = stream(seed=4)
    settings = learner.Settings(Hinge(), L1(0.01), 0.3, 0.0)
    state, _ = learn(rows, targets, settings)

    grown = learner.weights(learner.grow(state, 40, 6, settings), settings)

    np.testing.assert_array_equal(grown[:DIMENSION, :CLASSES], learner.weights(state, settings))
    assert not grown[DIMENSION:].any()


def test_merging_adds_the_sums():
    rows, targets = stream(seed=5)
    settings = learner.Settings(Hinge(), L1(0.01), 0.3, 0.0)
    state, _ = learn(rows, targets, settings)

    merged = merged_states(learner, [state, learner.init(DIMENSION, CLASSES, settings)], settings, DIMENSION, CLASSES)

    np.testing.assert_array_equal(learner.weights(merged, settings), learner.weights(state, settings))


def test_no_score_however_large_leaves_a_nan_behind():
    values = np.array([3e38, 1e-38, 3e38], np.float32)
    rows = Rows(np.array([0, 1, 2, 3], np.uint64), np.array([0, 0, 0], np.uint32), values)
    settings = learner.Settings(Hinge(), L1(0.01), 0.3, 0.0)

    state, _ = learn(rows, np.array([0, 1, 2]), settings)

    assert np.isfinite(learner.weights(state, settings)).all()


@pytest.mark.parametrize("law", [*LAWS, *MERGING_LAWS], ids=lambda law: law.__name__)
@pytest.mark.parametrize("given", [{}, {"penalty": "l2-norm", "l1": 1e-3}], ids=["no-penalty", "l2-norm"])
def test_law_by_mirror_descent(monkeypatch, law, given):
    preset = tuple({"dual_averaging": False, **given}.items())
    entry = catalogue.find("adagrad-multiclass")._replace(name="mirror", preset=preset)
    monkeypatch.setitem(catalogue.LEARNERS, "mirror", entry)

    law("mirror")
