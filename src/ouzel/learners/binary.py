"""A learner of several classes with two of them, as a binary learner: targets -1 and +1, and one margin an example.

The margin is the score of the second class less that of the first, the weights likewise.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ouzel.kernels.jit import kernel_of
from ouzel.learners.rows import Rows

SHARED = ("gains", "onto", "check", "fade", "bytes_used", "STANDARDIZES")
"""What the learner does with its own state."""


class Binary:
    """A binary learner around a module of several classes: what `learners.protocol` asks, as far as that has it."""

    def __init__(self, learner: Any) -> None:
        self._learner = learner
        learn, predict = learner.learn_row, learner.predict_row

        @kernel_of(learn)
        def learn_row(state, indices, values, target, importance, settings):
            """Learn one example in place; return the margin before learning."""
            scores = np.empty(2)
            learn(state, indices, values, np.int64(1 if target > 0.0 else 0), importance, settings, scores)
            return scores[1] - scores[0]

        @kernel_of(predict)
        def predict_row(state, indices, values, settings):
            """The margin of one example."""
            scores = np.empty(2)
            predict(state, indices, values, settings, scores)
            return scores[1] - scores[0]

        self.learn_row, self.predict_row = learn_row, predict_row
        for name in SHARED:
            if hasattr(learner, name):
                setattr(self, name, getattr(learner, name))

    def layout(self, dimension: int, settings: Any) -> Any:
        """A state of descriptions in place of arrays."""
        return self._learner.layout(dimension, 2, settings)

    def init(self, dimension: int, settings: Any) -> Any:
        """A state that has seen nothing."""
        return self._learner.init(dimension, 2, settings)

    def grow(self, state: Any, dimension: int, settings: Any) -> Any:
        """The same state with room for more."""
        return self._learner.grow(state, dimension, 2, settings)

    def learn_rows(
        self, state: Any, rows: Rows, targets: np.ndarray, importances: np.ndarray, settings: Any, out: np.ndarray
    ) -> None:
        """Learn a block; `out` (n,) takes the margins before learning each example."""
        scores = np.empty((len(targets), 2))
        self._learner.learn_rows(state, rows, (targets > 0.0).astype(np.int64), importances, settings, scores)
        out[:] = _margins(scores)

    def predict_rows(self, state: Any, rows: Rows, settings: Any, out: np.ndarray) -> None:
        """Write the margins (n,) of a block."""
        scores = np.empty((len(out), 2))
        self._learner.predict_rows(state, rows, settings, scores)
        out[:] = _margins(scores)

    def weights(self, state: Any, settings: Any) -> np.ndarray:
        """Weights (slots,)."""
        return _margins(self._learner.weights(state, settings))


def _margins(scores: np.ndarray) -> np.ndarray:
    """What the second of two columns (n, 2) is beyond the first; not a number where both are infinite."""
    with np.errstate(invalid="ignore"):
        found: np.ndarray = scores[:, 1] - scores[:, 0]
    return found


@functools.cache
def binary(learner: Any) -> Any:
    """A binary learner around a module of `learners/`."""
    return Binary(learner)
