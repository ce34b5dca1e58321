"""A margin told by learning is what predicting gives just before, crossed with every learner of the catalogue."""

import numpy as np
import pytest

from ouzel.learners import catalogue
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from

ROWS, FEATURES = 60, 6


def stream(classes, heavy):
    """Dense examples of a noisy rule, ordinary ones or of values that now and then are far larger than all before."""
    rng = np.random.default_rng(classes)
    X = rng.standard_t(1.2, size=(ROWS, FEATURES)) if heavy else rng.normal(size=(ROWS, FEATURES))
    X[rng.random(X.shape) < 0.3] = 0.0
    y = (X @ rng.normal(size=(FEATURES, classes)) + rng.normal(size=(ROWS, classes))).argmax(axis=1)
    y[:classes] = np.arange(classes)
    return X.astype(np.float32), y


@pytest.mark.parametrize("name", catalogue.LEARNERS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("heavy", [False, True])
def test_a_margin_told_by_learning_is_what_predicting_gives_just_before(name, classes, heavy):
    X, y = stream(classes, heavy)
    model = Model(name, classes=range(classes))
    model.make_room(FEATURES - 1)
    predicted, told = [], []

    for i in range(ROWS):
        block = next(blocks_from(X[i : i + 1], y[i : i + 1]))
        predicted.append(model.margins(block)[0])
        told.append(model.learn(block).margins[0])

    np.testing.assert_allclose(told, predicted, rtol=1e-6, atol=1e-9)
    assert np.ptp(told) > 0.0


@pytest.mark.parametrize("name", ["auto", "awm", "wm", "truncation", "hashing"])
def test_single_examples_are_predicted_as_blocks_are(name):
    X, y = stream(2, heavy=True)
    model = Model(name, classes=[0, 1])
    model.make_room(FEATURES - 1)

    for x, label in zip(X, y, strict=True):
        slots = np.concatenate([[0], np.flatnonzero(x) + 1]).astype(np.uint32)
        values = np.concatenate([[1.0], x[x != 0.0]]).astype(np.float32)
        block = next(blocks_from(x[None], [label]))
        assert model.margins_one(slots, values) == pytest.approx([float(model.margins(block)[0])], rel=1e-9)
        model.learn_one(slots, values, int(label), np.float32(1.0))
