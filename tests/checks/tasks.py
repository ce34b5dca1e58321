"""Tasks that laws are crossed with, and streams of each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.learners.catalogue import Learner
from ouzel.model.model import Model
from ouzel.model.tasks.choose import learns_numbers
from ouzel.streams.block import Block
from ouzel.terms import LOSSES_OF_NUMBERS

ROWS, FEATURES = 40, 12
OFFSET = 50.0  # the mean of numbers: far from 0 beside their spread, which is about 2
PER_GROUP = 4  # rows of a group to rank


class Task(NamedTuple):
    name: str
    classes: int = 0  # 0: labels are numbers
    loss: str | None = None  # the learner's own
    groups: bool = False

    def settings(self, known: bool = True) -> dict[str, Any]:
        """Settings of a model that learns the task; with `known` it is told the classes beforehand."""
        if self.classes:
            return {"classes": range(self.classes)} if known else {}
        return {"task": "ranking"} if self.groups else {"task": "regression", "loss": self.loss}

    def model(self, name: str, **settings: object) -> Model:
        """An untrained model that knows its classes."""
        return Model(name, **self.settings() | settings)

    def parts(self, block: Block) -> Iterator[Block]:
        """The least parts of a block that can be learnt one by one: rows, or groups of them."""
        step = PER_GROUP if self.groups else 1
        return (block.slice(start, start + step) for start in range(0, block.rows, step))

    def cut(self, block: Block, *places: int) -> Iterator[Block]:
        """A block in pieces that end at these rows, or where the group of the row ends."""
        step = PER_GROUP if self.groups else 1
        ends = sorted({0, *(-(-place // step) * step for place in places), block.rows})
        return (block.slice(start, stop) for start, stop in itertools.pairwise(ends))


TWO, THREE = Task("two classes", 2), Task("three classes", 3)
NUMBERS = tuple(Task(f"numbers by {loss}", loss=loss) for loss in LOSSES_OF_NUMBERS)
SQUARED, *_ = NUMBERS
RANKING = Task("ranking", groups=True)
CLASSES, OTHERS = (TWO, THREE), (*NUMBERS, RANKING)


def others_of(learner: Learner) -> tuple[Task, ...]:
    """The tasks other than classes that a learner takes as it comes."""
    return tuple(task for task in (OTHERS if learns_numbers(learner) else (RANKING,)) if _takes(learner.name, task))


def _takes(name: str, task: Task) -> bool:
    try:
        task.model(name)
    except OuzelError:
        return False
    return True


def stream(
    rows: int = ROWS, task: Task = TWO, scale: float = 1.0, seed: int = 0, heavy: bool = False, features: int = FEATURES
) -> Block:
    """Sparse examples of a noisy rule, the same for every seed; some have no feature, and every class comes early.

    Values are normal, or now and then far larger than all before. Numbers are `OFFSET` and what the rule says.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_t(1.2, size=(rows, features)) if heavy else rng.normal(size=(rows, features))
    X *= rng.random((rows, features)) < 0.4
    rule = np.random.default_rng(99).normal(size=(features, max(task.classes, 2)))
    scores = X @ rule + 0.5 * rng.normal(size=(rows, rule.shape[1]))
    labels, groups = np.argmax(scores, axis=1).astype(np.float64), None
    if task.classes:
        labels[: task.classes] = np.arange(task.classes)
    elif task.groups:
        groups = np.arange(rows) // PER_GROUP
    elif task.loss == "poisson":
        labels = np.floor(np.exp(np.clip(0.5 * scores[:, 0], -2.0, 3.0)))
    else:
        labels = OFFSET + np.round(np.clip(scores[:, 0], -100.0, 100.0), 3)
    offsets = np.concatenate([[0], np.cumsum((X != 0).sum(axis=1))]).astype(np.uint64)
    values = (X[X != 0] * scale).astype(np.float32)
    return Block(offsets, np.nonzero(X)[1].astype(np.uint32), values, labels, np.ones(rows, np.float32), groups)
