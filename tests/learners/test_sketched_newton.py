"""The sparse sketched Newton learners do what the dense algorithms of the paper do."""

import numpy as np
import pytest

from ouzel.learners.newton import sketched_fd as fd
from ouzel.learners.newton import sketched_oja as oja
from ouzel.learners.rows import Rows
from ouzel.terms.bounds import Clip, Project, projects
from ouzel.terms.losses import Logistic, Squared
from tests.oracles.sketched_newton import DenseFrequentDirections, DenseOja

both = pytest.mark.parametrize("learner", [oja, fd], ids=["oja", "fd"])


def sparse_stream(count, dimension, nonzeros, seed, scale=None):
    rng = np.random.default_rng(seed)
    indices = rng.random((count, dimension)).argsort(axis=1)[:, :nonzeros].astype(np.uint32)
    values = rng.normal(size=(count, nonzeros)).astype(np.float32)
    if scale is not None:
        values *= scale[indices].astype(np.float32)
    labels = np.where(values.sum(axis=1) + 0.3 * rng.normal(size=count) > 0, 1.0, -1.0)
    offsets = np.arange(0, count * nonzeros + 1, nonzeros).astype(np.uint64)
    return Rows(offsets, indices.ravel(), values.ravel()), labels


def learn(learner, rows, labels, dimension, settings):
    state = learner.init(dimension, settings)
    return state, go_on(learner, state, rows, labels, settings)


def go_on(learner, state, rows, labels, settings):
    margins = np.empty(len(labels))
    learner.learn_rows(state, rows, labels, np.ones(len(labels), np.float32), settings, margins)
    return margins


def dense_margins(dense, rows, labels, dimension):
    margins = []
    for i, label in enumerate(labels):
        here = slice(int(rows.offsets[i]), int(rows.offsets[i + 1]))
        raw = np.zeros(dimension)
        raw[rows.indices[here]] = rows.values[here]
        margins.append(dense.learn(rows.indices[here].tolist(), raw, lambda p, y=label: p - y))
    return margins


@pytest.mark.parametrize(("learner", "oracle"), [(oja, DenseOja), (fd, DenseFrequentDirections)], ids=["oja", "fd"])
@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("bound", [Clip(), Project()])
@pytest.mark.parametrize("m", [0, 1, 5])
def test_sparse_and_dense_agree_round_by_round(learner, oracle, diagonal, bound, m):
    count, dimension = 5000, 30
    rows, labels = sparse_stream(count, dimension, 6, seed=m)
    settings = oja.Settings(
        Squared(), float(m), learning_rate=0.125, curvature=0.125, diagonal=diagonal, bound=bound, largest=1.0
    )
    dense = oracle(dimension, m, 8.0, 0.125, 1.0, projects(bound), diagonal)

    _, margins = learn(learner, rows, labels, dimension, settings)

    np.testing.assert_allclose(margins, dense_margins(dense, rows, labels, dimension), atol=1e-8)


@both
@pytest.mark.parametrize("kappa", [1.0, 200.0, 1e6])
@pytest.mark.parametrize("loss", [Logistic(), Squared()], ids=["logistic", "squared"])
def test_no_nan_appears_however_hard_the_stream(learner, kappa, loss):
    dimension = 20
    rows, labels = sparse_stream(1000, dimension, 5, seed=1, scale=np.logspace(0, np.log10(kappa), dimension))
    rows.values[: 5 * 20] = 0.0  # x = 0
    rows.values[-500:] = np.tile(rows.values[-5:], 100)  # repeated x
    rows.indices[-500:] = np.tile(rows.indices[-5:], 100)
    labels[:500] = 1.0
    for exponent in (-20, -10, -3, 0, 3, 10, 20):
        for m in (1, 2, 10, 19, 50):
            for bound, diagonal in ((Clip(), True), (Project(), False)):
                settings = oja.Settings(
                    loss, float(m), 2.0**exponent, diagonal=diagonal, bound=bound, largest=1.0, eta=float(m)
                )
                state, margins = learn(learner, rows, labels, dimension, settings)

                assert np.isfinite(margins).all()
                assert all(np.isfinite(array).all() for array in state)
                assert np.isfinite(learner.weights(state, settings)).all()


@both
def test_labels_all_alike_and_nothing_but_zeros_are_learnt_without_a_nan(learner):
    rows, labels = sparse_stream(300, 8, 3, seed=2)
    for values in (rows.values, np.zeros_like(rows.values), np.ones_like(rows.values)):
        settings = oja.Settings(sketch_size=50.0, learning_rate=1e6)
        state, margins = learn(learner, rows._replace(values=values), np.ones_like(labels), 8, settings)

        assert np.isfinite(margins).all()
        assert np.isfinite(learner.weights(state, settings)).all()


def with_empty_examples(rows, labels, every):
    """The same stream with an example without features after every so many."""
    places = np.arange(every, len(labels), every)
    lengths = np.insert(np.diff(rows.offsets.astype(np.int64)), places, 0)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)
    return rows._replace(offsets=offsets), np.insert(labels, places, 1.0)


