"""The full-matrix online Newton learners, against the paper's equations and its claim of invariance."""

import numpy as np
import pytest

import ouzel
from ouzel.errors import OuzelError
from ouzel.learners.newton import online_newton as ons
from ouzel.learners.newton import online_newton_invariant as invariant
from ouzel.learners.rows import Rows
from ouzel.model.model import Model
from ouzel.terms.bounds import Clip, Project, projects
from ouzel.terms.losses import Logistic, Squared
from tests.learners.streams import merged_states

both = pytest.mark.parametrize("learner", [ons, invariant], ids=["ons", "invariant"])


def dense_rows(X):
    n, d = X.shape
    offsets = np.arange(0, n * d + 1, d).astype(np.uint64)
    return Rows(offsets, np.tile(np.arange(d, dtype=np.uint32), n), np.ascontiguousarray(X, np.float64).ravel())


def stream(count, dimension, seed, share=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, dimension)) * (rng.random((count, dimension)) < share)
    return X, np.where(X @ rng.normal(size=dimension) + 0.3 * rng.normal(size=count) > 0, 1.0, -1.0)


def learn(learner, X, labels, settings, state=None):
    state = learner.init(X.shape[1], settings) if state is None else state
    margins = np.empty(len(labels))
    learner.learn_rows(state, dense_rows(X), labels, np.ones(len(labels), np.float32), settings, margins)
    return state, margins


def by_equations(X, labels, alpha, curvature, eta, largest, project):
    """Eqs (1) and (2) with A inverted afresh, and the projection by Lemma 1."""
    A, u, margins = alpha * np.eye(X.shape[1]), np.zeros(X.shape[1]), []
    for t, (x, y) in enumerate(zip(X, labels, strict=True), start=1):
        w, margin = u, np.clip(u @ x, -largest, largest)
        if project and abs(u @ x) > largest:
            direction = np.linalg.solve(A, x)
            w = u - (u @ x - margin) / (x @ direction) * direction
        g = (margin - y) * x
        A += (curvature + eta / np.sqrt(t)) * np.outer(g, g)
        u = w - np.linalg.solve(A, g)
        margins.append(margin)
    return np.array(margins), u


@pytest.mark.interpreted
@pytest.mark.parametrize("eta", [0.0, 0.5])
@pytest.mark.parametrize("bound", [Clip(), Project()])
def test_rank_one_updates_are_the_equations(bound, eta):
    X, labels = stream(1500, 12, seed=0, share=0.5)
    settings = ons.Settings(Squared(), 0.125, 0.25, eta, bound, 1.0)
    expected, u = by_equations(X, labels, 8.0, 0.25, eta, 1.0, projects(bound))

    state, margins = learn(ons, X, labels, settings)

    np.testing.assert_allclose(margins, expected, atol=1e-8)
    np.testing.assert_allclose(ons.weights(state, settings), u, atol=1e-8)


@pytest.mark.interpreted
def test_lemma_1_is_the_nearest_point_of_bounded_prediction():
    """In the norm of A no other point with |w'x| <= C is nearer."""
    X, labels = stream(60, 5, seed=1)
    settings = ons.Settings(Squared(), 4.0, 0.25, 0.0, Project(), 0.5)
    state, _ = learn(ons, X, labels, settings)
    A = np.linalg.inv(state.inverse[:5, :5])
    u, x = state.weight[:5].copy(), 20.0 * X[0]
    state, _ = learn(ons, x[None], np.array([np.sign(u @ x) * 0.5]), settings, state)  # a slope of 0: projected only
    w, rng = state.weight[:5], np.random.default_rng(2)

    assert abs(u @ x) > 0.5
    assert w @ x == pytest.approx(np.clip(u @ x, -0.5, 0.5))
    for _ in range(300):
        other = w + 0.1 * rng.normal(size=5)
        other -= x * (other @ x - np.clip(other @ x, -0.5, 0.5)) / (x @ x)
        assert (w - u) @ A @ (w - u) <= (other - u) @ A @ (other - u) + 1e-12


