"""Effects of columns are those of a slow transcription, and the oracle finds bugs that are planted in them."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ouzel.layout import allocate
from ouzel.learners.auto import effect_columns, effects
from ouzel.learners.rows import Rows
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from tests.oracles.effects import Effects

KINDS = {"two": ({}, 1), "several": ({}, 3), "numbers": ({"loss": "squared"}, 1)}


def stream(kind, count=700, seed=0):
    """Columns of numbers, of few numbers, one that is mostly 0 and one that comes late; bends, steps and a pair."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3)).astype(np.float32)
    few, rare = rng.integers(0, 4, count), rng.uniform(1.0, 3.0, count) * (rng.random(count) < 0.4)
    late = np.where(np.arange(count) < 100, 0.0, rng.random(count))
    X = np.column_stack([X, few, np.full(count, 3.0), rare, late]).astype(np.float32)
    score = 2.0 * np.abs(X[:, 0]) - 1.6 + 1.5 * np.sign(X[:, 1]) * np.sign(X[:, 2]) + (few == 2) + (rare > 2)
    if kind == "numbers":
        return X, 5.0 + 3.0 * score + rng.standard_t(3, count)
    cuts = [0.3] if kind == "two" else [-0.7, 1.5]
    return X, np.digitize(score + 0.3 * rng.normal(size=count), cuts)


def margins(kind, forms, X, y, weights, rows=64):
    given, classes = KINDS[kind]
    given = given or {"classes": range(max(classes, 2))}
    model, found = Model("auto", forms=forms, **given), []
    for start in range(0, len(X), rows):
        here = slice(start, start + rows)
        block = next(blocks_from(X[here], y[here]))
        found.append(model.learn(block._replace(weights=weights[here].astype(np.float32))).margins)
    return np.concatenate(found)


@pytest.mark.parametrize("kind", KINDS)
def test_what_all_predict_is_what_a_slow_transcription_says(kind):
    X, y = stream(kind)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0, 20.0], len(X))
    lines, found = (margins(kind, forms, X, y, weights) for forms in ("raw", "made"))
    slow = Effects(kind, KINDS[kind][1])

    rows = zip(X.tolist(), lines.tolist(), y.tolist(), weights.tolist(), strict=True)
    expected = np.array([slow.learn(*row) for row in rows])

    assert np.abs(found - lines).max() > 0.1  # they have something to say
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
