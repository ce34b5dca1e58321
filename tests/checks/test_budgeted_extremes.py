"""Learners of a byte budget, the one they are measured by, and the default stay finite whatever finite numbers come."""

import itertools

import numpy as np
import pytest

from ouzel.learners import catalogue
from ouzel.model.model import Model
from ouzel.streams.block import Block
from tests.checks.test_merging_laws import arrays_of

NAMES = ["auto", "unbounded", *(name for name, learner in catalogue.LEARNERS.items() if learner.budgeted)]
LARGEST, LEAST = 3e38, 1e-45
ROWS, FEATURES = 40, 6


def five_lines(size):
    """Two features of that size, the labels of which no weights fit."""
    X = size * np.array([[1, 0], [1, 1], [-1, 1], [1, -1], [0, 1]])
    return np.tile(X, (ROWS // 5, 1)), np.tile([0, 1, 0, 1, 0], ROWS // 5)


def powers(low, high):
    """Values of either sign, their exponents spread evenly."""
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (ROWS, FEATURES)) * 10.0 ** rng.uniform(low, high, (ROWS, FEATURES))
    return X, rng.integers(0, 2, ROWS)


def one_row(size):
    """Ordinary examples, and in their midst one of that size with the wrong label."""
    X = np.random.default_rng(1).normal(size=(ROWS, FEATURES))
    y = (X.sum(axis=1) > 0).astype(int)
    X[ROWS // 2], y[ROWS // 2] = size, 0
    return X, y


STREAMS = {
    "five of 1e19": five_lines(1e19),
    "five of 1e25": five_lines(1e25),
    "five of the largest": five_lines(LARGEST),
    "huge": powers(19.0, 38.4),
    "denormal": powers(-45.0, -37.0),
    "all powers": powers(-45.0, 38.4),
    "one row of the largest": one_row(LARGEST),
    "one row of the least": one_row(LEAST),
    "flips": (np.ones((ROWS, FEATURES)), np.arange(ROWS) % 2),
    "flips of 1e19": (np.full((ROWS, FEATURES), 1e19), np.arange(ROWS) % 2),
    "very right": (np.tile([[3000.0, 0.0], [1600.0, 1.0]], (ROWS // 2, 1)), np.ones(ROWS, int)),
}
IMPORTANCES = {"alike": np.ones(ROWS), "weighted": np.resize([1.0, 0.0, 1e9, 1e-9, 1.0, 1e9, 1e-30], ROWS)}


def block_of(X, y, importances):
    """Dense examples as a block: what is 0 in single precision is left out."""
    X = X.astype(np.float32)
    present = X != 0.0
    offsets = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.uint64)
    indices = np.nonzero(present)[1].astype(np.uint32)
    return Block(offsets, indices, X[present], y.astype(np.float64), importances.astype(np.float32))


def is_finite(model):
    """Whether all numbers of the states are finite; bounds of runs that hold nothing are infinite by design."""
    floats = [array for array in arrays_of(model) if array.dtype.kind == "f"]
    bounds = [id(state.bounds) for state in model.states if hasattr(state, "bounds")]
    return all(not np.isnan(a).any() if id(a) in bounds else np.isfinite(a).all() for a in floats)


def settings_of(name):
    """The defaults, and whatever else changes the arithmetic."""
    yield {}
    if name == "wm":
        yield {"averaging": 1.0}
        yield {"radius": 1.0}
    if name == "awm":
        yield {"depth": 3.0}
    if "heap_size" in catalogue.find(name).module.Settings._fields:
        yield {"heap_size": 2.0}
    if "l2" in catalogue.find(name).module.Settings._fields:
        yield {"l2": 5.0, "learning_rate": 10.0}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("classes", [2, 3])
def test_states_and_predictions_are_finite(name, classes):
    for settings, (kind, (X, y)), (how, importances) in itertools.product(
        settings_of(name), STREAMS.items(), IMPORTANCES.items()
    ):
        block = block_of(X, np.arange(ROWS) % 3 if classes == 3 else y, importances)
        ordinary = block_of(*one_row(1.0), np.ones(ROWS))
        model = Model(name, classes=range(classes), **settings)
        for start in range(0, ROWS, 10):
            told = model.learn(block.slice(start, start + 10)).margins
            assert np.isfinite(told).all(), (settings, kind, how)
            assert is_finite(model), (settings, kind, how)
        assert np.isfinite(model.margins(block)).all(), (settings, kind, how)
        assert np.isfinite(model.learn(ordinary).margins).all(), (settings, kind, how)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("classes", [2, 3])
def test_an_example_of_importance_0_changes_nothing(name, classes):
    X, y = np.random.default_rng(2).normal(size=(ROWS, FEATURES)), np.arange(ROWS) % classes
    model = Model(name, classes=range(classes))
    model.learn(block_of(X, y, np.ones(ROWS)))
    before = [array.copy() for array in arrays_of(model)]

    model.learn(block_of(100.0 * X, y, np.zeros(ROWS)))

    scratch = [array for state in model.states for part in SCRATCH for array in flattened(getattr(state, part, ()))]
    for one, other in zip(before, arrays_of(model), strict=True):
        if not any(other is array for array in scratch):
            np.testing.assert_array_equal(one, other)


def flattened(part):
    """An array, or those of a state within a state."""
    return [array for each in part for array in flattened(each)] if isinstance(part, tuple) else [part]


SCRATCH = ("cells", "signed", "columns", "signs", "sorted", "rows", "work")
"""Arrays that are written before they are read, whatever was in them."""


@pytest.mark.parametrize("name", NAMES)
def test_importance_is_heard(name):
    X, y = np.random.default_rng(2).normal(size=(ROWS, FEATURES)), np.arange(ROWS) % 2
    once, twice = (Model(name, classes=[0, 1]) for _ in range(2))

    for model, importance in ((once, 1.0), (twice, 2.0)):
        model.learn(block_of(X, y, np.full(ROWS, importance)))

    block = block_of(X, y, np.ones(ROWS))
    assert not np.allclose(once.margins(block), twice.margins(block), rtol=1e-3)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "auto"])  # it takes values relative to the largest
def test_one_absurd_example_does_not_end_learning(name):
    X = np.random.default_rng(3).normal(size=(400, FEATURES))
    block = block_of(X, X.sum(axis=1) > 0, np.ones(400))
    model, spared = (Model(name, classes=[0, 1], learning_rate=0.5) for _ in range(2))
    model.learn(block_of(np.full((1, FEATURES), LARGEST), np.zeros(1), np.full(1, 1e9)))

    wrong, usual = (np.mean((each.learn(block).margins > 0) != block.labels) for each in (model, spared))

    assert wrong <= usual + 0.05  # awm-nce draws other classes
