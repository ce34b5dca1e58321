"""ROMMA knows the norm of its weights, and so goes on learning where no plane parts the classes."""

import numpy as np
import pytest

from ouzel.learners.margin import romma
from ouzel.learners.rows import Rows


def noisy(rng, count, features):
    """Dense rows, and targets of a plane of which a tenth is wrong."""
    values = rng.normal(size=(count, features)).astype(np.float32)
    targets = (values @ np.ones(features) > 0) ^ (rng.random(count) < 0.1)
    offsets = np.arange(0, count * features + 1, features).astype(np.uint64)
    slots = np.tile(np.arange(features), count).astype(np.uint32)
    return Rows(offsets, slots, values.ravel()), targets.astype(np.int64)


def learn(state, rows, targets, settings):
    scores = np.empty((len(targets), 2))
    romma.learn_rows(state, rows, targets, np.ones(len(targets), np.float32), settings, scores)
    return scores


@pytest.mark.parametrize("aggressive", [False, True])
def test_the_norm_kept_is_that_of_the_weights(aggressive):
    rng, settings = np.random.default_rng(0), romma.Settings(aggressive)
    state = romma.init(20, 2, settings)

    for _ in range(30):
        learn(state, *noisy(rng, 200, 20), settings)
        actual = float(((state.table.astype(np.float64) * state.scale) ** 2).sum())

        assert state.square[0] == pytest.approx(actual, rel=1e-4)


def test_weights_without_end_keep_their_direction():
    rng, settings = np.random.default_rng(1), romma.Settings()
    state = romma.init(20, 2, settings)

    learn(state, *noisy(rng, 20_000, 20), settings)
    rows, targets = noisy(rng, 20_000, 20)
    scores = learn(state, rows, targets, settings)

    assert state.square[0] <= romma.LONGEST**2 * 1.001
    assert np.mean((scores[:, 1] > scores[:, 0]) != targets) < 0.3


def test_a_step_that_forgets_all_weights_leaves_the_shortest_with_margin_1():
    settings = romma.Settings(aggressive=True)
    state = romma.init(2, 2, settings)
    both = Rows(np.array([0, 2], np.uint64), np.array([0, 1], np.uint32), np.ones(2, np.float32))
    one = Rows(np.array([0, 1], np.uint64), np.array([0], np.uint32), np.ones(1, np.float32))
    learn(state, both, np.array([0]), settings)

    learn(state, one, np.array([0]), settings)  # the half space of all weights with this margin lies in that before it

    assert (state.table * state.scale)[0].tolist() == [0.5, -0.5]
    assert np.allclose((state.table * state.scale)[1], 0.0)
    assert state.square[0] == pytest.approx(0.5)
