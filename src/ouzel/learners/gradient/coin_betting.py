"""Coin betting in continuous time on truncated models, by coordinate: gradient descent without a step size.

Chen, Langford & Orabona (2022), "Better Parameter-free Stochastic Optimization with ODE Updates for Coin-Betting",
AAAI, with a bettor for each coordinate as Orabona & Tommasi (2017), "Training Deep Networks without Learning Rates
Through Coin Betting", NIPS, have it. The bettor of coordinate i has a wealth W, and bets it on its gradients g as
Krichevsky and Trofimov bet on a coin: after gradients that summed up to theta = -sum of h g, their sizes to
A = sum of h |g|, all at most L,
    w = W theta / (L (L + A)).

An example is learnt by many small bets of all bettors at once, during a time h. Of each, theta moves by -g dh, A by
|g| dh, and W by what is bet of it, theta / (L + A), times -g dh / L. So in units of L, with u = h |g|, H = 1 + A and
a = theta sign g,
    d ln W / du = -(a - u) / (H + u),
    ln W(u) = ln W + a ln(H / (H + u)) + u + H ln(H / (H + u)).
Bets go on until the linear model of the loss, l + g'(w(h) - w), is 0, as no loss is below, or until h = 1. As |a| < H,
each g w(h) falls in h, so the zero is unique, and found by bisection. Of a loss that is below 0 (poisson) bets go on
until h = 1.

The papers know bounds on gradients. Here L is the largest |x_i| so far times the largest slope G so far, which begins
as the importance of an example: slopes of the logistic loss, the hinge and the absolute loss stay below 1, so there L
is known when the feature is. A first wealth is 1 / sqrt(n) where the feature's first example has n non-zeros, so that
the first moves of an example's weights, of either sign, add up to a margin of order 1.
"""

from __future__ import annotations

from math import exp, inf, log1p, sqrt
from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.kernels.vectors import square_norm
from ouzel.layout import float64, made_from, require
from ouzel.learners.gains.averaging import averaging
from ouzel.learners.gains.parts import Gains, Peak, dense, peaks_of, rows_of
from ouzel.learners.gradient.derived_weights import predicting, weighing
from ouzel.learners.limits import LARGEST, is_sound, learnable
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.shared_settings import Loss
from ouzel.learners.states import negating_first
from ouzel.terms.losses import Logistic, derivative, value

SMALLEST = 1e-12  # of L, from which on weights are numbers of single precision
HALVINGS = 30  # of the time until the model of the loss is 0
TOTAL, SIZES, WEALTH, VALUE = range(4)  # places in a row of the table


class State(NamedTuple):
    table: np.ndarray  # (d, 4) float64  theta, A, W, the largest |x|
    steepest: np.ndarray  # (1,) float64  G
    seen: np.ndarray  # (1,) float64  examples


class Settings(NamedTuple):
    loss: Loss = Logistic()


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    return State(
        table=float64(
            dimension, 4, fill=(0.0, 0.0, 1.0, 0.0), least=(-inf, 0.0, 0.0, 0.0), most=(inf, inf, LARGEST, inf)
        ),
        steepest=float64(1, least=0.0),
        seen=float64(1, least=0.0),
    )


init, grow = made_from(layout)


@force_inline
def weight_of(state, slot, settings):
    """The weight of a slot: W theta / (L (L + A))."""
    row = state.table[slot]
    largest = row[VALUE] * state.steepest[0]
    return row[WEALTH] / largest * (row[TOTAL] / (largest + row[SIZES])) if largest >= SMALLEST else 0.0


predict_row, weights = predicting(weight_of), weighing(weight_of)


@force_inline
def after(row, largest, gradient, h):
    """By how much ln W grows during h, and the share of W that is bet then on falling along the gradient."""
    moved, time = h * abs(gradient) / largest, 1.0 + row[SIZES] / largest
    aligned = (row[TOTAL] if gradient > 0.0 else -row[TOTAL]) / largest
    rises = log1p(moved / time)
    return moved - (aligned + time) * rises, (aligned - moved) / (time + moved)


@force_inline
def model_after(h, constant, state, indices, values, slope):
    """The linear model of the loss after betting for h: `constant` + g'w(h)."""
    total = constant
    for k in range(len(indices)):
        row, gradient = state.table[indices[k]], slope * np.float64(values[k])
        largest = row[VALUE] * state.steepest[0]
        if gradient != 0.0 and largest >= SMALLEST:
            growth, share = after(row, largest, gradient, h)
            total += abs(gradient) / largest * (row[WEALTH] * exp(growth) * share)
    return total


