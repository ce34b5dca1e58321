"""Answers to examples as JSON values (prediction, margins, probabilities), their errors, and the drift of those errors.

Drift is found by the test of Page (1954) and Hinkley, as River implements it. With m the mean of the values so far and
x the next one, the sum s = max(0, alpha s + x - m - delta) stays small as long as the mean does. Beyond the threshold
the error has risen, and the test restarts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ouzel.model.answers import estimates
from ouzel.model.model import Model
from ouzel.model.tasks.task import Outcome

Answer = dict[str, Any]


def answers_of(model: Model, margins: np.ndarray) -> list[Answer]:
    """Return an answer for each row of margins (n,) or (n, classes) of a model that does not rank."""
    if not (model.task.numbers or len(model.classes)):
        return [{"prediction": None} for _ in range(len(margins))]
    found = model.task.answers(model, margins)
    columns: dict[str, list[Any]] = {"prediction": found.predicted.tolist()}
    names = list(map(str, found.classes))
    if not model.task.numbers:
        if found.margins.shape[1] == 1:
            columns["margin"] = found.margins[:, 0].tolist()
        else:
            columns["margins"] = [dict(zip(names, row, strict=True)) for row in found.margins.tolist()]
    if found.probabilities is not None:
        columns["probabilities"] = [dict(zip(names, row, strict=True)) for row in found.probabilities.tolist()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def answers_before(model: Model, outcome: Outcome, known: int) -> list[Answer]:
    """Return the prediction made for each example before it was learnt.

    The model knew `known` classes before the first example. Without a class it predicted nothing; with one it
    predicted that one.
    """
    answers = answers_of(model, outcome.margins)
    if model.task.numbers or known >= 2:
        return answers
    known_then = np.maximum.accumulate(np.concatenate([[known], outcome.targets[:-1] + 1]))
    for place in np.flatnonzero(known_then < 2):
        only = model.classes.known[0] if known_then[place] else None
        answers[place] = {"prediction": only}
    return answers


def errors_of(model: Model, outcome: Outcome, scale: float | None) -> list[float]:
    """Return the error of each prediction: 0 or 1 for classes, the absolute error in units of `scale` for numbers."""
    margins, targets = outcome.margins, outcome.targets
    if model.task.numbers:
        return (np.abs(estimates(model.task.loss, margins) - targets) / (scale or 1.0)).tolist()
    if margins.ndim == 1:
        return np.where(np.where(targets == 1, margins, -margins) > 0.0, 0.0, 1.0).tolist()
    return (margins.argmax(axis=1) != targets).astype(float).tolist()


FEWEST = 30  # examples before the test reports anything
DELTA, THRESHOLD, ALPHA = 0.005, 50.0, 1.0 - 0.0001
MOST_EVENTS = 100


class Drift(NamedTuple):
    """A rise of the error: the example of the log that ended it, and the mean of the errors before it."""

    example: int
    before: float


class PageHinkley:
    """The Page-Hinkley test on a stream of errors: mistakes (0 or 1), or absolute errors divided by their mean.

    >>> test = PageHinkley()
    >>> test.add([0.0] * 1000)
    >>> test.add([1.0] * 100)
    >>> [event.example for event in test.events]
    [1052]
    """

    def __init__(self) -> None:
        self.events: deque[Drift] = deque(maxlen=MOST_EVENTS)
        self.examples = 0
        self._seen, self._mean, self._sum = 0, 0.0, 0.0

    def add(self, errors: Iterable[float]) -> None:
        """Add errors in their order."""
        for error in errors:
            self.examples += 1
            self._seen += 1
            self._mean += (error - self._mean) / self._seen
            self._sum = max(0.0, ALPHA * self._sum + error - self._mean - DELTA)
            if self._sum > THRESHOLD and self._seen >= FEWEST:
                self.events.append(Drift(self.examples, self._mean))
                self._seen, self._mean, self._sum = 0, 0.0, 0.0
