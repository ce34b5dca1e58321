"""How the sketched Newton paper's experiments run a learner: one pass, square loss, the best of many step sizes.

Predictions are clipped to [-1, 1], with AdaGrad too, as Vowpal Wabbit does; slopes are p - y. A prediction that is no
number counts as a mistake. `sketched` gives the vectors that a pass had sketched, worked out without the learner.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ouzel.model.model import Model
from ouzel.streams.block import Block
from ouzel.terms import losses

CURVATURE = 0.25  # 1 / 8 for slopes 2 (p - y)
PRINTED = {"normalised": False, "by_mass": False, "start": "first-seen"}  # the paper's algorithms
FIRST_SCALE = 0.1  # D_1


class Clipped(NamedTuple):
    """The square loss of a prediction clipped to [-1, 1]."""


@losses.value.register(Clipped)
def _(loss, prediction, target):
    return 0.5 * (min(max(prediction, -1.0), 1.0) - target) ** 2


@losses.derivative.register(Clipped)
def _(loss, prediction, target):
    return min(max(prediction, -1.0), 1.0) - target


class Pass(NamedTuple):
    """What one pass led to."""

    error: float
    step: float
    margins: np.ndarray  # (n,) before learning each example
    model: Model
    errors: dict[float, float] = {}  # noqa: RUF012  (of all steps tried, by `best_pass`)

    def least(self, steps: Sequence[float]) -> float:
        """The least error of these steps, of those tried."""
        return min(error for step, error in self.errors.items() if step in steps)

    def curve(self, labels: np.ndarray) -> np.ndarray:
        """Error (n,) after each example."""
        return np.cumsum(~(self.margins * labels > 0.0)) / np.arange(1, len(labels) + 1)


def one_pass(learner: str, step: float, block: Block, *, intercept: bool = True, **settings: Any) -> Pass:
    """Learn a block once; labels are -1 and +1."""
    given: dict[str, Any] = {"loss": Clipped(), "learning_rate": step}
    if learner != "adagrad":
        given |= {"loss": "squared", "curvature": CURVATURE, "largest": 1.0, **PRINTED}
    model = Model(
        learner, task="classification", classes=[-1, 1], intercept=intercept, standardize=False, **{**given, **settings}
    )
    margins = model.learn(block).margins
    return Pass(float(np.mean(~(margins * block.labels > 0.0))), step, margins, model)


def best_pass(learner: str, steps: Sequence[float], block: Block, **settings: Any) -> Pass:
    """The pass with the least error, of equals that of the smallest step."""
    best, errors = None, {}
    for step in steps:
        found = one_pass(learner, step, block, **settings)
        errors[step] = found.error
        if best is None or found.error < best.error:
            best = found
    assert best is not None
    return best._replace(errors=errors)


def condition_numbers(block: Block, margins: np.ndarray) -> tuple[float, float]:
    """Condition numbers of X'X and of D^-1/2 X'X D^-1/2, X without the constant, D the sums of squares of gradients."""
    X = _dense(block)
    X = X[:, np.abs(X).max(axis=0) > 0.0]
    gradients = (np.clip(margins, -1.0, 1.0) - block.labels)[:, None] * X
    scaled = X / np.sqrt(FIRST_SCALE + np.sum(gradients**2, axis=0))
    return float(np.linalg.cond(X.T @ X)), float(np.linalg.cond(scaled.T @ scaled))


def _dense(block: Block) -> np.ndarray:
    """The values (n, features) of a block."""
    lengths: Any = np.diff(block.offsets.astype(np.int64))
    X = np.zeros((block.rows, 1 + int(block.indices.max())))
    X[np.repeat(np.arange(block.rows), lengths), block.indices.astype(np.int64)] = block.values
    return X


def sketched(block: Block, margins: np.ndarray, *, diagonal: bool, intercept: bool = True) -> np.ndarray:
    """Every vector (n, 1 + features) that a pass with these margins had sketched, the constant's value first."""
    X = np.column_stack([np.full(block.rows, float(intercept)), _dense(block)])
    gradients = (np.clip(margins, -1.0, 1.0) - block.labels)[:, None] * X
    if diagonal:
        gradients /= np.sqrt(FIRST_SCALE + np.cumsum(gradients**2, axis=0))
    return np.sqrt(CURVATURE) * gradients
