"""What bits must not depend on, on a stream long enough to reach every stage of a learner.

Learners do some things only after so many examples: they sample from the 2,048th or the 4,096th on, review windows of
512, choose pairs, notice outliers, or let the past count for less. The streams of `laws` end before that.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.streams.block import Block
from tests.checks.laws import Law, assert_same
from tests.checks.tasks import OFFSET, PER_GROUP, TWO, Task

ROWS, NUMBERS, FEATURES = 20_000, 6, 14
EVENTS = (16, 64, 512, 2_048, 4_096, 8_192, 16_384)  # blocks of the first model end here, and rare events are near
TURN = 10_000  # row from which the rule is another


def long_stream(task: Task = TWO) -> Block:
    """Rows of a table of numbers, words and rare features, with a rare event in each row around the ends of blocks.

    The events: outliers, a row without features, a feature that was never seen, a number to predict that is far off,
    and the first examples of the last class.
    """
    rng = np.random.default_rng(0)
    X = np.zeros((ROWS, FEATURES))
    X[:, :NUMBERS] = rng.normal(size=(ROWS, NUMBERS))
    X[np.arange(ROWS), NUMBERS + rng.integers(0, 4, ROWS)] = 1.0
    X[:, 10] = rng.random(ROWS) < 0.003
    score = X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + X[:, 6] + 0.3 * rng.normal(size=ROWS)
    score[TURN:] *= -1.0
    far = np.zeros(ROWS)
    for k, end in enumerate(EVENTS):
        X[end - 2] = 0.0
        X[end - 1, 0], X[end, 1], X[end + 1, 2] = 1e6, -1e5, 1e-6
        X[end - 1 if k % 2 else end, 11 + k % 3] = 3.0
        far[end - 1], far[end] = 1e4, -1e3
    groups = np.arange(ROWS) // PER_GROUP if task.groups else None
    if task.classes == 2 or task.groups:
        labels = (score > 0.0).astype(float)
    elif task.classes:
        labels = np.digitize(score, np.linspace(-0.5, 0.5, task.classes - 1)).astype(float)
        labels[: EVENTS[3] - 1] = np.minimum(labels[: EVENTS[3] - 1], task.classes - 2)  # the last class comes late
    elif task.loss == "poisson":
        labels = np.floor(np.exp(np.clip(score, -2.0, 3.0))) + np.maximum(far, 0.0)
    else:
        labels = OFFSET + score + far
    offsets = np.concatenate([[0], np.cumsum((X != 0).sum(axis=1))]).astype(np.uint64)
    values, slots = X[X != 0].astype(np.float32), np.nonzero(X)[1].astype(np.uint32)
    importances = rng.choice([1.0, 1.0, 1.0, 2.0, 0.0], ROWS)
    importances[list(EVENTS)] = 0.0
    return Block(offsets, slots, values, labels, importances.astype(np.float32), groups)


def saved(model: Model) -> bytes:
    """The file of a model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.ouzel")
        persistence.save(model, path)
        return path.read_bytes()


def learnt(name: str, pieces: Iterable[Block], settings: dict[str, Any]) -> Model:
    """A model that has learnt pieces of a stream."""
    model = Model(name, **settings)
    for piece in pieces:
        model.learn(piece)
    return model


def reloaded(model: Model) -> Model:
    """The model, saved and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        persistence.save(model, Path(folder, "model.ouzel"))
        return persistence.load_model(Path(folder, "model.ouzel"))


def a_long_stream_teaches_the_same_bits_wherever_blocks_end(name: str, task: Task = TWO, **more: Any) -> None:
    """Also where a model is saved and loaded on the way, and where it predicts between blocks."""
    block, settings = long_stream(task), task.settings() | more
    whole = saved(learnt(name, [block], settings))

    assert saved(learnt(name, task.cut(block, *EVENTS), settings)) == whole
    assert saved(learnt(name, task.cut(block, *range(0, ROWS, 333)), settings)) == whole
    model = Model(name, **settings)
    for piece in task.cut(block, *(end + 1 for end in EVENTS)):
        model.learn(piece)
        model.margins(block.slice(0, 40))
        model = reloaded(model)
    assert saved(model) == whole


def examples_of_importance_0_are_left_out_of_a_long_stream(name: str, task: Task = TWO, **more: Any) -> None:
    block, settings = long_stream(task), task.settings() | more
    every = learnt(name, [block], settings)
    heard = learnt(name, [block.select(np.flatnonzero(block.weights))], settings)

    assert every.examples == ROWS
    assert_same(every, heard)


LONG_LAWS: tuple[Law, ...] = (
    a_long_stream_teaches_the_same_bits_wherever_blocks_end,
    examples_of_importance_0_are_left_out_of_a_long_stream,
)