@force_inline
def time_of(constant, state, indices, values, slope):
    """For how long to bet: until the linear model of the loss is 0, or 1."""
    low, high = 0.0, 1.0
    if model_after(high, constant, state, indices, values, slope) >= 0.0:
        return high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if model_after(middle, constant, state, indices, values, slope) >= 0.0:
            low = middle
        else:
            high = middle
    return high


@force_inline
def note_sizes(state, indices, values, steepest):
    """Count the sizes of a slope and of features; a new feature gets its wealth."""
    state.steepest[0] = max(state.steepest[0], steepest)
    count = 0.0
    for k in range(len(indices)):
        count += values[k] != 0.0
    for k in range(len(indices)):
        row, size = state.table[indices[k]], abs(np.float64(values[k]))
        if row[VALUE] == 0.0 and size > 0.0:
            row[WEALTH] = 1.0 / sqrt(count)
        row[VALUE] = max(row[VALUE], size)


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
    note_sizes(state, indices, values, max(importance, abs(slope)))
    loss = importance * value(settings.loss, margin, target)
    h = time_of(loss - slope * margin, state, indices, values, slope) if loss >= 0.0 else 1.0
    for k in range(len(indices)):
        row, gradient = state.table[indices[k]], slope * np.float64(values[k])
        largest = row[VALUE] * state.steepest[0]
        if gradient != 0.0 and largest >= SMALLEST:
            growth, _ = after(row, largest, gradient, h)
            row[WEALTH] = min(row[WEALTH] * exp(growth), LARGEST)
            row[TOTAL] -= h * gradient
            row[SIZES] += h * abs(gradient)
    return margin


learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)
swap_classes = negating_first("table")


def check(state: State, settings: Settings) -> None:
    """Refuse sums of gradients that are larger than the sums of their sizes, and bets of more than a wealth."""
    most = state.table[:, SIZES] + state.table[:, VALUE] * state.steepest
    require((np.abs(state.table[:, TOTAL]) <= most * (1.0 + 1e-9)).all(), "table has bets of more than a wealth")


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay the gradients that were bet on; weights stay what they are."""
    largest, before = state.table[:, VALUE] * state.steepest, state.table[:, SIZES].copy()
    state.table[:, SIZES] *= kept
    time = largest + before
    state.table[:, TOTAL] *= np.divide(largest + state.table[:, SIZES], time, out=np.ones_like(time), where=time > 0.0)


def _bets(state: State, settings: Settings) -> np.ndarray:
    """Weights and wealths (d, 2)."""
    return np.column_stack([weights(state, settings), state.table[:, WEALTH]])


def _rebuilt(base: State, bets: np.ndarray, totals: dict[str, np.ndarray], settings: Settings) -> State:
    """Merged weights, in place of sums, wealths and counts; `onto` adds what is no mean."""
    table = base.table.copy()
    table[:, [TOTAL, WEALTH]] = bets
    return base._replace(table=table, seen=totals["seen"])


_gains, _onto = averaging(_bets, _rebuilt)


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base: weights and wealths by examples, sizes, and the largest."""
    return {
        **_gains(base, state, settings),
        "sizes": rows_of(state.table[:, SIZES] - base.table[:, SIZES]),
        "largest": peaks_of(state.table[:, VALUE]),
        "steepest": Peak(state.steepest.copy()),
    }


def onto(base: State, gains: Gains, settings: Settings) -> State:
    """Weights and wealths move by the mean of the workers', sizes of gradients add up; theta follows."""
    merged, slots = _onto(base, gains, settings), len(base.table)
    table, steepest = merged.table, np.maximum(base.steepest, gains["steepest"].values)
    table[:, SIZES] = np.maximum(table[:, SIZES] + dense(gains["sizes"], slots), 0.0)
    table[:, VALUE] = np.maximum(table[:, VALUE], dense(gains["largest"], slots)[:, 0])
    largest = table[:, VALUE] * steepest
    most = largest + table[:, SIZES]
    share = np.divide(table[:, TOTAL] * largest, table[:, WEALTH], out=np.zeros(slots), where=table[:, WEALTH] > 0.0)
    table[:, TOTAL] = np.clip(share, -1.0, 1.0) * most
    return merged._replace(steepest=steepest)
