"""What the service says of examples: a prediction, its margins and its probabilities, as JSON values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.model.answers import estimates
from ouzel.model.model import Model
from ouzel.model.tasks.task import Outcome

Answer = dict[str, Any]


def answers_of(model: Model, margins: np.ndarray) -> list[Answer]:
    """An answer for each of the margins (n,) or (n, classes) of a model that is not a ranking."""
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
    """What was predicted of each example before it was learnt, by a model that knew so many classes before the first.

    With no class known there was nothing to predict, and with one there was nothing but that.
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
    """How far off each prediction was: 1 for a mistake, or an absolute error in units of a scale."""
    margins, targets = outcome.margins, outcome.targets
    if model.task.numbers:
        return (np.abs(estimates(model.task.loss, margins) - targets) / (scale or 1.0)).tolist()
    if margins.ndim == 1:
        return np.where(np.where(targets == 1, margins, -margins) > 0.0, 0.0, 1.0).tolist()
    return (margins.argmax(axis=1) != targets).astype(float).tolist()
