"""Margins of classes by another loss than the logistic one: half the log odds, times a number that learns the loss.

Whatever the loss, classes are learnt as by the logistic one, and the class predicted is the same. What differs is the
unit of the margins. With m half the log odds of the true class against the best other one, and l the loss of a margin
for the target 1, the number u learns l(u m) by an online Newton step that forgets, as in `mixing.py`; where the square
of the slope of l is larger than its curvature, it stands for that. It begins at 1 and stays positive. Half the log odds
are the margins of the smallest exponential loss (Friedman, Hastie & Tibshirani, 2000, "Additive Logistic Regression",
The Annals of Statistics 28), which is near those of hinges where classes overlap.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from ouzel.kernels.jit import dispatch, force_inline
from ouzel.learners.auto import mixing
from ouzel.learners.auto.mixing import KEPT, LEAST_CURVATURE, Mixture
from ouzel.learners.auto.sharing import MOST_IMPORTANCE
from ouzel.terms.losses import Logistic, curvature, derivative
from ouzel.terms.multiclass_losses import rival_of

LEAST = 1e-3  # u goes no lower


def layout() -> Any:
    """What u is made of: a mixture of one."""
    found = mixing.layout(1)
    return found._replace(weights=found.weights._replace(least=LEAST))


@dispatch
def factor_of(loss: Any, scale: Mixture) -> float:
    """What log odds are multiplied by, to be margins."""


@factor_of.register(Logistic)
def _(loss, scale):
    return 1.0


@factor_of.register(object)
def _(loss, scale):
    return 0.5 * scale.weights[0]


@force_inline
def scale_margins(loss, scale, scores):
    """Multiply log odds (n, K), in place, to be margins."""
    factor = factor_of(loss, scale)
    for i in range(len(scores) if factor != 1.0 else 0):
        for c in range(scores.shape[1]):
            scores[i, c] *= factor


@dispatch
def learn_margins(
    loss: Any, scale: Mixture, start: int, last: int, targets: Any, importances: Any, scores: np.ndarray
) -> None:
    """Learn rows `start` to `last`, or to the end; log odds (n, K) become the margins before each."""


@learn_margins.register(Logistic)
def _(loss, scale, start, last, targets, importances, scores):
    pass


@learn_margins.register(object)
def _(loss, scale, start, last, targets, importances, scores):
    for i in range(start, min(last + 1, len(scores))):
        target, weight = np.int64(targets[i]), min(np.float64(importances[i]), MOST_IMPORTANCE)
        before, factor = scale.weights[0], factor_of(loss, scale)
        half = 0.5 * (scores[i, target] - scores[i, rival_of(scores[i], target)])
        slope = derivative(loss, before * half, 1.0)
        bend = max(curvature(loss, before * half, 1.0), slope * slope, LEAST_CURVATURE)
        if weight > 0.0 and isfinite(half):
            scale.curvature[0, 0] = 1.0 + KEPT * (scale.curvature[0, 0] - 1.0) + weight * bend * half * half
            scale.weights[0] = max(before - weight * slope * half / scale.curvature[0, 0], LEAST)
        for c in range(scores.shape[1]):
            scores[i, c] *= factor
