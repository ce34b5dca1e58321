"""Penalties that are sums over single weights, each a NamedTuple of its strengths.

`value(penalty, weight)` is what one weight costs; `proximal(penalty, weight, step)` is the proximal map

    argmin_v  step * value(v) + (v - weight)^2 / 2

in closed form. `repeated_proximal(penalty, weight, step, times)` is that map applied `times` times, which is what a
lazy learner owes a weight it has not touched for so many rounds. All work in kernels and in Python; a penalty of your
own registers the same bodies.
"""

from __future__ import annotations

from math import copysign
from typing import Any, NamedTuple

from ouzel._jit import by_term


@by_term
def value(penalty: Any, weight: float) -> float:
    """What one weight costs."""


@by_term
def proximal(penalty: Any, weight: float, step: float) -> float:
    """The minimiser of step * value(v) + (v - weight)^2 / 2 over v."""


@by_term
def repeated_proximal(penalty: Any, weight: float, step: float, times: float) -> float:
    """The proximal map applied `times` times in a row with the same step."""


@by_term
def applies(penalty: Any) -> bool:
    """Whether the penalty does anything: known when kernels are compiled, so that none costs nothing."""


def _applies(penalty):
    return True


class NoPenalty(NamedTuple):
    """Nothing."""


@applies.of(NoPenalty)
def _(penalty):
    return False


@repeated_proximal.of(NoPenalty)
def _(penalty, weight, step, times):
    return weight


@value.of(NoPenalty)
def _(penalty, weight):
    return 0.0


@proximal.of(NoPenalty)
def _(penalty, weight, step):
    return weight


class L1(NamedTuple):
    """l1 |w|: soft thresholding, exact zeros."""

    l1: float


@value.of(L1)
def _(penalty, weight):
    return penalty.l1 * abs(weight)


@proximal.of(L1)
def _(penalty, weight, step):
    return copysign(max(abs(weight) - step * penalty.l1, 0.0), weight)


@repeated_proximal.of(L1)
def _(penalty, weight, step, times):
    return copysign(max(abs(weight) - times * step * penalty.l1, 0.0), weight)


class SquaredL2(NamedTuple):
    """l2 w^2 / 2: shrinkage by a factor."""

    l2: float


@value.of(SquaredL2)
def _(penalty, weight):
    return 0.5 * penalty.l2 * weight * weight


@proximal.of(SquaredL2)
def _(penalty, weight, step):
    return weight / (1.0 + step * penalty.l2)


@repeated_proximal.of(SquaredL2)
def _(penalty, weight, step, times):
    return weight * (1.0 + step * penalty.l2) ** -times


class ElasticNet(NamedTuple):
    """l1 |w| + l2 w^2 / 2."""

    l1: float
    l2: float


@value.of(ElasticNet)
def _(penalty, weight):
    return penalty.l1 * abs(weight) + 0.5 * penalty.l2 * weight * weight


@proximal.of(ElasticNet)
def _(penalty, weight, step):
    return copysign(max(abs(weight) - step * penalty.l1, 0.0), weight) / (1.0 + step * penalty.l2)


@repeated_proximal.of(ElasticNet)
def _(penalty, weight, step, times):
    # v <- (v - s l1) a with a = 1 / (1 + s l2), so often:  a^n v - s l1 (a + a^2 + ... + a^n), down to zero
    shrink = (1.0 + step * penalty.l2) ** -times
    return copysign(max(shrink * abs(weight) - (1.0 - shrink) * penalty.l1 / penalty.l2, 0.0), weight)


for _kind in (L1, SquaredL2, ElasticNet):
    applies.of(_kind)(_applies)
