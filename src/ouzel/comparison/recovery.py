"""Recovery: the error of a budgeted model on the heaviest weights of the model without a budget."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.model.model import Model


def relative_error(slots: np.ndarray, weights: np.ndarray, true: np.ndarray, top: int) -> float | None:
    """Return the error of the `top` heaviest estimates against the true weights, 1 being the best possible.

    RelErr = ||w^K - w*|| / ||w*^K - w*||, with w* the true weights (d,) and w^K, w*^K the K heaviest of the estimates
    and of the true ones (Tai, Sharan, Bailis & Valiant 2018, section 7.2). No slot stands twice in
    `slots`; one beyond `true` has the true weight 0. None where no more than K of the true weights are not zero.

    >>> relative_error(np.array([0, 2]), np.array([3.0, 1.0]), np.array([3.0, 2.0, 1.0]), 1)
    1.0
    """
    chosen = np.lexsort((slots, -np.abs(weights)))[:top]
    here = np.zeros(len(chosen))
    known = slots[chosen] < len(true)
    here[known] = true[slots[chosen][known]]
    squares = np.sort(true.astype(np.float64) ** 2)[::-1]
    least = squares[top:].sum()
    missed = squares.sum() + ((weights[chosen] - here) ** 2 - here**2).sum()
    return float(np.sqrt(max(missed, 0.0) / least)) if least > 0.0 else None


def recovery_error(model: Any, reference: Model, top: int) -> float | None:
    """The relative error of a model's heaviest weights against a reference model that knows all of its own.

    A learner that keeps no ids is asked for the weights of all features the reference has learnt of. None with three
    classes or more, and of another library's learner.
    """
    if model.columns != 1 or reference.columns != 1:
        return None
    true = reference.weights()[0]
    sign = 1.0 if model.classes.known == reference.classes.known else -1.0
    if model.budgeted and not len(model.module.members(model.states[0])):
        slots = np.flatnonzero(true).astype(np.uint32)
        weights = model.module.estimates(model.states[0], slots, model.settings)
    else:
        found = model.top(top)[0]
        slots = np.array([feature + 1 for feature, _ in found], np.int64)
        weights = np.array([weight for _, weight in found])
    return relative_error(slots, sign * weights, true, top)
