"""The sparse sketched Newton learner does what the dense algorithm of the paper does."""

import numpy as np
import pytest

from ouzel.learners import sketched_newton_oja as oja
from ouzel.learners.rows import Rows
from ouzel.terms.losses import Logistic, Squared
from tests.oracles.sketched_newton import DenseOja


def sparse_stream(count, dimension, nonzeros, seed, scale=None):
    rng = np.random.default_rng(seed)
    indices = np.array([rng.choice(dimension, nonzeros, replace=False) for _ in range(count)], np.uint32)
    values = rng.normal(size=(count, nonzeros)).astype(np.float32)
    if scale is not None:
        values *= scale[indices].astype(np.float32)
    labels = np.where(values.sum(axis=1) + 0.3 * rng.normal(size=count) > 0, 1.0, -1.0)
    offsets = np.arange(0, count * nonzeros + 1, nonzeros).astype(np.uint64)
    return Rows(offsets, indices.ravel(), values.ravel()), labels


def learn(rows, labels, dimension, settings):
    state = oja.init(dimension, settings)
    margins = np.empty(len(labels))
    oja.learn_rows(state, rows, labels, np.ones(len(labels), np.float32), settings, margins)
    return state, margins


@pytest.mark.parametrize("diagonal", [0.0, 1.0])
@pytest.mark.parametrize("bound", [0.0, 1.0])
@pytest.mark.parametrize("m", [0, 1, 5])
def test_sparse_and_dense_agree_round_by_round(diagonal, bound, m):
    count, dimension = 5000, 30
    rows, labels = sparse_stream(count, dimension, 6, seed=m)
    settings = oja.Settings(
        Squared(), float(m), learning_rate=0.125, curvature=0.125, diagonal=diagonal, bound=bound, largest=1.0
    )
    dense = DenseOja(dimension, m, 8.0, 0.125, 1.0, bound == 1.0, diagonal == 1.0)
    expected = []
    for i, label in enumerate(labels):
        here = slice(int(rows.offsets[i]), int(rows.offsets[i + 1]))
        raw = np.zeros(dimension)
        raw[rows.indices[here]] = rows.values[here]
        expected.append(dense.learn(rows.indices[here].tolist(), raw, lambda p, y=label: p - y))

    _, margins = learn(rows, labels, dimension, settings)

    np.testing.assert_allclose(margins, expected, atol=1e-8)


@pytest.mark.parametrize("exponent", [-20, -10, 0, 10, 20])
@pytest.mark.parametrize("m", [1, 10, 50])
def test_no_nan_appears_however_hard_the_stream(exponent, m):
    dimension = 20
    scale = np.logspace(0, 3, dimension)
    rows, labels = sparse_stream(2000, dimension, 5, seed=1, scale=scale)
    rows.values[: 5 * 20] = 0.0  # x = 0
    rows.values[-500:] = np.tile(rows.values[-5:], 100)  # repeated x
    rows.indices[-500:] = np.tile(rows.indices[-5:], 100)
    labels[:500] = 1.0

    state, margins = learn(
        rows, labels, dimension, oja.Settings(Logistic(), float(m), learning_rate=2.0**exponent, largest=1.0)
    )

    assert np.isfinite(margins).all()
    assert all(np.isfinite(array).all() for array in state)


def orthonormality_error(state):
    V = oja.directions(state)
    return abs(V @ V.T - np.eye(len(V))).max()


def test_directions_stay_orthonormal_and_folds_are_rare():
    rows, labels = sparse_stream(20_000, 40, 6, seed=3)
    state, _ = learn(rows, labels, 40, oja.Settings())

    assert orthonormality_error(state) < 1e-10


@pytest.mark.long
def test_directions_stay_orthonormal_over_a_million_rounds():
    rows, labels = sparse_stream(1_000_000, 100, 6, seed=4)
    state, _ = learn(rows, labels, 100, oja.Settings())

    assert orthonormality_error(state) < 1e-10


def test_a_sketch_of_size_zero_is_online_gradient_descent():
    rows, labels = sparse_stream(300, 10, 3, seed=5)
    settings = oja.Settings(Logistic(), 0.0, learning_rate=0.25, diagonal=0.0)
    w = np.zeros(10)
    for i, y in enumerate(labels):
        here = slice(int(rows.offsets[i]), int(rows.offsets[i + 1]))
        x = np.zeros(10)
        x[rows.indices[here]] = rows.values[here]
        w += y / (1 + np.exp(y * (w @ x))) / 4.0 * x

    state, _ = learn(rows, labels, 10, settings)

    np.testing.assert_allclose(oja.weights(state, settings), w, atol=1e-10)


def test_weights_give_the_margins_that_predictions_have():
    rows, labels = sparse_stream(500, 12, 4, seed=6)
    settings = oja.Settings()
    state, _ = learn(rows, labels, 12, settings)
    margins = np.empty(500)
    oja.predict_rows(state, rows, settings, margins)
    dense = np.zeros((500, 12))
    np.put_along_axis(dense, rows.indices.reshape(500, 4).astype(int), rows.values.reshape(500, 4), axis=1)

    np.testing.assert_allclose(dense @ oja.weights(state, settings), margins, atol=1e-10)
