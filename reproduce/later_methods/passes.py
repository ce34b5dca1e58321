"""One pass over a set of two classes: error, mean logistic loss and time, by setting."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ouzel.model.model import Model
from ouzel.streams.block import Block
from reproduce.provenance import DataFolder
from reproduce.sketched_newton.sets import load_given


class Pass(NamedTuple):
    """What a pass came to."""

    error: float
    loss: float  # mean, in nats; infinite if a prediction is not a number
    seconds: float
    settings: dict[str, Any]


def first_examples(data: DataFolder, name: str, most: int) -> Block:
    """The first examples of a set of two classes, labels -1 and +1, features as they are."""
    block = load_given(data / f"{name}.svm.xz")
    return block.slice(0, min(most, block.rows))


def logistic(margins: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The logistic losses (n,) of margins (n,)."""
    with np.errstate(invalid="ignore"):
        losses = np.logaddexp(0.0, -labels * margins)
    return np.where(np.isnan(losses), np.inf, losses)


def one_pass(learner: str, block: Block, **settings: Any) -> Pass:
    """Learn a block once; each example is predicted, then learnt."""
    model = Model(learner, classes=[-1, 1], standardize=False, **settings)
    begin = time.perf_counter()
    margins = model.learn(block).margins.ravel()
    seconds = time.perf_counter() - begin
    error = float(np.mean(~(margins * block.labels > 0.0)))
    return Pass(error, float(logistic(margins, block.labels).mean()), seconds, settings)


def passes(learner: str, block: Block, grid: Sequence[dict[str, Any]], **settings: Any) -> list[Pass]:
    """A pass with each of the settings of a grid."""
    return [one_pass(learner, block, **settings, **given) for given in grid]


def microseconds(found: Sequence[Pass], block: Block) -> float:
    """Microseconds an example of the fastest pass."""
    return min(one.seconds for one in found) / block.rows * 1e6