def by_pseudo_inverse(X, labels, curvature, largest):
    """Appendix D with a pseudo-inverse taken afresh; w'x = 0 for x outside the range of A."""
    A, u, margins = np.zeros((X.shape[1], X.shape[1])), np.zeros(X.shape[1]), []
    for x, y in zip(X, labels, strict=True):
        pseudo = np.linalg.pinv(A, rcond=1e-12, hermitian=True)
        outside = x - A @ (pseudo @ x)
        if np.linalg.norm(outside) > 1e-8 * np.linalg.norm(x):
            margin, w = 0.0, u - (u @ x) / (x @ outside) * outside
        else:
            margin = np.clip(u @ x, -largest, largest)
            square = x @ pseudo @ x
            w = u - (u @ x - margin) / square * (pseudo @ x) if square > 0 else u
        g = (margin - y) * x
        A = A + curvature * np.outer(g, g)
        u = w - np.linalg.pinv(A, rcond=1e-12, hermitian=True) @ g
        margins.append(margin)
    return np.array(margins)


@pytest.mark.interpreted
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_the_invariant_form_is_appendix_d(share):
    X, labels = stream(400, 10, seed=3, share=share)
    X[50:100] = X[:50]  # in the range already

    _, margins = learn(invariant, X, labels, invariant.Settings(Squared(), 0.25, 0.0, Project(), 1.0))

    np.testing.assert_allclose(margins, by_pseudo_inverse(X, labels, 0.25, 1.0), atol=1e-7)


@pytest.mark.interpreted
@pytest.mark.parametrize("bound", [Clip(), Project()])
@pytest.mark.parametrize("condition", [1.0, 1e2, 1e4])
@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=["squared", "logistic"])
def test_predictions_are_the_same_in_any_coordinates(condition, bound, loss):
    X, labels = stream(1000, 10, seed=4)
    X[:40, 6:] = 0.0  # at first a subspace
    rng = np.random.default_rng(5)
    U, V = (np.linalg.qr(rng.normal(size=(10, 10)))[0] for _ in range(2))
    M = U @ np.diag(np.geomspace(1.0, 1.0 / condition, 10)) @ V
    settings = invariant.Settings(loss, 0.25, 0.0, bound, 3.0)

    _, plain = learn(invariant, X, labels, settings)
    _, changed = learn(invariant, X @ M.T, labels, settings)

    np.testing.assert_allclose(changed, plain, atol=1e-6)
    assert not projects(bound) or np.mean(plain[500:] * labels[500:] > 0) > 0.8


def test_lemma_2s_point_would_depend_on_coordinates():
    """What the paper prints for x outside the range keeps u'x where it can: why w'x = 0 is taken."""
    x, y = np.array([1.0, 0.0]), np.array([1.0, 1.0])
    u = 0.3 * x  # learnt from x alone
    M = np.array([[1.0, 0.5], [0.0, 1.0]])

    assert u @ y != pytest.approx((0.3 * (M @ x) / ((M @ x) @ (M @ x))) @ (M @ y))


@pytest.mark.interpreted
@both
@pytest.mark.parametrize("loss", [Logistic(), Squared()], ids=["logistic", "squared"])
def test_no_nan_appears_however_hard_the_stream(learner, loss):
    X, labels = stream(400, 20, seed=6, share=0.4)
    X[:20] = 0.0
    X[-100:] = X[-1]
    labels[:200] = 1.0
    for kappa in (1.0, 200.0, 1e6):
        for exponent in (-20, -5, 0, 5, 20) if learner is ons else (0,):  # the other has no rate
            for bound in (Clip(), Project()):
                settings = learner.Settings(loss=loss, bound=bound, largest=1.0)
                if learner is ons:
                    settings = settings._replace(learning_rate=2.0**exponent)
                state, margins = learn(learner, X * np.geomspace(1.0, kappa, 20), labels, settings)

                assert np.isfinite(margins).all()
                assert all(np.isfinite(array).all() for array in state)


@pytest.mark.interpreted
@both
def test_weights_give_the_margins_that_predictions_have(learner):
    X, labels = stream(300, 8, seed=7, share=0.6)
    settings = learner.Settings()
    state, _ = learn(learner, X, labels, settings)
    margins = np.empty(300)
    learner.predict_rows(state, dense_rows(X), settings, margins)

    expected = np.clip(X @ learner.weights(state, settings), -settings.largest, settings.largest)
    np.testing.assert_allclose(expected, margins, atol=1e-9)


