"""What knowing no features would have scored: the most frequent class so far, or the mean of the numbers so far.

Like a model's own predictions these are made before an example is learnt, and their sums do not depend on the blocks.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import kernel
from ouzel.model.tasks.task import Outcome, Task

ERRORS, WEIGHT, TOTAL, LEADER = range(4)


@kernel
def follow_classes(targets, importances, sums, counts):
    """Predict each target by the class of the largest count, the first to reach it; `counts` is (classes,)."""
    leader = int(sums[LEADER])
    for i in range(len(targets)):
        target, importance = targets[i], float(importances[i])
        sums[WEIGHT] += importance
        if target != leader:
            sums[ERRORS] += importance
        counts[target] += importance
        if importance > 0.0 and (leader < 0 or counts[target] > counts[leader]):
            leader = target
    sums[LEADER] = leader


@kernel
def follow_numbers(targets, importances, sums):
    """Predict each target by the mean of those before it, the first by 0."""
    for i in range(len(targets)):
        importance = float(importances[i])
        gap = targets[i] - (sums[TOTAL] / sums[WEIGHT] if sums[WEIGHT] > 0.0 else 0.0)
        sums[ERRORS] += importance * gap * gap
        sums[WEIGHT] += importance
        sums[TOTAL] += importance * targets[i]


class Baseline:
    """The running score of a prediction that uses no features.

    >>> from ouzel.model.tasks.classification import OneAgainstRest
    >>> baseline = Baseline(OneAgainstRest("logistic"))
    >>> baseline.add(Outcome(np.zeros(4), np.array([1, 1, 0, 1]), np.ones(4, np.float32), np.zeros(4)))
    >>> baseline.score
    0.5
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.sums = np.array([0.0, 0.0, 0.0, -1.0])
        self.counts = np.zeros(2)

    @property
    def score(self) -> float | None:
        """Error rate, or root mean squared error of numbers; None for a ranking, and before any example."""
        if self.task.groups or not self.sums[WEIGHT] > 0.0:
            return None
        mean = float(self.sums[ERRORS] / self.sums[WEIGHT])
        return sqrt(mean) if self.task.numbers else mean

    def add(self, learnt: Outcome) -> None:
        """Score a block's targets, and count them."""
        if self.task.numbers:
            follow_numbers(learnt.targets, learnt.importances, self.sums)
        elif not self.task.groups:
            classes = learnt.margins.shape[1] if learnt.margins.ndim == 2 else 2
            if classes > len(self.counts):
                self.counts = np.pad(self.counts, (0, classes - len(self.counts)))
            follow_classes(learnt.targets, learnt.importances, self.sums, self.counts)

    def to_json(self) -> dict[str, Any]:
        """Everything counted so far, exactly, as JSON values."""
        return {"sums": self.sums.tolist(), "counts": self.counts.tolist()}

    def restore(self, stored: dict[str, Any]) -> None:
        """Go on from what `to_json` gave."""
        sums, counts = np.array(stored["sums"], np.float64), np.array(stored["counts"], np.float64)
        if sums.shape != self.sums.shape or counts.ndim != 1 or not -1.0 <= sums[LEADER] < len(counts) >= 2:
            raise OuzelError("what the model's file notes of its run is damaged; train it again")
        self.sums, self.counts = sums, counts
