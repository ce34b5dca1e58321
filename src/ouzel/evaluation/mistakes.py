"""Errors of single predictions, as the figures of a report count them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.model.answers import estimates
from ouzel.model.tasks.task import Outcome


def mistakes_of(task: Any, outcome: Outcome) -> np.ndarray:
    """Return whether each prediction (n,) of classes was a mistake: a tie is one, and so is a margin that is NaN.

    >>> from ouzel.model.tasks.classification import OneAgainstRest
    >>> from ouzel.terms.losses import Logistic
    >>> outcome = Outcome(np.array([2.0, -1.0, 0.0]), np.array([1, 1, 0]), np.ones(3, np.float32), np.zeros(3))
    >>> mistakes_of(OneAgainstRest(Logistic()), outcome).tolist()
    [False, True, True]
    """
    found = [_wrong(part.margins, part.targets) for part in task.parts(outcome)]
    return np.concatenate(found) if found else np.zeros(0, np.bool_)


def errors_of(task: Any, outcome: Outcome) -> np.ndarray:
    """Return the error (n,) of each prediction: 0 or 1 for classes, the absolute error for numbers."""
    if task.numbers:
        return np.abs(estimates(task.loss, outcome.margins) - outcome.targets)
    return mistakes_of(task, outcome).astype(np.float64)


def _wrong(margins: np.ndarray, targets: np.ndarray) -> np.ndarray:
    if margins.ndim == 1:
        return ~np.where(targets == 1, margins > 0.0, margins < 0.0)
    rows, others = np.arange(len(targets)), margins.copy()
    others[rows, targets] = -np.inf
    wrong: np.ndarray = ~(margins[rows, targets] > others.max(axis=1))
    return wrong
