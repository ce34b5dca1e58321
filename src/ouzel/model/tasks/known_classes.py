"""Outcomes of several classes, split where a class is met for the first time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ouzel.model.tasks.task import Outcome


def by_known_classes(outcome: Outcome, margin: Callable[[np.ndarray], np.ndarray]) -> Iterator[Outcome]:
    """Split an outcome by the classes known when each example was predicted.

    A part has a column for each of its classes, or one if there are two: `margin` makes it of their scores (n, 2).

    >>> margins = np.array([[-1.0, 1.0, -np.inf], [2.0, -2.0, -np.inf], [1.0, 0.0, -1.0]])
    >>> outcome = Outcome(margins, np.array([1, 0, 2]), np.ones(3, np.float32), np.zeros(3))
    >>> [part.margins.tolist() for part in by_known_classes(outcome, lambda scores: scores[:, 1])]
    [[1.0, -2.0], [[1.0, 0.0, -1.0]]]
    """
    margins, targets = outcome.margins, outcome.targets
    if margins.ndim == 1 or not len(margins) or margins[:, -1].min() > -np.inf:
        yield outcome
        return
    unknown = np.cumprod(margins[:, ::-1] == -np.inf, axis=1).sum(axis=1)  # columns behind the last known one
    counts = np.maximum(margins.shape[1] - unknown, np.maximum(targets + 1, 2))
    ends = [*(np.flatnonzero(np.diff(counts)) + 1).tolist(), len(margins)]
    for start, stop in zip([0, *ends], ends, strict=False):
        here = slice(start, stop)
        scores = np.ascontiguousarray(margins[here, : counts[start]])
        columns = margin(scores) if scores.shape[1] == 2 else scores
        yield Outcome(columns, targets[here], outcome.importances[here], outcome.losses[here])
