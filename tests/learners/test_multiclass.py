"""What holds for every learner that keeps all classes in one state."""

import numpy as np
import pytest

from ouzel.learners import catalogue
from ouzel.model.settings import resolve_settings
from tests.learners.classes import ALL, GAUSSIAN, learn, rows_of, stream
from tests.learners.streams import merged_states


@pytest.mark.parametrize("name", ALL)
def test_room_for_classes_and_features_that_come_late_changes_nothing(name):
    X, y = stream(60, 6, 4, seed=3)
    learner = catalogue.find(name)
    settings = resolve_settings(learner, {})
    grown = learner.module.grow(learner.module.init(4, 2, settings), 6, 4, settings)

    _, whole, _, _ = learn(name, X, y, 4)
    _, grown, _, _ = learn(name, X, y, 4, state=grown)

    for one, other in zip(whole, grown, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ALL)
def test_a_class_that_appears_late_is_learnt_and_the_others_are_kept(name):
    X, y = stream(80, 6, 2, seed=3)
    module, state, _, settings = learn(name, X, y, 2)
    before = module.weights(state, settings)
    grown = module.grow(state, 6, 3, settings)

    np.testing.assert_array_equal(module.weights(grown, settings)[:, :2], before)
    assert not module.weights(grown, settings)[:, 2].any()

    _, state, _, _ = learn(name, X[:20], np.full(20, 2), 3, state=grown)

    assert module.weights(state, settings)[:, 2].any()


@pytest.mark.parametrize("name", ALL)
def test_stored_zeros_and_the_cut_into_blocks_change_nothing(name):
    X, y = stream(60, 6, 3, seed=5)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0

    _, sparse, scores, _ = learn(name, X, y, 3)
    _, _, dense_scores, _ = learn(name, X, y, 3, rows=rows_of(X, keep_zeros=True))
    _, part, first, _ = learn(name, X[:25], y[:25], 3)
    _, part, second, _ = learn(name, X[25:], y[25:], 3, state=part)

    np.testing.assert_allclose(dense_scores, scores, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(np.vstack([first, second]), scores)
    for one, other in zip(sparse, part, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ALL)
def test_predictions_after_learning_are_those_of_the_weights(name):
    X, y = stream(60, 6, 3, seed=6)
    module, state, _, settings = learn(name, X, y, 3)
    scores = np.empty((60, 3))

    module.predict_rows(state, rows_of(X), settings, scores)

    expected = X @ module.weights(state, settings)
    if name.startswith("sop"):  # a prediction counts its own example in the matrix: only the order is the weights'
        scores, expected = scores.argmax(axis=1), expected.argmax(axis=1)
        assert (scores == expected).mean() > 0.9
    else:
        np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ALL)
def test_nothing_becomes_nan(name):
    X, y = stream(60, 3, 3, seed=4)
    X[:5] = 0.0
    X[5:8] = 1e18
    X[8:20] = X[8]

    module, state, _, settings = learn(name, X, y, 3)

    assert all(np.isfinite(array).all() for array in state)
    assert np.isfinite(module.weights(state, settings)).all()


@pytest.mark.parametrize("name", ALL)
def test_an_example_of_importance_0_is_left_out(name):
    X, y = stream(30, 4, 3, seed=7)

    module, state, _, settings = learn(name, X, y, 3, importance=0.0)

    assert not module.weights(state, settings).any()
    assert state.updates[0] == 0.0


@pytest.mark.parametrize("name", [name for name in GAUSSIAN if name != "iellip"])
def test_units_of_features_do_not_matter_if_the_prior_has_the_same(name):
    X, y = stream(60, 4, 3, seed=8)

    _, state, scores, _ = learn(name, X, y, 3)
    _, other, scaled, _ = learn(name, 0.25 * X, y, 3, prior=16.0)

    np.testing.assert_array_equal(scaled, scores)
    assert other.updates[0] == state.updates[0]


@pytest.mark.parametrize("name", ["pa", "romma", "alma", "iellip", "iellip-full"])
def test_units_of_features_do_not_matter_at_all(name):
    X, y = stream(60, 4, 3, seed=9)

    _, _, scores, _ = learn(name, X, y, 3)
    _, _, scaled, _ = learn(name, 4.0 * X, y, 3)

    np.testing.assert_array_equal(scaled.argmax(axis=1), scores.argmax(axis=1))


@pytest.mark.parametrize("name", ALL)
def test_merging_with_a_worker_that_has_seen_nothing_changes_nothing(name):
    X, y = stream(60, 4, 3, seed=10)
    module, state, _, settings = learn(name, X, y, 3)

    merged = merged_states(module, [state, module.init(4, 3, settings)], settings, 4, 3)

    np.testing.assert_allclose(module.weights(merged, settings), module.weights(state, settings), rtol=1e-3, atol=1e-5)
    assert merged.updates[0] == state.updates[0]


@pytest.mark.parametrize("name", ["arow-full", "sop-full"])
def test_a_full_matrix_refuses_more_features_than_it_can_hold(name):
    learner = catalogue.find(name)

    with pytest.raises(ValueError, match="takes up to 4,096 of them; there are more"):
        learner.module.init(4098, 3, resolve_settings(learner, {}))
