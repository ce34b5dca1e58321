"""The constants that numbers are predicted by, or shifted by, where another loss than the squared one is to be small.

c is the quantile of the labels so far (`sketches/running_quantile.py`). q is added to m, the squared loss's prediction.
It goes down the loss's slopes g in steps that shrink by 1 / t, and never past a label:
    q <- q - 3 / 2 d g / (t root mean square of g),    d the mean of |y - m|.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import inline_source
from ouzel.layout import float64
from ouzel.learners.gains import histograms
from ouzel.learners.gains.parts import Gains
from ouzel.sketches import running_quantile
from ouzel.terms.losses import derivative, probability_of

MOVE = 1.5  # parts of a unit that q goes at first
MOST_LEAD = 4.0  # largest regrets
LEVEL, SHIFT, COUNTED, LEVEL_GAPS, SHIFT_GAPS, SHIFT_SLOPES = range(6)  # places of `numbers`


class Constants(NamedTuple):
    numbers: np.ndarray  # (6,) float64  c, q, t, sums of |y - c| and of |y - m|, and of g^2
    seen: running_quantile.State  # the labels that c is the quantile of; none where margins are logarithms


def layout() -> Any:
    """What constants are made of."""
    return Constants(float64(6, least=(-inf, -inf, *(0.0,) * 4)), running_quantile.layout())


@inline_source
def lead_of(loss):
    """The largest regrets by which the constant is ahead of other experts at first.

    Of a quantile far out few examples are on the one side: the others are believed once as many as tell of a median.
    Where most labels are alike, and no expert is better than the constant, that leaves little to lose to it.
    """
    tau = probability_of(loss)
    return min(0.5 / min(tau, 1.0 - tau), MOST_LEAD) if tau > 0.0 else 1.0


@inline_source
def learn_constants(constants, loss, shifted, target, squared, weight, moves):
    """Learn a label that m was `squared` for, and m + q `shifted`; only `t` and the gaps unless the constants move."""
    numbers = constants.numbers
    first = numbers[COUNTED] == 0.0
    numbers[COUNTED] += weight
    if not first:
        numbers[LEVEL_GAPS] += weight * abs(target - numbers[LEVEL])
        numbers[SHIFT_GAPS] += weight * abs(target - squared)
    if moves:
        running_quantile.learn(constants.seen, target, weight)
        numbers[LEVEL] = running_quantile.quantile(constants.seen, probability_of(loss))
        slope, gap = derivative(loss, shifted, target), target - shifted
        numbers[SHIFT_SLOPES] += 0.0 if first else weight * slope * slope  # of the first one m is not known
        if numbers[SHIFT_SLOPES] > 0.0:
            unit = numbers[SHIFT_GAPS] / numbers[COUNTED]
            step = MOVE * weight * unit * slope / sqrt(numbers[SHIFT_SLOPES] * numbers[COUNTED])
            numbers[SHIFT] += gap if abs(step) > abs(gap) else -step


def fade(constants: Constants, kept: float) -> None:
    """Let past labels count for a part of what they did."""
    constants.numbers[COUNTED:] *= kept
    running_quantile.fade(constants.seen, kept)


def gains(base: Constants, constants: Constants, examples: float) -> Gains:
    """What a worker of so many examples has learnt beyond its base."""
    return {
        "averaged": examples * constants.numbers[:COUNTED],
        "sums": constants.numbers[COUNTED:] - base.numbers[COUNTED:],
        "seen": histograms.gains(base.seen, constants.seen),
    }


def onto(base: Constants, gains: Gains, examples: float, loss: Any) -> Constants:
    """The constants of a base and of what workers of so many examples have learnt beyond it."""
    sums = np.maximum(base.numbers[COUNTED:] + gains["sums"], 0.0)
    numbers = np.concatenate([gains["averaged"] / examples, sums])
    return _levelled(numbers, histograms.onto(base.seen, gains["seen"]), loss)


def _levelled(numbers: np.ndarray, seen: running_quantile.State, loss: Any) -> Constants:
    """With c of the labels seen, where it is their quantile."""
    if seen.used[0]:
        quantile = getattr(running_quantile.quantile, "py_func", running_quantile.quantile)
        numbers[LEVEL] = quantile(seen, probability_of(loss))
    return Constants(numbers, seen)
