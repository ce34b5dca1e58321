"""Simple and probabilistic truncation are Algorithms 3 and 4: all updates of an example, then the cut."""

import numpy as np
import pytest

from ouzel.learners.budget import probabilistic_truncation, truncation
from ouzel.learners.rows import Rows
from tests.learners.streams import learn, row, sparse_rows
from tests.oracles.truncation import ProbabilisticTruncation, Truncation

SLOTS = np.arange(200, dtype=np.uint32)


def stream(count=500, seed=4):
    """Rows without stored zeros: which of two weights of zero is kept is not laid down."""
    rows, y = sparse_rows(count, 200, 8, seed)
    rows.values[rows.values == 0.0] = 0.5
    return rows, y


@pytest.mark.parametrize("size", [4, 20, 70])
@pytest.mark.parametrize("l2", [1e-6, 2.0])
@pytest.mark.parametrize("module", [truncation, probabilistic_truncation])
def test_it_is_the_algorithm(module, size, l2):
    rows, y = stream()
    settings = module.Settings(heap_size=float(size), l2=l2)
    oracle = (Truncation if module is truncation else ProbabilisticTruncation)(size, l2=l2)
    expected = [oracle.learn(*map(np.ndarray.tolist, row(rows, i)), label) for i, label in enumerate(y)]

    state, margins = learn(module, rows, y, 0, settings)

    np.testing.assert_allclose(margins, expected, atol=2e-5)
    assert set(module.members(state).tolist()) == set(oracle.S)
    np.testing.assert_allclose(
        module.estimates(state, SLOTS, settings), [oracle.S.get(i, 0.0) for i in range(200)], atol=2e-5
    )


def test_a_new_feature_does_not_evict_one_that_its_own_example_raises():
    rows = Rows(
        np.array([0, 1, 2, 4], np.uint64), np.array([2, 1, 0, 1], np.uint32), np.array([4, 0.2, 1, 0.9], np.float32)
    )
    settings = truncation.Settings(heap_size=2.0, learning_rate=1.0, l2=0.0)

    state, _ = learn(truncation, rows, np.ones(3), 0, settings)

    slots, weights = truncation.top(state, 2, settings)
    assert slots.tolist() == [2, 1]
    np.testing.assert_allclose(weights, [2.0, 0.530], atol=5e-4)


@pytest.mark.parametrize("module", [truncation, probabilistic_truncation])
def test_a_feature_that_stands_twice_in_a_row_is_kept_once(module):
    rows = Rows(np.array([0, 3], np.uint64), np.array([5, 7, 5], np.uint32), np.ones(3, np.float32))
    settings = module.Settings(heap_size=4.0)

    state, _ = learn(module, rows, np.ones(1), 0, settings)

    assert sorted(module.members(state).tolist()) == [5, 7]
    np.testing.assert_allclose(module.estimates(state, np.array([5, 7]), settings), [0.1, 0.05])
