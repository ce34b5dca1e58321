"""Penalties that are sums over single weights, each a NamedTuple of its strengths.

`value(penalty, weight)` is what one weight costs; `proximal(penalty, weight, step)` is the proximal map

    argmin_v  step * value(v) + (v - weight)^2 / 2

in closed form. What several rounds of it do is known in closed form too, whatever their steps: each round adds
`dose(penalty, step)` to a running sum, and `shrink(penalty, weight, dose)` applies any sum at once. So a lazy learner
pays a weight its debt of a thousand rounds at the price of one. All work in kernels and in Python; a penalty of your
own registers the same bodies.

>>> penalty = ElasticNet(0.5, 0.1)
>>> twice = proximal(penalty, proximal(penalty, 3.0, 0.25), 0.5)
>>> round(twice - shrink(penalty, 3.0, dose(penalty, 0.25) + dose(penalty, 0.5)), 12)
0.0
"""

from __future__ import annotations

from math import expm1, log1p
from typing import Annotated, Any, NamedTuple

from ouzel.errors import OuzelError
from ouzel.kernels.jit import by_term, inlined
from ouzel.ranges import STRENGTH, Range

SMALL = 0.01  # below which a few terms of a series are exact to rounding


@by_term
def value(penalty: Any, weight: float) -> float:
    """What one weight costs."""


@by_term
def proximal(penalty: Any, weight: float, step: float) -> float:
    """The minimiser of step * value(v) + (v - weight)^2 / 2 over v."""


@by_term
def dose(penalty: Any, step: float) -> float:
    """What one round of this step adds to the sum that `shrink` takes."""


@by_term
def shrink(penalty: Any, weight: float, dose: float) -> float:
    """The weight after rounds whose doses add up to `dose`."""


@by_term
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


@inlined
def _lost(dose):
    """1 - exp(-dose), by its series where that is as exact: most doses are small."""
    if dose < SMALL:
        left = 1.0 - dose * (1.0 / 4) * (1.0 - dose * (1.0 / 5) * (1.0 - dose * (1.0 / 6) * (1.0 - dose * (1.0 / 7))))
        return dose * (1.0 - dose * 0.5 * (1.0 - dose * (1.0 / 3) * left))
    return -expm1(-dose)


@inlined
def _log_of_one_and(part):
    """log(1 + part), likewise."""
    if part < SMALL:
        rest = 1.0 / 4 - part * (1.0 / 5 - part * (1.0 / 6 - part * (1.0 / 7 - part * (1.0 / 8))))
        return part * (1.0 - part * (0.5 - part * (1.0 / 3 - part * rest)))
    return log1p(part)


class NoPenalty(NamedTuple):
    """Nothing."""


@applies.of(NoPenalty)
def _(penalty):
    return False


@dose.of(NoPenalty)
def _(penalty, step):
    return 0.0


@shrink.of(NoPenalty)
def _(penalty, weight, dose):
    return weight


@value.of(NoPenalty)
def _(penalty, weight):
    return 0.0


@proximal.of(NoPenalty)
def _(penalty, weight, step):
    return weight


class L1(NamedTuple):
    """l1 |w|: soft thresholding, exact zeros."""

    l1: Annotated[float, STRENGTH, "strength"]


@value.of(L1)
def _(penalty, weight):
    return penalty.l1 * abs(weight)


@proximal.of(L1)
def _(penalty, weight, step):
    return shrink(penalty, weight, dose(penalty, step))


@dose.of(L1)
def _(penalty, step):
    return step * penalty.l1


@shrink.of(L1)
def _(penalty, weight, dose):
    return weight - min(max(weight, -dose), dose)


class SquaredL2(NamedTuple):
    """l2 w^2 / 2: shrinkage by a factor."""

    l2: Annotated[float, STRENGTH, "strength"]


@value.of(SquaredL2)
def _(penalty, weight):
    return 0.5 * penalty.l2 * weight * weight


@proximal.of(SquaredL2)
def _(penalty, weight, step):
    return weight / (1.0 + step * penalty.l2)


@dose.of(SquaredL2)
def _(penalty, step):
    return _log_of_one_and(step * penalty.l2)


@shrink.of(SquaredL2)
def _(penalty, weight, dose):
    return weight - _lost(dose) * weight


class ElasticNet(NamedTuple):
    """l1 |w| + l2 w^2 / 2."""

    l1: Annotated[float, STRENGTH, "strength"]
    l2: Annotated[float, Range(1e-30, 1e9), "strength; SquaredL2 and L1 are the forms without the other"]


@value.of(ElasticNet)
def _(penalty, weight):
    return penalty.l1 * abs(weight) + 0.5 * penalty.l2 * weight * weight


@proximal.of(ElasticNet)
def _(penalty, weight, step):
    threshold = step * penalty.l1
    return (weight - min(max(weight, -threshold), threshold)) / (1.0 + step * penalty.l2)


@dose.of(ElasticNet)
def _(penalty, step):
    return _log_of_one_and(step * penalty.l2)


@shrink.of(ElasticNet)
def _(penalty, weight, dose):
    # a round is |v| <- (|v| - s l1) / (1 + s l2); its fixed point is -l1 / l2, and the distance to that shrinks by
    # the same factor 1 / (1 + s l2) = exp(-dose) as under the ridge alone; at zero it stops
    if weight == 0.0:
        return 0.0
    lost = _lost(dose)
    threshold = lost * penalty.l1 / penalty.l2
    kept = weight - lost * weight
    return kept - min(max(kept, -threshold), threshold)


for _kind in (L1, SquaredL2, ElasticNet):
    applies.of(_kind)(_applies)
