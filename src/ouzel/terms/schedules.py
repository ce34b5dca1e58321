"""How a learning rate falls with the number t of examples seen, counted from 0."""

from __future__ import annotations

from typing import Any, NamedTuple

from ouzel.kernels.jit import dispatch


@dispatch
def rate(schedule: Any, first: float, l2: float, seen: float) -> float:
    """The step size after `seen` examples, of a learner whose first step is `first` and whose ridge penalty is `l2`."""


class InverseTime(NamedTuple):
    """first / (1 + l2 first t): Bottou's rule, and that of the WM-Sketch authors' code."""


@rate.register(InverseTime)
def _(schedule, first, l2, seen):
    return first / (1.0 + l2 * first * seen)


class InverseRoot(NamedTuple):
    """first / sqrt(1 + t)."""


@rate.register(InverseRoot)
def _(schedule, first, l2, seen):
    return first / (1.0 + seen) ** 0.5


class Constant(NamedTuple):
    """first, always."""


@rate.register(Constant)
def _(schedule, first, l2, seen):
    return first


SCHEDULES: dict[str, Any] = {"inverse-time": InverseTime(), "inverse-root": InverseRoot(), "constant": Constant()}
"""Every schedule by the name users give it."""
