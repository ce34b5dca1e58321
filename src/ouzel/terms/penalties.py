"""Penalties that are sums over single weights, each a NamedTuple of its strengths.

`value(penalty, weight)` is what one weight costs; `proximal(penalty, weight, step)` is the proximal map

    argmin_v  step * value(v) + (v - weight)^2 / 2

in closed form. Both work in kernels and in Python. A penalty of your own registers the same two bodies.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ouzel._jit import by_term


@by_term
def value(penalty: Any, weight: float) -> float:
    """What one weight costs."""


@by_term
def proximal(penalty: Any, weight: float, step: float) -> float:
    """The minimiser of step * value(v) + (v - weight)^2 / 2 over v."""


class NoPenalty(NamedTuple):
    """Nothing."""


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
    threshold = step * penalty.l1
    if weight > threshold:
        return weight - threshold
    return weight + threshold if weight < -threshold else 0.0 * weight


class SquaredL2(NamedTuple):
    """l2 w^2 / 2: shrinkage by a factor."""

    l2: float


@value.of(SquaredL2)
def _(penalty, weight):
    return 0.5 * penalty.l2 * weight * weight


@proximal.of(SquaredL2)
def _(penalty, weight, step):
    return weight / (1.0 + step * penalty.l2)


class ElasticNet(NamedTuple):
    """l1 |w| + l2 w^2 / 2."""

    l1: float
    l2: float


@value.of(ElasticNet)
def _(penalty, weight):
    return penalty.l1 * abs(weight) + 0.5 * penalty.l2 * weight * weight


@proximal.of(ElasticNet)
def _(penalty, weight, step):
    threshold = step * penalty.l1
    shrink = 1.0 + step * penalty.l2
    if weight > threshold:
        return (weight - threshold) / shrink
    return (weight + threshold) / shrink if weight < -threshold else 0.0 * weight
