"""The sparse sketched Newton learners do what the dense algorithms of the paper do."""

import itertools

import numpy as np
import pytest

from ouzel.layout import flat
from ouzel.learners.newton import sketched_fd as fd
from ouzel.learners.newton import sketched_oja as oja
from ouzel.learners.newton import sketched_rp as rp
from ouzel.learners.rows import Rows
from ouzel.sketches.spectral import oja as oja_sketch
from ouzel.sketches.spectral import sparse_frequent_directions
from ouzel.sketches.spectral.starting_directions import start_given
from ouzel.terms.bounds import Clip, Project, projects
from ouzel.terms.losses import Logistic, Squared
from ouzel.terms.starts import FirstSeen, Ids, Random
from tests.learners.streams import merged_states
from tests.oracles.sketched_newton import DenseFrequentDirections, DenseOja, DenseRandomProjection

both = pytest.mark.parametrize("learner", [oja, fd], ids=["oja", "fd"])
each = pytest.mark.parametrize("learner", [oja, fd, rp], ids=["oja", "fd", "rp"])
ORACLES = {oja: DenseOja, fd: DenseFrequentDirections, rp: DenseRandomProjection}
STARTING = {oja: {"start": FirstSeen()}, fd: {}, rp: {}}  # only Oja's directions start somewhere


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


OTHER_VIEWS = [{"diagonal": False}, {"normalised": False}, {"normalised": False, "earlier": True}, {"earlier": True}]
VIEWS = [{}, *(pytest.param(view, marks=pytest.mark.interpreted) for view in OTHER_VIEWS)]


@each
@pytest.mark.parametrize("view", VIEWS, ids=["normalised", "raw", "diagonal", "diagonal-earlier", "normalised-earlier"])
@pytest.mark.parametrize("bound", [Clip(), Project()])
@pytest.mark.parametrize("m", [0, 1, 5])
def test_sparse_and_dense_agree_round_by_round(learner, view, bound, m):
    count, dimension = 400, 30  # 40 epochs of Frequent Directions
    rows, labels = sparse_stream(count, dimension, 6, seed=m)
    common = {"diagonal": True, "normalised": True, "first_square": 0.3} | view
    settings = oja.Settings(
        Squared(), float(m), 0.125, 0.125, bound=bound, largest=1.0, by_mass=False, **STARTING[learner], **common
    )
    dense = ORACLES[learner](dimension, m, 8.0, 0.125, 1.0, projects(bound), **common)

    _, margins = learn(learner, rows, labels, dimension, settings)

    np.testing.assert_allclose(margins, dense_margins(dense, rows, labels, dimension), atol=1e-8)


def starting_directions(rows, dimension, settings):
    """V (m, d + m) that a learner starts from, the virtual slots last: slots are seen, and nothing is learnt."""
    state = oja.init(dimension, settings).sketch
    for first, last in itertools.pairwise(rows.offsets.tolist()):
        oja_sketch.welcome(state, rows.indices[first:last], rows.values[first:last], 1.0)
    return np.hstack([oja_sketch.vectors(state), (state.basis @ state.pool.T)])


STARTS = [Random(), Random(64.0), Random(31.0), Random(4.0), FirstSeen(), Ids(2.0), Ids(-1.0)]


@pytest.mark.parametrize(
    "start", STARTS, ids=["2^18", "64", "31", "4", "first-seen", "ids-from-2", "ids-from-constant"]
)
@pytest.mark.parametrize("by_mass", [True, False])
def test_ojas_directions_start_and_turn_as_the_dense_ones_do(start, by_mass):
    dimension, m = 30, 5
    rows, labels = sparse_stream(400, dimension, 6, seed=3)
    settings = oja.Settings(Squared(), float(m), 0.125, by_mass=by_mass, gamma=1.5, start=start, sketch_seed=7.0)
    V = starting_directions(rows, dimension, settings)
    assert abs(V @ V.T - np.eye(m)).max() < 1e-12
    dense = DenseOja(
        dimension + m, m, 8.0, 0.25, np.inf, diagonal=True, normalised=True, start=V, gamma=1.5, by_mass=by_mass
    )
    expected = []
    for i, y in enumerate(labels):
        here = slice(int(rows.offsets[i]), int(rows.offsets[i + 1]))
        raw = np.zeros(dimension + m)
        raw[rows.indices[here]] = rows.values[here]
        expected.append(dense.learn(rows.indices[here].tolist(), raw, lambda p, y=y: p - y))

    state, margins = learn(oja, rows, labels, dimension, settings)

    np.testing.assert_allclose(margins, expected, atol=1e-7)
    np.testing.assert_allclose(state.sketch.mass, dense.mass, rtol=1e-7)


def test_ojas_directions_may_be_given():
    rows, labels = sparse_stream(500, 30, 6, seed=4)
    V = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 5)))[0].T
    settings = oja.Settings(Squared(), 5.0, 0.125, 0.125, diagonal=False, largest=1.0)
    state = oja.init(30, settings)
    start_given(state.sketch, np.arange(30, dtype=np.uint32), V)
    dense = DenseOja(30, 5, 8.0, 0.125, 1.0, start=V, by_mass=True)
    dense.seen[:] = True

    margins = go_on(oja, state, rows, labels, settings)

    np.testing.assert_allclose(margins, dense_margins(dense, rows, labels, 30), atol=1e-8)


