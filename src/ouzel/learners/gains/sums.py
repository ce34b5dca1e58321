"""Gains of learners whose state is a sum over examples: plain sums from a state that has learnt nothing.

States of workers that began alike add up exactly. From a trained base they are averaged instead. All workers correct
the same error there, and the base's sums of squares hardly grow in a round. Steps by the gradients of all workers would
overshoot, by a factor of the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.learners.gains.parts import Gains, Rows, dense, rows_of

Function = Callable[..., Any]


def summed_at_first(
    averaged: tuple[Function, Function], sums: tuple[str, ...], totals: tuple[str, ...] = ("seen",)
) -> tuple[Function, Function]:
    """`gains` and `onto` of a learner that has `averaged` ones for bases that have learnt something.

    `sums` are its arrays (d, ...) that add up over examples, and `totals` those that count over them, the first of them
    t.
    """

    def gains(base: Any, state: Any, settings: Any) -> Gains:
        """What a worker has learnt beyond its base."""
        if getattr(base, totals[0])[0] > 0.0:
            found: Gains = averaged[0](base, state, settings)
            return found
        return {name: added(base, state, name) for name in sums} | {
            name: getattr(state, name) - getattr(base, name) for name in totals
        }

    def onto(base: Any, gains: Gains, settings: Any) -> Any:
        """The state of a base and of what workers have learnt beyond it."""
        if getattr(base, totals[0])[0] > 0.0:
            return averaged[1](base, gains, settings)
        whole = {name: with_sums(base, gains, name) for name in sums}
        return base._replace(**whole, **{name: getattr(base, name) + gains[name] for name in totals})

    return gains, onto


def added(base: Any, state: Any, name: str) -> Rows:
    """What examples have added to an array of a base."""
    return rows_of(getattr(state, name).astype(np.float64) - getattr(base, name))


def with_sums(base: Any, gains: Gains, name: str) -> np.ndarray:
    """An array of a base, and what the examples of all workers have added to it."""
    before = getattr(base, name)
    return (before + dense(gains[name], len(before))).astype(before.dtype)
