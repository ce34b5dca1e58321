"""Gains of learners with a step size for each weight: by how much the sums of squared gradients have grown.

A weight of the base moves by the mean of what the workers have moved it, each by the growth g of its sum of squares.
So a feature that one of many workers alone has met moves as far as it has moved it, and the worker that has learnt most
of a feature is heard most. Sums of squares grow by the mean of g by g as well, not by all of it: where weights move
like one worker's, steps are to shrink like one worker's. With a penalty, a weight that workers have moved through n
examples each counts as penalised for
    K n,  K = (sum of g)^2 / sum of g^2,  n the mean by g
examples: those of all workers where all have met the feature alike, those of one where one alone has, whose weight then
still owes the others' examples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.learners.gains.parts import Gains, Rows, dense, places_of

Function = Callable[..., Any]
TINY = np.finfo(np.float64).tiny


def grown(growth: np.ndarray, moved: np.ndarray, examples: float) -> Rows:
    """Rows of growth (d, ...) and of what has moved (d, ...) by so many examples: g, g^2, g n, and g times moved."""
    places = places_of(growth > 0.0)
    return _rows(places, growth[places], moved[places], examples)


def _rows(places: np.ndarray, growth: np.ndarray, moved: np.ndarray, examples: float) -> Rows:
    growth = np.maximum(growth, 0.0)
    return Rows(places, np.stack([growth, growth * growth, growth * examples, growth * moved], axis=1))


def mean_move(gained: np.ndarray) -> np.ndarray:
    """The mean of what has moved (d, ...), by growth."""
    total = gained[:, 0]
    return np.divide(gained[:, 3], total, out=np.zeros(total.shape), where=total > TINY)


def mean_growth(gained: np.ndarray) -> np.ndarray:
    """By how much sums of squares (d, ...) grow: the mean of g by g, all of it where one worker has met a slot.

    Where many have, weights have moved by the mean of theirs, as one worker's: steps are to shrink as one worker's do.
    """
    return np.divide(gained[:, 1], gained[:, 0], out=np.zeros(gained[:, 0].shape), where=gained[:, 0] > TINY)


def penalised_examples(gained: np.ndarray) -> np.ndarray:
    """Examples (d, ...) that a weight counts as penalised for: K n; 0 where no worker has met it."""
    total, squares, weighed = gained[:, 0], gained[:, 1], gained[:, 2]
    mean = np.divide(weighed, total, out=np.zeros(total.shape), where=total > TINY)
    many = np.divide(total * total, squares, out=np.ones(total.shape), where=squares > TINY)
    return mean * np.maximum(many, 1.0)


def growing(
    weights: Function, squares: Function, rebuilt: Function, totals: tuple[str, ...] = ("seen",)
) -> tuple[Function, Function]:
    """`gains` and `onto` of a learner of `weights(state, settings)` and `squares(state)`, both (d,) or (d, classes).

    `rebuilt(base, weights, squares, gained, totals, settings)` is the state of new ones (float64); `gained` (d, 4, ...)
    is as in `grown`, and `totals` as in `averaging`.
    """

    def gains(base: Any, state: Any, settings: Any) -> Gains:
        """What a worker has learnt beyond its base."""
        found: Gains = {name: getattr(state, name) - getattr(base, name) for name in totals}
        after, before = squares(state), squares(base)
        places = places_of(after > before)
        growth = after[places].astype(np.float64) - before[places]
        moved = np.asarray(weights(state, settings)[places], np.float64) - weights(base, settings)[places]
        return {**found, "moved": _rows(places, growth, moved, float(found[totals[0]][0]))}

    def onto(base: Any, gains: Gains, settings: Any) -> Any:
        """The state of a base and of what workers have learnt beyond it."""
        before = np.asarray(weights(base, settings), np.float64)
        gained = dense(gains["moved"], len(before))
        total = {name: getattr(base, name) + gains[name] for name in totals}
        return rebuilt(base, before + mean_move(gained), squares(base) + mean_growth(gained), gained, total, settings)

    return gains, onto
