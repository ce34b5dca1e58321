"""Conversion of workers' predictions to a common order of classes, as each worker sees them in an order of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.model.tasks.task import Outcome
from ouzel.streams.labels import Label


def in_classes(outcome: Outcome, own: list[Label], labels: list[Label]) -> Outcome:
    """Convert an outcome from a worker's order of classes to the common one."""
    if outcome.targets.dtype.kind != "i":
        return outcome
    targets = outcome.targets.astype(np.int64)
    if own == labels[: len(own)]:
        return outcome._replace(targets=targets)
    places = np.array([labels.index(label) for label in own], np.int64)
    margins: Any = outcome.margins
    if margins.ndim == 1 and max(places, default=0) < 2:
        return outcome._replace(targets=places[targets], margins=-margins)  # two classes, the other way round
    if margins.ndim == 1:
        margins = np.stack([-margins, margins], axis=1)[:, : len(own)]
    whole = np.full((len(targets), len(labels)), -np.inf)
    whole[:, places[: margins.shape[1]]] = margins
    return outcome._replace(targets=places[targets], margins=whole)
