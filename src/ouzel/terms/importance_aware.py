"""How much of a gradient step to take, so that no step overshoots, however large its rate.

Karampatziakis & Langford (2011), "Online Importance Weight Aware Updates", UAI: a step of size h is what many steps of
size h/k come to, k without end, each by the gradient where the last has led. Along one example the prediction then
follows p'(h) = -q l'(p), where q = x' (rate x) is how far a unit of step moves it. `share(loss, prediction, target,
push)`, with the push h q, is the way p goes divided by that of the plain step, -push l'(p): between 0 and 1.

A loss of your own takes plain steps unless a body is registered for it.
"""

from __future__ import annotations

from math import exp, expm1, log
from typing import Any

from ouzel.kernels.jit import dispatch
from ouzel.terms.losses import (
    Absolute,
    Hinge,
    Logistic,
    Poisson,
    Quantile,
    SmoothedHinge,
    Squared,
    SquaredHinge,
)

SMALL = 1e-6  # a way below is the same as a plain step
ROUNDS = 3  # of Newton's method, from above on a convex function
FLAT = 30.0  # margins from which the logistic loss is flat
LARGEST_EXPONENT = 700.0  # beyond, exp is infinite
SMALLEST_SUM = 1e-300  # whose log is a number


@dispatch
def importance_aware_step(loss: Any, prediction: float, target: float, push: float) -> float:
    """The part of the plain step to take."""


@importance_aware_step.register(object)
def _(loss, prediction, target, push):
    return 1.0


def _contracting(loss, prediction, target, push):
    """The gap to the target shrinks by exp(-push)."""
    return -expm1(-push) / push if push > SMALL else 1.0


importance_aware_step.register(Squared)(_contracting)
importance_aware_step.register(SquaredHinge)(_contracting)


@importance_aware_step.register(Logistic)
def _(loss, prediction, target, push):
    margin = prediction * target
    grown = exp(min(margin, FLAT))
    plain = push / (1.0 + grown)
    if not plain > SMALL or margin > FLAT:
        return 1.0
    goal = margin + grown + push  # where v + exp(v) arrives
    reached = min(margin + plain, log(goal) if goal > 1.0 else goal)
    for _ in range(ROUNDS):
        power = exp(reached)
        reached -= (reached + power - goal) / (1.0 + power)
    return (reached - margin) / plain


@importance_aware_step.register(Hinge)
def _(loss, prediction, target, push):
    gap = 1.0 - prediction * target
    return gap / push if 0.0 < gap < push else 1.0


@importance_aware_step.register(SmoothedHinge)
def _(loss, prediction, target, push):
    margin = prediction * target
    if margin >= 0.0:
        return -expm1(-push) / push if push > SMALL else 1.0
    return (-margin - expm1(-push - margin)) / push if push > -margin else 1.0


@importance_aware_step.register(Absolute)
def _(loss, prediction, target, push):
    gap = abs(target - prediction)
    return gap / push if 0.0 < gap < push else 1.0


@importance_aware_step.register(Quantile)
def _(loss, prediction, target, push):
    gap = target - prediction
    gap = gap / loss.tau if gap > 0.0 else gap / (loss.tau - 1.0)
    return gap / push if 0.0 < gap < push else 1.0


@importance_aware_step.register(Poisson)
def _(loss, prediction, target, push):
    rate = exp(min(prediction, 30.0))
    plain = push * (target - rate)
    if not abs(plain) > SMALL:
        return 1.0
    kept = exp(min(-target * push, LARGEST_EXPONENT))
    risen = rate * ((1.0 - kept) / target if target * push > SMALL else push)
    return -log(max(risen + kept, SMALLEST_SUM)) / plain
