"""Merged learners of a byte budget keep what their sketches know."""

import numpy as np
import pytest

from ouzel.learners import catalogue
from ouzel.learners.budget import awm
from ouzel.learners.rows import Rows
from ouzel.model.settings import resolve_settings
from ouzel.sketches import active_set
from tests.learners.streams import learn, merged_states, sparse_rows


def single(slots, values=None):
    """Rows of one feature each."""
    values = np.ones(len(slots)) if values is None else values
    return Rows(np.arange(len(slots) + 1).astype(np.uint64), np.array(slots, np.uint32), np.array(values, np.float32))


@pytest.mark.parametrize(("name", "budget", "rare"), [("space-saving", 48, 4), ("count-min", 512, 30)])
def test_rare_features_do_not_evict_what_merged_workers_have_counted(name, budget, rare):
    learner = catalogue.find(name)
    settings, module = resolve_settings(learner, {"budget": float(budget)}), learner.module
    frequent = np.arange(3000) % 3
    worker, _ = learn(module, single(frequent), np.where(frequent == 0, 1.0, -1.0), 0, settings)
    merged = merged_states(module, [worker, worker], settings, 0)

    module.learn_rows(merged, single(range(100, 100 + rare)), np.ones(rare), np.ones(rare), settings, np.empty(rare))

    assert {0, 1, 2} <= set(module.members(merged).tolist())
    counts = dict(zip(merged.heap.keys.tolist(), merged.heap.weights.tolist(), strict=True))
    assert [counts[slot] for slot in range(3)] == [2000, 2000, 2000]
    np.testing.assert_allclose(
        module.estimates(merged, np.arange(3), settings), module.estimates(worker, np.arange(3), settings), rtol=1e-4
    )


@pytest.mark.parametrize("name", ["space-saving", "count-min"])
def test_counts_of_a_learner_go_on_beyond_what_single_precision_counts(name):
    learner = catalogue.find(name)
    settings, module = resolve_settings(learner, {}), learner.module
    state, _ = learn(module, single([5, 9]), np.ones(2), 0, settings)
    for counters in (state.heap.weights, *([state.sketch.counters] if name == "count-min" else [])):
        counters[counters > 0] = 2**24

    module.learn_rows(state, single([5, 5, 5]), np.ones(3), np.ones(3), settings, np.empty(3))

    assert state.heap.weights[:2].tolist() == [2**24 + 3, 2**24]
    assert module.bytes_used(state) <= settings.budget


@pytest.mark.parametrize("depth", [1.0, 3.0])
def test_features_that_stay_in_the_merged_set_are_not_put_into_its_sketch(depth):
    rows, y = sparse_rows(600, 200, 6, seed=4)
    settings = awm.Settings(heap_size=20.0, width=64.0, depth=depth)
    state, _ = learn(awm, rows, y, 0, settings)

    merged = merged_states(awm, [state, state], settings, 0)

    assert set(awm.members(merged).tolist()) == set(awm.members(state).tolist())
    np.testing.assert_allclose(
        active_set.counters(merged), active_set.counters(state) * state.scale[0], rtol=1e-6, atol=1e-9
    )


def test_features_that_leave_the_set_of_any_worker_are_estimated_by_their_mean_weight():
    settings = awm.Settings(heap_size=4.0, width=4096.0, l2=0.0)
    heavy, light = (
        learn(awm, single(slots, sizes), np.ones(4), 0, settings)[0]
        for slots, sizes in (([1, 2, 3, 4], [9.0, 8.0, 7.0, 6.0]), ([5, 6, 7, 8], [4.0, 3.0, 2.0, 1.0]))
    )

    merged = merged_states(awm, [heavy, light], settings, 0)

    assert sorted(awm.members(merged).tolist()) == [1, 2, 3, 4]
    for slot in range(5, 9):
        mean = awm.estimates(light, np.array([slot], np.uint32), settings)[0] / 2
        assert active_set.query(merged, np.uint32(slot)) == pytest.approx(mean, rel=1e-6)
