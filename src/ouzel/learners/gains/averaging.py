"""Gains of learners whose weights are averaged: by the examples of the workers that have moved a weight.

A weight that one of many workers alone has met moves as far as it has moved it; one that all have met moves by the
mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.learners.gains.parts import Gains, dense, rows_of

Function = Callable[..., Any]


def averaging(weights: Function, rebuilt: Function, totals: tuple[str, ...] = ("seen",)) -> tuple[Function, Function]:
    """`gains` and `onto` of a learner of `weights(state, settings)` (d,) or (d, classes).

    `totals` are arrays that count over the examples, the first of them t; `rebuilt(base, weights, totals, settings)` is
    the state of new weights (float64) and of those, a dictionary.
    """

    def gains(base: Any, state: Any, settings: Any) -> Gains:
        """What a worker has learnt beyond its base."""
        found: Gains = {name: getattr(state, name) - getattr(base, name) for name in totals}
        examples = float(found[totals[0]][0])
        moved = weights(state, settings).astype(np.float64) - weights(base, settings)
        moved = moved.reshape(len(moved), -1)
        touched = moved.any(axis=1)
        return {**found, "moved": rows_of(np.column_stack([touched * examples, moved * examples]))}

    def onto(base: Any, gains: Gains, settings: Any) -> Any:
        """The state of a base and of what workers have learnt beyond it."""
        before = np.asarray(weights(base, settings), np.float64)
        moved = dense(gains["moved"], len(before))
        mean = before + (moved[:, 1:] / np.where(moved[:, :1] > 0.0, moved[:, :1], 1.0)).reshape(before.shape)
        return rebuilt(base, mean, {name: getattr(base, name) + gains[name] for name in totals}, settings)

    return gains, onto
