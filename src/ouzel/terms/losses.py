"""Losses of a linear prediction, each a NamedTuple of its parameters.

`value(loss, prediction, target)`, `derivative(…)` and `curvature(…)`, first and second derivative with respect to the
prediction, work in kernels and in Python. Classification losses take targets -1 and +1. `link(loss, prediction)` turns
a margin into what it estimates: a probability for the logistic loss, a rate for the Poisson loss, itself for others.

A loss of your own is a NamedTuple in an importable module with three bodies registered:

>>> from typing import NamedTuple
>>> class Quartic(NamedTuple):
...     pass
>>> @value.register(Quartic)
... def _(loss, prediction, target):
...     return 0.25 * (prediction - target) ** 4
>>> @derivative.register(Quartic)
... def _(loss, prediction, target):
...     return (prediction - target) ** 3
>>> float(derivative(Quartic(), 3.0, 1.0))
8.0
"""

from __future__ import annotations

from math import exp, log1p
from typing import Annotated, Any, NamedTuple

from ouzel.kernels.jit import dispatch
from ouzel.ranges import Range
from ouzel.terms import LOSSES_OF_CLASSES, LOSSES_OF_NUMBERS


@dispatch
def value(loss: Any, prediction: float, target: float) -> float:
    """The loss of one prediction."""


@dispatch
def derivative(loss: Any, prediction: float, target: float) -> float:
    """Derivative of the loss with respect to the prediction (a subgradient where it has a kink)."""


@dispatch
def curvature(loss: Any, prediction: float, target: float) -> float:
    """Second derivative of the loss with respect to the prediction, 0 where there is none."""


@dispatch
def link(loss: Any, prediction: float) -> float:
    """What a margin estimates under this loss."""


@dispatch
def probability_of(loss: Any) -> float:
    """The tau whose quantile of the targets is the constant of smallest loss, 0 if it is none."""


class Squared(NamedTuple):
    """(p - y)^2 / 2."""


@value.register(Squared)
def _(loss, prediction, target):
    return 0.5 * (prediction - target) ** 2


@derivative.register(Squared)
def _(loss, prediction, target):
    return prediction - target


class Logistic(NamedTuple):
    """log(1 + exp(-y p)) for y in {-1, +1}."""


@value.register(Logistic)
def _(loss, prediction, target):
    margin = prediction * target
    return log1p(exp(-abs(margin))) - min(margin, 0.0)


@derivative.register(Logistic)
def _(loss, prediction, target):
    margin = prediction * target
    small = exp(-abs(margin))
    return -target * (small if margin > 0 else 1.0) / (1.0 + small)


@link.register(Logistic)
def _(loss, prediction):
    small = exp(-abs(prediction))  # no branch: the sign of a margin is not to be foreseen
    return (1.0 if prediction > 0 else small) / (1.0 + small)


class Hinge(NamedTuple):
    """max(0, 1 - y p) for y in {-1, +1}."""


@value.register(Hinge)
def _(loss, prediction, target):
    return max(0.0, 1.0 - prediction * target)


@derivative.register(Hinge)
def _(loss, prediction, target):
    return 0.0 if prediction * target >= 1.0 else -target


class SmoothedHinge(NamedTuple):
    """The hinge loss with its kink replaced by a parabola on 0 < y p < 1."""


@value.register(SmoothedHinge)
def _(loss, prediction, target):
    margin = prediction * target
    if margin >= 1.0:
        return 0.0
    return 0.5 * (1.0 - margin) ** 2 if margin > 0.0 else 0.5 - margin


@derivative.register(SmoothedHinge)
def _(loss, prediction, target):
    margin = prediction * target
    if margin >= 1.0:
        return 0.0
    return -target * (1.0 - margin) if margin > 0.0 else -target


class SquaredHinge(NamedTuple):
    """max(0, 1 - y p)^2 / 2 for y in {-1, +1}."""


@value.register(SquaredHinge)
def _(loss, prediction, target):
    return 0.5 * max(0.0, 1.0 - prediction * target) ** 2


@derivative.register(SquaredHinge)
def _(loss, prediction, target):
    return -target * max(0.0, 1.0 - prediction * target)


class Quantile(NamedTuple):
    """The pinball loss: tau (y - p) where y > p, (1 - tau) (p - y) elsewhere; tau = 1/2 is half the absolute error."""

    tau: Annotated[float, Range(0.0, 1.0, above=True, below=True), "the quantile to predict"] = 0.5


@value.register(Quantile)
def _(loss, prediction, target):
    gap = target - prediction
    return loss.tau * gap if gap > 0.0 else (loss.tau - 1.0) * gap


@derivative.register(Quantile)
def _(loss, prediction, target):
    if target > prediction:
        return -loss.tau
    return 1.0 - loss.tau if target < prediction else 0.0


@probability_of.register(Quantile)
def _(loss):
    return loss.tau


class Absolute(NamedTuple):
    """|p - y|."""


@value.register(Absolute)
def _(loss, prediction, target):
    return abs(prediction - target)


@derivative.register(Absolute)
def _(loss, prediction, target):
    if target > prediction:
        return -1.0
    return 1.0 if target < prediction else 0.0


@probability_of.register(Absolute)
def _(loss):
    return 0.5


@probability_of.register(object)
def _(loss):
    return 0.0


class Poisson(NamedTuple):
    """exp(p) - y p: the negative log-likelihood of a count y, less its constant; the exponent is capped at 30."""


@value.register(Poisson)
def _(loss, prediction, target):
    return exp(min(prediction, 30.0)) - target * prediction


@derivative.register(Poisson)
def _(loss, prediction, target):
    return exp(min(prediction, 30.0)) - target


@link.register(Poisson)
def _(loss, prediction):
    return exp(min(prediction, 30.0))


@curvature.register(Squared)
def _(loss, prediction, target):
    return 1.0


@curvature.register(Logistic)
def _(loss, prediction, target):
    small = exp(-abs(prediction))
    return small / (1.0 + small) ** 2


@curvature.register(SmoothedHinge)
def _(loss, prediction, target):
    return 1.0 if 0.0 < prediction * target < 1.0 else 0.0


@curvature.register(SquaredHinge)
def _(loss, prediction, target):
    return 1.0 if prediction * target < 1.0 else 0.0


@curvature.register(Poisson)
def _(loss, prediction, target):
    return exp(min(prediction, 30.0))


def _flat(loss, prediction, target):
    return 0.0


curvature.register(Hinge)(_flat)
curvature.register(Quantile)(_flat)
curvature.register(Absolute)(_flat)


@link.register(object)
def _(loss, prediction):
    return prediction


LOSSES: dict[str, Any] = {name: globals()[kind]() for name, kind in {**LOSSES_OF_CLASSES, **LOSSES_OF_NUMBERS}.items()}
"""Every built-in loss by the name users give it."""

REGRESSION = tuple(globals()[kind] for kind in LOSSES_OF_NUMBERS.values())
"""Losses whose targets are numbers rather than classes."""

OF_ANY_UNIT = (Squared, Absolute, Quantile)
"""Those of them that are what they were when numbers change their unit, but for a factor."""
