"""Penalties that are sums over single weights, each a NamedTuple of its strengths.

`value(penalty, weight)` is what one weight costs; `proximal(penalty, weight, step)` is the proximal map

    argmin_v  step * value(v) + (v - weight)^2 / 2

in closed form. What several rounds of it do is known in closed form too, whatever their steps: each round adds
`penalty_increment(penalty, step)` to a running sum, and `apply_penalty(penalty, weight, owed)` applies any sum at once:
lazy (just-in-time) regularisation. So a learner pays a weight its debt of a thousand rounds at the price of one. All
work in kernels and in Python; a penalty of your own registers the same bodies.

>>> penalty = ElasticNet(0.5, 0.1)
>>> twice = proximal(penalty, proximal(penalty, 3.0, 0.25), 0.5)
>>> owed = penalty_increment(penalty, 0.25) + penalty_increment(penalty, 0.5)
>>> round(twice - apply_penalty(penalty, 3.0, owed), 12)
0.0
"""

from __future__ import annotations

from math import expm1, log1p
from typing import Annotated, Any, NamedTuple

from ouzel.errors import OuzelError
from ouzel.kernels.jit import dispatch, force_inline
from ouzel.ranges import STRENGTH, Range

SMALL = 0.01  # below which a few terms of a series are exact to rounding


@dispatch
def value(penalty: Any, weight: float) -> float:
    """What one weight costs."""


@dispatch
def proximal(penalty: Any, weight: float, step: float) -> float:
    """The minimiser of step * value(v) + (v - weight)^2 / 2 over v."""


@dispatch
def penalty_increment(penalty: Any, step: float) -> float:
    """What one round of this step adds to the sum that `apply_penalty` takes."""


@dispatch
def apply_penalty(penalty: Any, weight: float, owed: float) -> float:
    """The weight after rounds whose increments add up to `owed`."""


@dispatch
def applies(penalty: Any) -> bool:
    """Whether the penalty does anything: known when kernels are compiled, so that none costs nothing."""


def require_separable(penalty: Any, learner: str) -> None:
    """Refuse a penalty that is not a sum over single weights."""
    if type(penalty) not in proximal.bodies:
        raise OuzelError(
            f"{learner} takes penalties that are sums over single weights (L1, SquaredL2, ElasticNet, Box); "
            f"got {penalty!r}; for norms of rows use adagrad-multiclass, for norms of all weights adagrad-eager"
        )


def _applies(penalty):
    return True


@force_inline
def _lost(owed):
    """1 - exp(-owed), by its series where that is as exact: most increments are small."""
    if owed < SMALL:
        left = 1.0 - owed * (1.0 / 4) * (1.0 - owed * (1.0 / 5) * (1.0 - owed * (1.0 / 6) * (1.0 - owed * (1.0 / 7))))
        return owed * (1.0 - owed * 0.5 * (1.0 - owed * (1.0 / 3) * left))
    return -expm1(-owed)


@force_inline
def _log_of_one_and(part):
    """log(1 + part), likewise."""
    if part < SMALL:
        rest = 1.0 / 4 - part * (1.0 / 5 - part * (1.0 / 6 - part * (1.0 / 7 - part * (1.0 / 8))))
        return part * (1.0 - part * (0.5 - part * (1.0 / 3 - part * rest)))
    return log1p(part)


class NoPenalty(NamedTuple):
    """Nothing."""


@applies.register(NoPenalty)
def _(penalty):
    return False


@penalty_increment.register(NoPenalty)
def _(penalty, step):
    return 0.0


@apply_penalty.register(NoPenalty)
def _(penalty, weight, owed):
    return weight


@value.register(NoPenalty)
def _(penalty, weight):
    return 0.0


@proximal.register(NoPenalty)
def _(penalty, weight, step):
    return weight


class L1(NamedTuple):
    """l1 |w|: soft thresholding, exact zeros."""

    l1: Annotated[float, STRENGTH, "strength"]


@value.register(L1)
def _(penalty, weight):
    return penalty.l1 * abs(weight)


@proximal.register(L1)
def _(penalty, weight, step):
    return apply_penalty(penalty, weight, penalty_increment(penalty, step))


@penalty_increment.register(L1)
def _(penalty, step):
    return step * penalty.l1


@apply_penalty.register(L1)
def _(penalty, weight, owed):
    return weight - min(max(weight, -owed), owed)


class SquaredL2(NamedTuple):
    """l2 w^2 / 2: shrinkage by a factor."""

    l2: Annotated[float, STRENGTH, "strength"]


@value.register(SquaredL2)
def _(penalty, weight):
    return 0.5 * penalty.l2 * weight * weight


@proximal.register(SquaredL2)
def _(penalty, weight, step):
    return weight / (1.0 + step * penalty.l2)


@penalty_increment.register(SquaredL2)
def _(penalty, step):
    return _log_of_one_and(step * penalty.l2)


@apply_penalty.register(SquaredL2)
def _(penalty, weight, owed):
    return weight - _lost(owed) * weight


class ElasticNet(NamedTuple):
    """l1 |w| + l2 w^2 / 2."""

    l1: Annotated[float, STRENGTH, "strength"]
    l2: Annotated[float, Range(1e-30, 1e9), "strength; SquaredL2 and L1 are the forms without the other"]


@value.register(ElasticNet)
def _(penalty, weight):
    return penalty.l1 * abs(weight) + 0.5 * penalty.l2 * weight * weight


@proximal.register(ElasticNet)
def _(penalty, weight, step):
    threshold = step * penalty.l1
    return (weight - min(max(weight, -threshold), threshold)) / (1.0 + step * penalty.l2)


@penalty_increment.register(ElasticNet)
def _(penalty, step):
    return _log_of_one_and(step * penalty.l2)


@apply_penalty.register(ElasticNet)
def _(penalty, weight, owed):
    # a round is |v| <- (|v| - s l1) / (1 + s l2); its fixed point is -l1 / l2, and the distance to that shrinks by
    # the same factor 1 / (1 + s l2) = exp(-owed) as under the ridge alone; at zero it stops
    if weight == 0.0:
        return 0.0
    lost = _lost(owed)
    threshold = lost * penalty.l1 / penalty.l2
    kept = weight - lost * weight
    return kept - min(max(kept, -threshold), threshold)


for _kind in (L1, SquaredL2, ElasticNet):
    applies.register(_kind)(_applies)
