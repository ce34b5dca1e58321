"""Small random streams as rows, for comparing a learner with its oracle round by round."""

import numpy as np

from ouzel.learners.gains.parts import sum_of
from ouzel.learners.rows import Rows


def sparse_rows(count, dimension, nonzeros, seed, noise=0.3):
    """Rows whose features are drawn by their rank, some far rarer than others; labels -1 and +1 of a linear rule."""
    rng = np.random.default_rng(seed)
    chance = 1.0 / np.arange(1, dimension + 1)
    chance /= chance.sum()
    chosen = [np.sort(rng.choice(dimension, nonzeros, replace=False, p=chance)) for _ in range(count)]
    indices = np.array(chosen, np.uint32)
    values = rng.normal(size=(count, nonzeros)).astype(np.float32)
    values[rng.random(values.shape) < 0.1] = 0.0  # stored zeros must do no harm
    rule = rng.normal(size=dimension)
    score = (values * rule[indices]).sum(axis=1)
    labels = np.where(score + noise * rng.normal(size=count) > 0, 1.0, -1.0)
    return Rows(np.arange(0, count * nonzeros + 1, nonzeros).astype(np.uint64), indices.ravel(), values.ravel()), labels


def row(rows, i):
    """Slots and values of row i."""
    here = slice(int(rows.offsets[i]), int(rows.offsets[i + 1]))
    return rows.indices[here], rows.values[here]


def dense(rows, dimension):
    """The rows as an array (n, dimension)."""
    out = np.zeros((len(rows.offsets) - 1, dimension))
    for i, x in enumerate(out):
        slots, values = row(rows, i)
        x[slots] = values
    return out


def learn(module, rows, targets, dimension, settings):
    """State and margins of one pass."""
    state = module.init(dimension, settings)
    margins = np.empty(len(targets))
    module.learn_rows(state, rows, targets, np.ones(len(targets), np.float32), settings, margins)
    return state, margins


def merged_states(module, states, settings, *shape):
    """One state of the states of several workers: what each has learnt, added to a new state of this shape."""
    base = module.init(*shape, settings)
    return module.onto(base, sum_of([module.gains(base, state, settings) for state in states]), settings)