@both
def test_exchanged_classes_lead_to_the_mirrored_state(learner):
    X, labels = stream(300, 8, seed=8, share=0.6)
    settings = learner.Settings()
    state, _ = learn(learner, X[:200], labels[:200], settings)
    mirrored = learner.swap_classes(state)

    _, expected = learn(learner, X[200:], labels[200:], settings, state)
    _, margins = learn(learner, X[200:], -labels[200:], settings, mirrored)

    np.testing.assert_allclose(margins, -expected, atol=1e-12)


@both
def test_a_worker_that_has_seen_nothing_changes_nothing_in_a_merge(learner):
    X, labels = stream(800, 6, seed=9)
    settings = learner.Settings()
    state, _ = learn(learner, X, labels, settings)

    merged = merged_states(learner, [state, learner.init(6, settings)], settings, 6)

    np.testing.assert_allclose(learner.weights(merged, settings), learner.weights(state, settings), rtol=1e-6)
    assert merged.counts[0] == 800


@both
def test_a_merged_metric_is_the_sum_of_both(learner):
    streams = [stream(n, 6, seed=n) for n in (60, 90)]
    settings = learner.Settings()
    states = [learn(learner, X, labels, settings)[0] for X, labels in streams]
    merged = merged_states(learner, states, settings, 6)

    def metric(state):
        if learner is ons:
            return np.linalg.inv(state.inverse) - np.eye(6)
        return state.basis.T @ np.linalg.inv(state.inverse) @ state.basis

    np.testing.assert_allclose(metric(merged), metric(states[0]) + metric(states[1]), rtol=1e-8, atol=1e-8)


@both
def test_room_that_grows_changes_nothing(learner):
    X, labels = stream(200, 12, seed=10)
    X[:100, 6:] = 0.0
    settings = learner.Settings()
    state, _ = learn(learner, X[:100, :6], labels[:100], settings)
    state, _ = learn(learner, X[100:], labels[100:], settings, learner.grow(state, 12, settings))

    whole, _ = learn(learner, X, labels, settings)

    np.testing.assert_array_equal(learner.weights(state, settings), learner.weights(whole, settings))


def test_what_cannot_be_kept_or_learnt_is_refused():
    with pytest.raises(OuzelError, match="ons keeps a matrix over all features and takes up to 2,048 of them"):
        ons.init(3000, ons.Settings())
    with pytest.raises(OuzelError, match="needs curvature or eta above 0; got 0 and 0"):
        invariant.init(3, invariant.Settings(curvature=0.0))


@pytest.mark.parametrize(("condition", "apart"), [(1.0, 1e-5), (100.0, 1e-4), (1e4, 1e-2)])
def test_through_a_model_invariance_holds_as_far_as_single_precision_does(condition, apart):
    """A model takes x and Mx rounded to 24 bits each: margins here have a standard deviation of 4."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 10))
    y = np.sign(X @ rng.normal(size=10) + 0.3 * rng.normal(size=600))
    left, right = (np.linalg.qr(rng.normal(size=(10, 10)))[0] for _ in range(2))
    mixed = X @ (left @ np.diag(np.geomspace(1.0, 1.0 / condition, 10)) @ right).T
    models = [ouzel.OnlineNewtonClassifier(invariant=True) for _ in range(2)]
    margins = [
        model.partial_fit(Z[:400], y[:400], classes=[-1, 1]).decision_function(Z[400:])
        for model, Z in zip(models, (X, mixed), strict=True)
    ]

    np.testing.assert_allclose(margins[1], margins[0], atol=apart)
    np.testing.assert_array_equal(np.sign(margins[1]), np.sign(margins[0]))


def test_rounding_takes_nothing_off_the_inverse_below_zero():
    rows = np.tile([[3000.0, 0.0], [1600.0, 1.0]], (30, 1))
    importances = np.resize([1.0, 0.0, 1e9, 1e-9, 1.0, 1e9, 1e-30], len(rows))

    model = Model("ons-invariant", loss="squared-hinge")
    for row, label, importance in zip(rows, np.arange(len(rows)) % 3, importances, strict=True):
        slots = np.flatnonzero(row).astype(np.uint32)
        model.learn_one(slots, row[slots].astype(np.float32), int(label), np.float32(importance))

    for state in model.states:
        assert (np.diagonal(state.inverse) >= 0.0).all()
        assert np.abs(state.inverse).max() <= invariant.LARGEST_INVERSE