def test_examples_without_features_take_no_place_in_an_epoch():
    rows, labels = sparse_stream(300, 8, 3, seed=6)
    settings = fd.Settings(sketch_size=4.0)

    state, _ = learn(fd, rows, labels, 8, settings)
    other, _ = learn(fd, *with_empty_examples(rows, labels, 5), 8, settings)

    np.testing.assert_array_equal(fd.weights(state, settings), fd.weights(other, settings))


def orthonormality_error(learner, state):
    V = learner.directions(state)
    V = V[abs(V).max(axis=1) > 0.0]
    return abs(V @ V.T - np.eye(len(V))).max()


def kept_orthonormality_error(state):
    """Of the rows that the state itself keeps; `directions` of Frequent Directions are made afresh."""
    V = fd.sketch.directions(state)[state.mass > 0.0]
    return abs(V @ V.T - np.eye(len(V))).max()


@both
@pytest.mark.parametrize("count", [20_000, pytest.param(1_000_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("kappa", [1.0, 200.0])
def test_directions_stay_orthonormal(learner, count, kappa):
    rows, labels = sparse_stream(count, 100, 6, seed=3, scale=np.geomspace(1.0, kappa, 100) ** 0.5)
    for diagonal in (0.0, 1.0):
        state, _ = learn(learner, rows, labels, 100, oja.Settings(diagonal=diagonal))

        assert orthonormality_error(learner, state) < 1e-10
        if learner is fd:
            assert kept_orthonormality_error(state) < 1e-10


@both
def test_a_sketch_of_size_zero_is_online_gradient_descent(learner):
    rows, labels = sparse_stream(300, 10, 3, seed=5)
    settings = oja.Settings(Logistic(), 0.0, learning_rate=0.25, diagonal=False)
    w = np.zeros(10)
    for i, y in enumerate(labels):
        here = slice(int(rows.offsets[i]), int(rows.offsets[i + 1]))
        x = np.zeros(10)
        x[rows.indices[here]] = rows.values[here]
        w += y / (1 + np.exp(y * (w @ x))) / 4.0 * x

    state, _ = learn(learner, rows, labels, 10, settings)

    np.testing.assert_allclose(learner.weights(state, settings), w, atol=1e-10)


@both
def test_weights_give_the_margins_that_predictions_have(learner):
    rows, labels = sparse_stream(507, 12, 4, seed=6)
    settings = oja.Settings()
    state, _ = learn(learner, rows, labels, 12, settings)
    margins = np.empty(507)
    learner.predict_rows(state, rows, settings, margins)
    dense = np.zeros((507, 12))
    np.put_along_axis(dense, rows.indices.reshape(507, 4).astype(int), rows.values.reshape(507, 4), axis=1)

    np.testing.assert_allclose(dense @ learner.weights(state, settings), margins, atol=1e-10)


@both
def test_exchanged_classes_lead_to_the_mirrored_state(learner):
    rows, labels = sparse_stream(705, 12, 4, seed=7)
    first, rest = Rows(rows.offsets[:404], rows.indices, rows.values), Rows(rows.offsets[403:], *rows[1:])
    settings = oja.Settings(sketch_size=4.0)
    state, _ = learn(learner, first, labels[:403], 12, settings)
    mirrored = learner.swap_classes(state)

    expected = go_on(learner, state, rest, labels[403:], settings)

    np.testing.assert_allclose(go_on(learner, mirrored, rest, -labels[403:], settings), -expected, atol=1e-12)


@both
def test_a_merged_state_has_the_mean_of_the_weights(learner):
    streams = [sparse_stream(n, 12, 4, seed=n) for n in (203, 407)]
    settings = oja.Settings(sketch_size=4.0)
    states = [learn(learner, rows, labels, 12, settings)[0] for rows, labels in streams]

    merged = learner.merge(states, settings)

    mean = np.average([learner.weights(state, settings) for state in states], axis=0, weights=[203, 407])
    np.testing.assert_allclose(learner.weights(merged, settings), mean, atol=1e-10)


@both
def test_sketching_every_third_gradient_finds_as_much(learner):
    rows, labels = sparse_stream(6000, 20, 5, seed=8, scale=np.geomspace(10.0, 1.0, 20))
    found = []
    for every in (1.0, 3.0):
        settings = oja.Settings(learning_rate=1e-6, sketch_every=every, sketch_size=20.0, diagonal=False)
        found.append(learner.eigenvalues(learn(learner, rows, labels, 20, settings)[0]).sum())

    assert found[1] == pytest.approx(found[0], rel=0.1)


@both
def test_room_that_grows_changes_nothing(learner):
    rows, labels = sparse_stream(600, 40, 4, seed=9)
    rows.indices[:1200] = sparse_stream(300, 20, 4, seed=10)[0].indices
    first, rest = Rows(rows.offsets[:301], *rows[1:]), Rows(rows.offsets[300:], *rows[1:])
    settings = oja.Settings(sketch_size=3.0)
    state, _ = learn(learner, first, labels[:300], 20, settings)
    state = learner.grow(state, 40, settings)
    go_on(learner, state, rest, labels[300:], settings)

    whole, _ = learn(learner, rows, labels, 40, settings)

    np.testing.assert_array_equal(learner.weights(state, settings), learner.weights(whole, settings))
