"""WM-Sketch and AWM-Sketch are Algorithms 1 and 2, and what Theorem 2 makes of the first."""

import numpy as np
import pytest

from ouzel.learners.budget import awm, unbounded, wm
from ouzel.learners.rows import Rows
from ouzel.terms.losses import LOSSES
from ouzel.terms.schedules import SCHEDULES
from tests.learners.streams import learn, merged_states, row, sparse_rows
from tests.oracles.weight_median import ActiveSet, WeightMedian

SLOTS = np.arange(200, dtype=np.uint32)


def stream(count=500, seed=4):
    """Rows without stored zeros: which of two weights of zero leaves the active set is not laid down."""
    rows, y = sparse_rows(count, 200, 6, seed)
    rows.values[rows.values == 0.0] = 0.5
    return rows, y


def follow(oracle, rows, y):
    """The oracle's margins."""
    return np.array([oracle.learn(*map(np.ndarray.tolist, row(rows, i)), label) for i, label in enumerate(y)])


@pytest.mark.parametrize(("width", "depth"), [(64, 1), (32, 3), (16, 4)])
@pytest.mark.parametrize("l2", [1e-6, 2.0])
def test_wm_is_algorithm_1(width, depth, l2):
    rows, y = stream()
    settings = wm.Settings(width=float(width), depth=float(depth), l2=l2)
    state, margins = learn(wm, rows, y, 0, settings)
    oracle = WeightMedian(width, depth, state.sketch.tables, l2=l2)
    expected = follow(oracle, rows, y)

    np.testing.assert_allclose(margins, expected, atol=2e-5)
    np.testing.assert_allclose(wm.estimates(state, SLOTS, settings), [oracle.query(i) for i in SLOTS], atol=2e-5)


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("l2", [1e-6, 2.0])
def test_averaging_recovers_from_the_mean_iterate(depth, l2):
    rows, y = stream()
    settings = wm.Settings(width=32.0, depth=float(depth), l2=l2, averaging=True)
    state, margins = learn(wm, rows, y, 0, settings)
    oracle = WeightMedian(32, depth, state.sketch.tables, l2=l2)
    expected = follow(oracle, rows, y)
    means = [oracle.mean_query(i) for i in SLOTS]

    np.testing.assert_allclose(margins, expected, atol=2e-5)
    np.testing.assert_allclose(wm.estimates(state, SLOTS, settings), means, atol=2e-5)
    slots, weights = wm.top(state, 5, settings)
    np.testing.assert_allclose(weights, np.array(means)[slots], atol=2e-5)
    assert wm.bytes_used(state) == 8 * 128 + 2 * 4 * 32 * depth


@pytest.mark.parametrize("averaging", [False, True])
def test_projection_keeps_the_sketch_in_its_ball(averaging):
    rows, y = stream()
    settings = wm.Settings(width=32.0, depth=3.0, learning_rate=0.5, l2=0.05, radius=0.4, averaging=averaging)
    state, margins = learn(wm, rows, y, 0, settings)
    oracle = WeightMedian(32, 3, state.sketch.tables, rate=0.5, l2=0.05, radius=0.4)
    expected = follow(oracle, rows, y)
    query = oracle.mean_query if averaging else oracle.query

    np.testing.assert_allclose(margins, expected, atol=2e-5)
    np.testing.assert_allclose(wm.estimates(state, SLOTS, settings), [query(i) for i in SLOTS], atol=2e-5)
    assert np.linalg.norm(state.sketch.counters) * state.scale[0] / 3**0.5 <= 0.4 * (1 + 1e-5)


def test_a_mean_of_workers_is_the_mean_of_all_iterates():
    rows, y = stream()
    settings = wm.Settings(width=32.0, depth=3.0, averaging=True)
    halves = [Rows(rows.offsets[:201], rows.indices, rows.values), Rows(rows.offsets[200:], rows.indices, rows.values)]
    states = [learn(wm, part, labels, 0, settings)[0] for part, labels in zip(halves, (y[:200], y[200:]), strict=True)]
    oracles = [WeightMedian(32, 3, states[0].sketch.tables) for _ in states]
    for oracle, part, labels in zip(oracles, halves, (y[:200], y[200:]), strict=True):
        follow(oracle, part, labels)
    both = WeightMedian(32, 3, states[0].sketch.tables)
    both.sum, both.t = oracles[0].sum + oracles[1].sum, 500

    merged = merged_states(wm, states, settings, 0)

    np.testing.assert_allclose(wm.estimates(merged, SLOTS, settings), [both.mean_query(i) for i in SLOTS], atol=2e-5)


