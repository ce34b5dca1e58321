"""MISSION and BEAR are what their papers say, an example at a time, and keep to their bytes."""

import numpy as np
import pytest

from ouzel.errors import OuzelError
from ouzel.learners.budget import bear, mission
from ouzel.learners.rows import Rows
from ouzel.model.model import Model
from tests.learners.streams import learn, merged_states, row, sparse_rows
from tests.oracles.heavy_hitters import Bear, Mission

SLOTS = np.arange(200, dtype=np.uint32)


def stream(count=400, seed=4):
    """Rows without stored zeros: which of two weights of zero leaves the heap is not laid down."""
    rows, y = sparse_rows(count, 200, 6, seed)
    rows.values[rows.values == 0.0] = 0.5
    return rows, y


def follow(oracle, rows, y):
    """The oracle's margins."""
    return np.array([oracle.learn(*map(np.ndarray.tolist, row(rows, i)), label) for i, label in enumerate(y)])


@pytest.mark.parametrize(("size", "width", "depth"), [(20, 64, 1), (20, 32, 3), (70, 16, 2)])
@pytest.mark.parametrize("l2", [1e-6, 0.5])
def test_mission_is_algorithm_1(size, width, depth, l2):
    rows, y = stream()
    settings = mission.Settings(heap_size=float(size), width=float(width), depth=float(depth), l2=l2)
    state, margins = learn(mission, rows, y, 0, settings)
    oracle = Mission(size, width, depth, state.sketch.tables, l2=l2)
    expected = follow(oracle, rows, y)

    np.testing.assert_allclose(margins, expected, atol=2e-5)
    assert set(mission.members(state).tolist()) == set(oracle.heap)
    np.testing.assert_allclose(mission.estimates(state, SLOTS, settings), [oracle.weight(i) for i in SLOTS], atol=2e-5)


@pytest.mark.parametrize(("size", "width", "depth"), [(20, 4096, 1), (20, 32, 3), (200, 512, 2)])
@pytest.mark.parametrize(("history", "room", "damping"), [(1, 6, 1.0), (5, 6, 0.3), (3, 4, 1.0)])
def test_bear_is_algorithm_1_with_the_directions_of_bfgs(size, width, depth, history, room, damping):
    rows, y = stream()
    settings = bear.Settings(
        heap_size=float(size),
        width=float(width),
        depth=float(depth),
        history=float(history),
        pair_size=float(room),
        damping=damping,
    )
    state, margins = learn(bear, rows, y, 0, settings)
    oracle = Bear(size, width, depth, state.sketch.tables, history=history, room=room, damping=damping)
    expected = follow(oracle, rows, y)

    assert len(oracle.pairs) > 100
    assert int(state.turn[0]) == len(oracle.pairs)
    np.testing.assert_allclose(margins, expected, atol=2e-4, rtol=2e-4)
    assert set(bear.members(state).tolist()) == set(oracle.heap)


def test_bear_is_mission_until_there_is_a_pair_whose_damping_then_holds_steps_back():
    rows, y = stream()
    sizes = {"heap_size": 20.0, "width": 32.0, "depth": 3.0, "l2": 0.0}
    settings = bear.Settings(**sizes, damping=1e9)
    start = Rows(rows.offsets[:51], rows.indices, rows.values)

    plain, _ = learn(mission, Rows(rows.offsets[:2], rows.indices, rows.values), y[:1], 0, mission.Settings(**sizes))
    first, _ = learn(bear, Rows(rows.offsets[:2], rows.indices, rows.values), y[:1], 0, settings)
    early, _ = learn(bear, start, y[:50], 0, settings)
    late, _ = learn(bear, rows, y, 0, settings)

    np.testing.assert_allclose(first.sketch.counters, plain.sketch.counters, rtol=1e-6)
    assert int(early.turn[0]) > 0
    np.testing.assert_allclose(late.sketch.counters, early.sketch.counters, atol=1e-6)


def test_the_pairs_of_bear_count_as_bytes():
    settings = bear.Settings(budget=8192.0)
    state = bear.init(0, settings)

    assert state.slots.shape == state.steps.shape == state.changes.shape == (5, 34)
    assert bear.bytes_used(state) == 8 * 256 + 12 * 5 * 34 + 4 * state.sketch.counters.size <= 8192


@pytest.mark.parametrize(("module", "least"), [(mission, 20), (bear, 80)])
def test_a_budget_that_is_too_small_is_refused_with_the_least_that_will_do(module, least):
    with pytest.raises(OuzelError, match=f"give at least {least} bytes"):
        module.init(0, module.Settings(budget=16.0, heap_size=1.0, depth=3.0))


@pytest.mark.parametrize("module", [mission, bear])
def test_a_feature_that_stands_twice_in_a_row_is_learnt_as_often(module):
    twice = Rows(np.array([0, 3], np.uint64), np.array([5, 7, 5], np.uint32), np.ones(3, np.float32))
    settings = module.Settings(l2=0.0)

    state, _ = learn(module, twice, np.ones(1), 0, settings)

    assert sorted(module.members(state).tolist()) == [5, 7]
    np.testing.assert_allclose(module.estimates(state, np.array([5, 7]), settings), [0.1, 0.05])


def test_merged_models_of_bear_go_on_with_the_pairs_of_the_one_that_has_learnt_most():
    rows, y = stream()
    settings = bear.Settings(heap_size=20.0, width=32.0, depth=3.0)
    parts = [(0, 150), (150, 400)]
    states = [
        learn(bear, Rows(rows.offsets[a : b + 1], rows.indices, rows.values), y[a:b], 0, settings)[0] for a, b in parts
    ]

    merged = merged_states(bear, states, settings, 0)

    np.testing.assert_array_equal(merged.steps, states[1].steps)
    np.testing.assert_allclose(
        merged.sketch.counters,
        sum((b - a) / 400 * s.scale[0] * s.sketch.counters for (a, b), s in zip(parts, states, strict=True)),
        atol=1e-6,
    )


@pytest.mark.parametrize("learner", ["mission", "bear"])
def test_features_outside_of_the_heap_do_not_predict(learner):
    rows, y = stream()
    model = Model(learner, heap_size=4, width=64)
    state, module = model.learner.module.init(0, model.settings), model.learner.module
    module.learn_rows(state, rows, y, np.ones(len(y), np.float32), model.settings, np.empty(len(y)))

    outside = np.setdiff1d(SLOTS, module.members(state))

    assert len(outside) == 196
    assert not module.estimates(state, outside, model.settings).any()
