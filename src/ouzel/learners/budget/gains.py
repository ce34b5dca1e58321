"""What workers of a budgeted learner have learnt beyond a base: what these learners do alike (see `learners.gains`).

Their weights are averaged by the examples that each worker has learnt in the round; as all began from one base, that is
the base moved by the mean of their moves. A feature that a worker does not keep has the weight 0 with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.layout import copied
from ouzel.learners.gains.parts import Gains, Rows

Function = Callable[..., Any]


def learnt(base: Any, state: Any) -> float:
    """The examples that a worker has learnt beyond its base."""
    return float(state.scale[1] - base.scale[1])


def kept(slots: np.ndarray, *columns: np.ndarray) -> Rows:
    """Numbers (n,) of slots (n,) as rows."""
    order = np.argsort(slots, kind="stable")
    return Rows(slots[order].astype(np.int64), np.column_stack([np.asarray(c, float)[order] for c in columns]))


def unless_idle(onto: Function) -> Function:
    """`onto` that gives a copy of the base where nothing was learnt; gains have their `examples`."""

    def settle(base: Any, gains: Gains, settings: Any) -> Any:
        """The state of a base and of what workers have learnt beyond it."""
        return onto(base, gains, settings) if gains["examples"] > 0.0 else copied(base)

    return settle
