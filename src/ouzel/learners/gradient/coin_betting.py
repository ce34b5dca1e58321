"""Coin betting in continuous time on truncated models: gradient descent without a step size.

Chen, Langford & Orabona (2022), "Better Parameter-free Stochastic Optimization with ODE Updates for Coin-Betting",
AAAI. A wealth W is bet on the gradients g, as Krichevsky and Trofimov bet on a coin: after H rounds that summed up to
theta = -sum of h g, in units of the largest gradient L,
    w = W theta / (L H).

An example is learnt by many small bets on its g, during a time h. Of each, theta moves by -g dh, H grows by dh, and W
by what is bet of it, W theta / H, times -g dh. So with a = g'theta and G = g'g (both in units of L)
    d ln W / dh = -(a - h G) / (H + h),
    ln W(h) = ln W + a ln(H / (H + h)) + G (h + H ln(H / (H + h))).
Bets go on until the linear model of the loss, l + g'(w(h) - w), is 0, as no loss is below, or until h = 1. With a below
0 that model may rise at first, and then falls for good: where it ends below 0 its zero is unique, and found by
bisection.

The paper assumes gradients of at most 1; here L is the largest so far, so that units of features do not matter. Of a
loss that is below 0 (poisson) bets go on until h = 1.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.kernels.vectors import square_norm
from ouzel.layout import float64, made_from
from ouzel.learners.gains.averaging import averaging
from ouzel.learners.gains.parts import Gains, Peak
from ouzel.learners.limits import LARGEST, is_sound, learnable, margin_of
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.shared_settings import Loss
from ouzel.learners.states import negating
from ouzel.terms.losses import Logistic, derivative, value

SMALLEST = 1e-12  # of L, from which on weights are numbers of single precision
HALVINGS = 40  # of the time until the model of the loss is 0
RICHEST = log(LARGEST)  # of ln W


class State(NamedTuple):
    total: np.ndarray  # (d,) float64  theta L
    wealth: np.ndarray  # (1,) float64  ln W
    time: np.ndarray  # (1,) float64  H
    largest: np.ndarray  # (1,) float64  L
    seen: np.ndarray  # (1,) float64  examples


class Settings(NamedTuple):
    loss: Loss = Logistic()


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    return State(
        total=float64(dimension),
        wealth=float64(1, most=RICHEST),
        time=float64(1, fill=1.0, least=1.0),
        largest=float64(1, least=0.0),
        seen=float64(1, least=0.0),
    )


init, grow = made_from(layout)


@force_inline
def fraction(state):
    """What theta L is multiplied by for the weights: W / (L^2 H)."""
    largest = state.largest[0]
    return exp(state.wealth[0]) / (largest * largest * state.time[0]) if largest > 0.0 else 0.0


@force_inline
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    return fraction(state) * margin_of(state.total, indices, values)


@force_inline
def growth_of(h, aligned, square, time):
    """What bets during h on a gradient add to ln W; `aligned` is a, `square` G, `time` H."""
    falls = log(time / (time + h))
    return aligned * falls + square * (h + time * falls)


@force_inline
def time_of(constant, aligned, square, time, wealth):
    """For how long to bet: until the model of the loss, `constant` + g'w(h), is 0, or 1."""
    low, high = 0.0, 1.0
    if constant + _product_after(high, aligned, square, time, wealth) >= 0.0:
        return high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if constant + _product_after(middle, aligned, square, time, wealth) >= 0.0:
            low = middle
        else:
            high = middle
    return high


@force_inline
def _product_after(h, aligned, square, time, wealth):
    """g'w(h) = W(h) (a - h G) / (H + h)."""
    return exp(wealth + growth_of(h, aligned, square, time)) * (aligned - h * square) / (time + h)


@force_inline
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    margin = predict_row(state, indices, values, settings)
    if importance == 0.0:
        return margin
    state.seen[0] += 1.0
    slope, length = importance * derivative(settings.loss, margin, target), square_norm(values)
    if not learnable(slope, length, margin) or not is_sound(slope, length):
        return margin
    largest = max(state.largest[0], abs(slope) * sqrt(length))
    if largest >= SMALLEST:
        loss = importance * value(settings.loss, margin, target)
        aligned = slope * margin_of(state.total, indices, values) / (largest * largest)
        square = slope * slope * length / (largest * largest)
        time, wealth = state.time[0], state.wealth[0]
        h = time_of(loss - slope * margin, aligned, square, time, wealth) if loss >= 0.0 else 1.0
        state.largest[0] = largest
        state.wealth[0] = min(wealth + growth_of(h, aligned, square, time), RICHEST)
        state.time[0] = time + h
        for k in range(len(indices)):
            state.total[indices[k]] -= h * slope * values[k]
    return margin


learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot."""
    found: np.ndarray = _fraction(state) * state.total
    return found


def _fraction(state: State) -> float:
    """What `fraction` is, of a whole state."""
    largest = float(state.largest[0])
    return exp(state.wealth[0]) / (largest * largest * float(state.time[0])) if largest > 0.0 else 0.0


swap_classes = negating("total")


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay the time that was bet; weights stay what they are."""
    time = 1.0 + kept * (state.time - 1.0)
    state.total[...] *= time / state.time
    state.time[...] = time


def _rebuilt(base: State, weight: np.ndarray, totals: dict[str, np.ndarray], settings: Settings) -> State:
    """Merged weights and counts; `onto` adds what is no count."""
    return base._replace(total=weight, time=totals["time"], seen=totals["seen"])


_gains, _onto = averaging(weights, _rebuilt, ("seen", "time"))


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base: weights and ln W by examples, H, and the largest gradient."""
    found = _gains(base, state, settings)
    return {**found, "grown": found["seen"] * (state.wealth - base.wealth), "largest": Peak(state.largest.copy())}


def onto(base: State, gains: Gains, settings: Settings) -> State:
    """Weights move by the mean of the workers', ln W grows by the mean, H by the sum; theta follows."""
    merged = _onto(base, gains, settings)
    seen = gains["seen"][0]
    wealth = base.wealth + (gains["grown"] / seen if seen > 0.0 else 0.0)
    state = merged._replace(wealth=wealth, largest=np.maximum(base.largest, gains["largest"].values))
    part = _fraction(state)
    return state._replace(total=merged.total / part if part > 0.0 else merged.total)