def test_a_row_longer_than_what_is_noted_is_learnt_alike(monkeypatch):
    rows, y = stream()
    settings = wm.Settings(width=32.0, depth=3.0)
    state, margins = learn(wm, rows, y, 0, settings)
    short = wm.init(0, settings)
    short = short._replace(columns=short.columns[:4].copy(), signs=short.signs[:4].copy())
    others = np.empty(len(y))
    wm.learn_rows(short, rows, y, np.ones(len(y), np.float32), settings, others)

    np.testing.assert_array_equal(margins, others)
    np.testing.assert_array_equal(state.sketch.counters, short.sketch.counters)


@pytest.mark.parametrize(("size", "width", "depth"), [(20, 64, 1), (20, 32, 3), (70, 16, 2)])
@pytest.mark.parametrize("l2", [1e-6, 0.5])
def test_awm_is_algorithm_2(size, width, depth, l2):
    rows, y = stream()
    settings = awm.Settings(heap_size=float(size), width=float(width), depth=float(depth), l2=l2)
    state, margins = learn(awm, rows, y, 0, settings)
    oracle = ActiveSet(size, width, depth, state.tables, l2=l2)
    expected = follow(oracle, rows, y)

    np.testing.assert_allclose(margins, expected, atol=2e-5)
    assert set(awm.members(state).tolist()) == set(oracle.active)
    weights = [oracle.active.get(i, oracle.query(i)) for i in SLOTS.tolist()]
    np.testing.assert_allclose(awm.estimates(state, SLOTS, settings), weights, atol=2e-5)
    assert len(oracle.evicted) > 50
    assert all(estimate == pytest.approx(last) for _, last, estimate in oracle.evicted)


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("loss", "schedule"),
    [
        ("logistic", "inverse-time"),
        ("logistic", "inverse-root"),
        ("logistic", "constant"),
        ("smoothed-hinge", "inverse-time"),
        ("squared", "inverse-time"),
    ],
)
def test_without_collisions_both_are_gradient_descent(loss, schedule):
    rows, y = stream()
    terms = {"loss": LOSSES[loss], "schedule": SCHEDULES[schedule], "learning_rate": 0.02, "l2": 0.01}
    _, expected = learn(unbounded, rows, y, 200, unbounded.Settings(**terms))
    _, sketched = learn(wm, rows, y, 0, wm.Settings(width=2.0**22, depth=2.0, **terms))
    _, active = learn(awm, rows, y, 0, awm.Settings(heap_size=200.0, width=8.0, **terms))

    np.testing.assert_allclose(sketched, expected, atol=1e-6)
    np.testing.assert_allclose(active, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("kilobytes", "sketch", "active"),
    [
        (2, (64, 48, 8), (128, 256, 1)),
        (4, (128, 96, 8), (256, 512, 1)),
        (8, (128, 224, 8), (512, 1024, 1)),
        (16, (128, 480, 8), (1024, 2048, 1)),
        (32, (128, 992, 8), (2048, 4096, 1)),
    ],
)
def test_a_budget_is_split_into_eight_rows_or_as_in_table_2(kilobytes, sketch, active):
    assert wm.configure(wm.Settings(budget=1024.0 * kilobytes)) == sketch
    assert awm.configure(awm.Settings(budget=1024.0 * kilobytes)) == active


@pytest.mark.parametrize("budget", [16, 17, 24, 31, 64, 100, 1000])
def test_the_smallest_budgets_are_kept(budget):
    settings = wm.Settings(budget=float(budget))

    assert 0 < wm.bytes_used(wm.init(0, settings)) <= budget


def test_rows_and_their_width_leave_the_rest_to_each_other():
    assert wm.configure(wm.Settings(budget=8192.0, width=128.0)) == (128, 128, 14)
    assert wm.configure(wm.Settings(budget=8192.0, depth=2.0)) == (128, 896, 2)


def test_an_averaging_sketch_pays_for_its_second_table():
    settings = wm.Settings(budget=8192.0, averaging=True)

    assert wm.configure(settings) == (128, 112, 8)
    assert wm.bytes_used(wm.init(0, settings)) == 8192
