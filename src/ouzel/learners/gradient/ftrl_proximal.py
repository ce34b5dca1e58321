"""FTRL-Proximal: follow the regularised leader, each coordinate with a step size of its own and an l1 penalty for all.

McMahan et al. (2013), "Ad Click Prediction: a View from the Trenches", KDD, Algorithm 1. With g the gradient of an
example, n_j the sum of squares of coordinate j's gradients, alpha the learning rate and beta the damping,
    w_j = 0 if |z_j| <= l1, else -(z_j - sgn(z_j) l1) / ((beta + sqrt(n_j)) / alpha + l2),
    z_j <- z_j + g_j - sigma_j w_j,    sigma_j = (sqrt(n_j + g_j^2) - sqrt(n_j)) / alpha,    n_j <- n_j + g_j^2.
Without penalties it is AdaGrad's mirror descent. The l1 penalty counts once and not once an example, as `adagrad-rda`'s
does, so that strengths of the two do not compare.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Annotated, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import float64, made_from
from ouzel.learners.gains.growth import grown, mean_growth, mean_move
from ouzel.learners.gains.parts import Gains, dense
from ouzel.learners.gradient.derived_weights import descending_lazily
from ouzel.learners.limits import has_square
from ouzel.learners.shared_settings import L2, Damping, Loss, Rate
from ouzel.learners.states import negating_first
from ouzel.ranges import STRENGTH
from ouzel.terms.losses import Logistic


class State(NamedTuple):
    table: np.ndarray  # (d, 2) float64  z and n of each slot
    seen: np.ndarray  # (1,) float64  examples


class Settings(NamedTuple):
    loss: Loss = Logistic()
    learning_rate: Rate = 0.25
    damping: Damping = 1.0
    l1: Annotated[float, STRENGTH, "strength of the l1 penalty, once: weights become exactly zero"] = 0.0
    l2: L2 = 0.0


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    return State(table=float64(dimension, 2, least=(-inf, 0.0)), seen=float64(1, least=0.0))


init, grow = made_from(layout)


@force_inline
def curvature_of(squares, settings):
    """What divides the step of a slot, by its sum of squares n."""
    return (settings.damping + sqrt(squares)) / settings.learning_rate + settings.l2


@force_inline
def weight_of(state, slot, settings):
    """The weight of a slot."""
    total = state.table[slot, 0]
    if abs(total) <= settings.l1:
        return 0.0
    shrunk = total - settings.l1 if total > 0.0 else total + settings.l1
    return -shrunk / curvature_of(state.table[slot, 1], settings)


@force_inline
def step(state, indices, values, slope, settings):
    """Learn one example, whose gradient is `slope` times its features."""
    for k in range(len(indices)):
        gradient = slope * values[k]
        if has_square(gradient):
            weight, before = weight_of(state, indices[k], settings), state.table[indices[k], 1]
            after = before + gradient * gradient
            state.table[indices[k], 0] += gradient - (sqrt(after) - sqrt(before)) / settings.learning_rate * weight
            state.table[indices[k], 1] = after
    state.seen[0] += 1.0


predict_row, predict_rows, learn_row, learn_rows, weights = descending_lazily(weight_of, step)
swap_classes = negating_first("table")


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay the sums of squares; z goes to where the weight stays what it is."""
    total, squares = state.table.T.copy()
    before, after = (
        (settings.damping + np.sqrt(n)) / settings.learning_rate + settings.l2 for n in (squares, kept * squares)
    )
    ratio = np.divide(after, before, out=np.ones_like(before), where=before > 0.0)
    beyond = np.maximum(np.abs(total) - settings.l1, 0.0)
    state.table[:, 0] = total - np.sign(total) * beyond * (1.0 - ratio)
    state.table[:, 1] = kept * squares


def _curvatures(squares: np.ndarray, settings: Settings) -> np.ndarray:
    found: np.ndarray = (settings.damping + np.sqrt(squares)) / settings.learning_rate + settings.l2
    return found


def _held_back(state: State, settings: Settings) -> np.ndarray:
    """What l1 holds back of z: all of it where the weight is 0."""
    held: np.ndarray = state.table[:, 0] + _curvatures(state.table[:, 1], settings) * weights(state, settings)
    return held


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base."""
    seen = state.seen - base.seen
    growth = state.table[:, 1] - base.table[:, 1]
    moved = weights(state, settings) - weights(base, settings)
    held = _held_back(state, settings) - _held_back(base, settings)
    return {"seen": seen, "moved": grown(growth, moved, seen[0]), "held": grown(growth, held, seen[0])}


def onto(base: State, gains: Gains, settings: Settings) -> State:
    """Weights move by the mean of the workers', each by its sum of squares of that slot, and z follows."""
    moved, held = (dense(gains[name], len(base.table)) for name in ("moved", "held"))
    squares = base.table[:, 1] + mean_growth(moved)
    weight = weights(base, settings) + mean_move(moved)
    z = _held_back(base, settings) + mean_move(held) - weight * _curvatures(squares, settings)
    return State(
        np.column_stack([np.where(moved[:, 0] > 0.0, z, base.table[:, 0]), squares]), base.seen + gains["seen"]
    )
