"""Labels that persist: the default believes its bold model, PA-I, where they do, and not where they do not."""

import numpy as np

from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from


def labels_that_persist(rows, seed):
    """Columns that say nothing, and labels that are the ones before but for one in twenty."""
    rng = np.random.default_rng(seed)
    changes, drawn = rng.random(rows) < 0.1, rng.integers(0, 2, rows)
    last = np.maximum.accumulate(np.where(changes, np.arange(rows), 0))
    return rng.normal(size=(rows, 3)).astype(np.float32), drawn[last]


def learnt(X, y):
    """A model of the default and the part of the examples that it predicts wrongly before it learns them."""
    model = Model("auto", classes=[0, 1])
    found = np.concatenate([model.learn(block).margins for block in blocks_from(X, y)])
    return model, np.mean((found > 0.0) != y)


def test_labels_that_persist_are_predicted_by_the_last_ones():
    assert learnt(*labels_that_persist(4000, seed=1))[1] < 0.17  # 0.26 by steps of AdaGrad, however bold


def test_where_labels_come_in_random_order_the_last_ones_say_nothing():
    X, y = labels_that_persist(4000, seed=2)
    X[:, 1] += 2.0 * y
    shuffled = np.random.default_rng(3).permutation(len(y))

    state = learnt(X[shuffled], y[shuffled])[0].states[0]

    shares, weights = state.shares.weights, state.mixture.weights
    assert shares[3] + shares[-1] * abs(weights[3]) < 0.2