def test_random_directions_do_not_depend_on_the_numbers_of_features():
    rows, labels = sparse_stream(2000, 40, 6, seed=5, scale=np.geomspace(30.0, 1.0, 40))
    numbers = np.random.default_rng(1).permutation(40).astype(np.uint32)
    renumbered = rows._replace(indices=numbers[rows.indices])
    settings = oja.Settings(sketch_size=5.0)

    _, margins = learn(oja, rows, labels, 40, settings)
    _, others = learn(oja, renumbered, labels, 40, settings)

    np.testing.assert_allclose(others, margins, atol=1e-3)


FEW = (-20, 0, 20), (1, 10, 50)  # powers of two of the rate, and sizes of the sketch: both ends, and what is usual
MANY = (-20, -10, -3, 0, 3, 10, 20), (1, 2, 10, 19, 50)


@each
@pytest.mark.parametrize("tried", [FEW, pytest.param(MANY, marks=pytest.mark.long)], ids=["few", "many"])
@pytest.mark.parametrize("kappa", [1.0, 200.0, 1e6])
@pytest.mark.parametrize("loss", [Logistic(), Squared()], ids=["logistic", "squared"])
def test_no_nan_appears_however_hard_the_stream(learner, kappa, loss, tried):
    dimension = 20
    rows, labels = sparse_stream(1000, dimension, 5, seed=1, scale=np.logspace(0, np.log10(kappa), dimension))
    rows.values[: 5 * 20] = 0.0  # x = 0
    rows.values[-500:] = np.tile(rows.values[-5:], 100)  # repeated x
    rows.indices[-500:] = np.tile(rows.indices[-5:], 100)
    labels[:500] = 1.0
    for exponent in tried[0]:
        for m in tried[1]:
            for more in ({"bound": Clip()}, {"bound": Project(), "diagonal": False, **STARTING[learner]}):
                settings = oja.Settings(loss, float(m), 2.0**exponent, largest=1.0, eta=float(m), **more)
                state, margins = learn(learner, rows, labels, dimension, settings)

                assert np.isfinite(margins).all()
                assert all(np.isfinite(array).all() for _, array in flat(state))
                assert np.isfinite(learner.weights(state, settings)).all()


@each
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
    if learner is oja:
        V = np.hstack([oja_sketch.vectors(state.sketch), state.sketch.basis @ state.sketch.pool.T])
    V = V[abs(V).max(axis=1) > 0.0]
    return abs(V @ V.T - np.eye(len(V))).max()


def kept_orthonormality_error(state):
    """Of the rows that the state itself keeps; `directions` of Frequent Directions are made afresh."""
    V = sparse_frequent_directions.directions(state.sketch)[state.sketch.mass > 0.0]
    return abs(V @ V.T - np.eye(len(V))).max()


@each
@pytest.mark.parametrize("count", [20_000, pytest.param(1_000_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("kappa", [1.0, 200.0])
def test_directions_stay_orthonormal(learner, count, kappa):
    rows, labels = sparse_stream(count, 100, 6, seed=3, scale=np.geomspace(1.0, kappa, 100) ** 0.5)
    for diagonal in (False, True):
        state, _ = learn(learner, rows, labels, 100, oja.Settings(diagonal=diagonal))

        assert orthonormality_error(learner, state) < 1e-10
        if learner is fd:
            assert kept_orthonormality_error(state) < 1e-10


@each
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


@each
def test_weights_give_the_margins_that_predictions_have(learner):
    rows, labels = sparse_stream(507, 12, 4, seed=6)
    settings = oja.Settings()
    state, _ = learn(learner, rows, labels, 12, settings)
    margins = np.empty(507)
    learner.predict_rows(state, rows, settings, margins)
    dense = np.zeros((507, 12))
    np.put_along_axis(dense, rows.indices.reshape(507, 4).astype(int), rows.values.reshape(507, 4), axis=1)

    np.testing.assert_allclose(dense @ learner.weights(state, settings), margins, atol=1e-10)


@each
def test_exchanged_classes_lead_to_the_mirrored_state(learner):
    rows, labels = sparse_stream(705, 12, 4, seed=7)
    first, rest = Rows(rows.offsets[:404], rows.indices, rows.values), Rows(rows.offsets[403:], *rows[1:])
    settings = oja.Settings(sketch_size=4.0)
    state, _ = learn(learner, first, labels[:403], 12, settings)
    mirrored = learner.swap_classes(state)

    expected = go_on(learner, state, rest, labels[403:], settings)

    np.testing.assert_allclose(go_on(learner, mirrored, rest, -labels[403:], settings), -expected, atol=1e-12)


@each
@pytest.mark.parametrize("diagonal", [True, False])
def test_a_merged_weight_is_the_mean_of_the_workers_by_what_each_has_learnt_of_its_slot(learner, diagonal):
    """By D_j - D_0, the squared gradients of the slot; without the diagonal, by examples."""
    streams = [sparse_stream(n, 12, 4, seed=n) for n in (203, 407)]
    settings = oja.Settings(sketch_size=4.0, diagonal=diagonal, normalised=False)
    states = [learn(learner, rows, labels, 12, settings)[0] for rows, labels in streams]

    merged = merged_states(learner, states, settings, 12)

    shares = np.array([np.full(12, 203.0), np.full(12, 407.0)])
    if diagonal:
        shares = np.array([state.sketch.table[:, 1] ** -2 - settings.first_square for state in states])
    mean = np.average([learner.weights(state, settings) for state in states], axis=0, weights=shares)
    np.testing.assert_allclose(learner.weights(merged, settings), mean, atol=1e-9)


@each
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
