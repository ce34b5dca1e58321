"""Whether probabilities can be taken at their word: of what is given .8, some 80 % should come true.

Naeini, Cooper & Hauskrecht (2015), "Obtaining Well Calibrated Probabilities Using Bayesian Binning", AAAI: predictions
are put into bins by their probability, of the second of two classes, or of the class predicted where there are more.
The expected calibration error is the mean distance, weighed by examples, between what a bin promised and what came.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.model.answers import probabilities
from ouzel.terms.losses import link

BINS = 20
WEIGHT, PROMISED, CAME = range(3)


@force_inline
def _fill(promised, came, importance, bins):
    """Add a prediction to `bins` (3, BINS); one that was not made promises nothing: NaN."""
    if 0.0 <= promised <= 1.0:
        place = min(int(promised * BINS), BINS - 1)
        bins[WEIGHT, place] += importance
        bins[PROMISED, place] += importance * promised
        bins[CAME, place] += importance * came


@kernel
def fill_two(loss, margins, targets, importances, bins):
    """Add the second of two classes, of margins (n,), one after the other: the sums do not depend on the blocks."""
    for i in range(len(margins)):
        _fill(link(loss, margins[i]), targets[i] == 1, float(importances[i]), bins)


@kernel
def fill_many(promised, came, importances, bins):
    """Add the class predicted (n,), by its probability and whether it came."""
    for i in range(len(promised)):
        _fill(promised[i], came[i], float(importances[i]), bins)


class Calibration:
    """Probabilities and what came of them, in bins.

    >>> from ouzel.terms.losses import Logistic
    >>> calibration = Calibration()
    >>> calibration.add(Logistic(), np.zeros(4), np.array([1, 1, 1, 0]), np.ones(4, np.float32))
    >>> calibration.error, calibration.points
    (0.25, [(0.5, 0.75)])
    """

    def __init__(self) -> None:
        self.bins = np.zeros((3, BINS))

    def add(
        self, loss: Any, margins: np.ndarray, targets: np.ndarray, importances: np.ndarray, joint: bool = False
    ) -> None:
        """Count a block's margins (n,) or (n, classes) and targets (n,), positions of classes."""
        if margins.ndim == 1:
            fill_two(loss, margins, targets, importances, self.bins)
        else:
            found = probabilities(loss, margins, joint)
            fill_many(found.max(axis=1), found.argmax(axis=1) == targets, importances, self.bins)

    def fill(self, promised: np.ndarray, came: np.ndarray, importances: np.ndarray) -> None:
        """Count probabilities (n,) of events, and whether each came (n,)."""
        fill_many(np.ascontiguousarray(promised), np.ascontiguousarray(came), importances, self.bins)

    @property
    def error(self) -> float | None:
        """Expected calibration error, from 0 (true) to 1; None before any example."""
        weight, promised, came = self.bins
        return float(np.abs(promised - came).sum() / weight.sum()) if weight.sum() > 0.0 else None

    @property
    def points(self) -> list[tuple[float, float]]:
        """(mean probability, share that came true) of each bin that has examples."""
        weight, promised, came = self.bins[:, self.bins[WEIGHT] > 0.0]
        return list(zip((promised / weight).tolist(), (came / weight).tolist(), strict=True))
