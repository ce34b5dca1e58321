"""Logistic regression without a budget: the plain recursion, and a heap that keeps up with it."""

import numpy as np
import pytest

from ouzel.learners.budget import unbounded
from ouzel.learners.budget.unbounded import Settings
from ouzel.learners.rows import Rows
from ouzel.terms.losses import LOSSES
from ouzel.terms.schedules import SCHEDULES
from tests.learners.streams import dense, learn, merged_states, sparse_rows


def plain(x, y, first, l2, step_of, slope_of):
    """Margins and weights of w <- (1 - l2 eta_t) w - eta_t l' x, dense and in double precision."""
    w, margins = np.zeros(x.shape[1]), []
    for t, (row, label) in enumerate(zip(x, y, strict=True)):
        margins.append(w @ row)
        eta = step_of(first, l2, t)
        w = (1.0 - l2 * eta) * w - eta * slope_of(margins[-1], label) * row
    return np.array(margins), w


STEPS = {
    "inverse-time": lambda first, l2, t: first / (1.0 + l2 * first * t),
    "inverse-root": lambda first, l2, t: first / np.sqrt(1.0 + t),
    "constant": lambda first, l2, t: first,
}
SLOPES = {
    "logistic": lambda margin, label: -label / (1.0 + np.exp(label * margin)),
    "hinge": lambda margin, label: -label if label * margin < 1.0 else 0.0,
}


@pytest.mark.interpreted
@pytest.mark.parametrize("loss", SLOPES)
@pytest.mark.parametrize("schedule", STEPS)
@pytest.mark.parametrize("l2", [1e-6, 0.2])  # the second folds the scale every few dozen examples
def test_it_is_online_gradient_descent(loss, schedule, l2):
    rows, y = sparse_rows(600, 60, 6, seed=3)
    settings = Settings(loss=LOSSES[loss], l2=l2, schedule=SCHEDULES[schedule], learning_rate=0.5)
    expected, w = plain(dense(rows, 60), y, 0.5, l2, STEPS[schedule], SLOPES[loss])

    state, margins = learn(unbounded, rows, y, 60, settings)

    np.testing.assert_allclose(margins, expected, atol=2e-5)
    np.testing.assert_allclose(unbounded.weights(state, settings), w, atol=2e-5)


def test_a_decay_that_takes_all_leaves_the_last_step():
    rows, y = sparse_rows(50, 20, 4, seed=1)
    settings = Settings(l2=1.0, schedule=SCHEDULES["constant"], learning_rate=1.0)
    expected, w = plain(dense(rows, 20), y, 1.0, 1.0, STEPS["constant"], SLOPES["logistic"])

    state, margins = learn(unbounded, rows, y, 20, settings)

    np.testing.assert_allclose(margins, expected, atol=1e-6)
    np.testing.assert_allclose(unbounded.weights(state, settings), w, atol=1e-6)


def test_the_heap_has_the_weights_it_names_and_nearly_all_of_the_heaviest():
    rows, y = sparse_rows(4000, 500, 8, seed=5)
    settings = Settings(heap_size=100.0)
    state, _ = learn(unbounded, rows, y, 500, settings)
    weights = unbounded.weights(state, settings)

    slots, found = unbounded.heaviest(state, 40, settings)

    np.testing.assert_array_equal(weights[slots], found)
    assert len(set(slots.tolist()) & set(np.argsort(-np.abs(weights))[:40].tolist())) >= 38


def test_weights_stay_finite():
    rows, y = sparse_rows(200, 30, 5, seed=2)
    rows.values[::7] = 3e38
    state, _ = learn(unbounded, rows, y, 30, Settings())

    assert all(np.isfinite(array[:-1]).all() for array in (state.weight, state.heap.weights))
    assert not np.isnan(state.heap.bounds).any()


def test_merging_averages_and_mirroring_exchanges():
    rows, y = sparse_rows(400, 30, 5, seed=2)
    settings = Settings(heap_size=10.0)
    halves = [Rows(rows.offsets[:201], rows.indices, rows.values), Rows(rows.offsets[200:], rows.indices, rows.values)]
    states = [learn(unbounded, half, y[k : k + 200], 30, settings)[0] for k, half in zip((0, 200), halves, strict=True)]
    merged = merged_states(unbounded, states, settings, 30)
    mean = (unbounded.weights(states[0], settings) + unbounded.weights(states[1], settings)) / 2
    turned, _ = learn(unbounded, rows, -y, 30, settings)
    state, _ = learn(unbounded, rows, y, 30, settings)

    np.testing.assert_allclose(unbounded.weights(merged, settings), mean, atol=1e-6)
    assert set(unbounded.heaviest(merged, 10, settings)[0].tolist()) == set(np.argsort(-np.abs(mean))[:10].tolist())
    np.testing.assert_array_equal(unbounded.swap_classes(state).weight, turned.weight)
