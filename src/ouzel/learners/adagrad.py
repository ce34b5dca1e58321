"""AdaGrad with a diagonal metric and composite mirror descent.

Duchi, Hazan & Singer (2011), "Adaptive Subgradient Methods", JMLR 12, eqs (4) and (25), Figure 1. With s_j the root of
the sum of squared gradients of coordinate j and r the penalty, on every example, for every j,
    rate_j = learning_rate / (damping + s_j)
    w_j <- prox(r, w_j - rate_j g_j, rate_j).
A coordinate whose gradient is zero keeps its rate, so what the penalty does to it over several rounds is known in
closed form: it is made up for when the coordinate is next needed, exactly, and an example costs its non-zeros alone.
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np

from ouzel._jit import inlined, kernel
from ouzel.terms.losses import Logistic, derivative
from ouzel.terms.penalties import NoPenalty, applies, proximal, repeated_proximal


class State(NamedTuple):
    table: np.ndarray  # (d, 2) float32  w and s^2 of each slot, side by side: one cache miss a non-zero
    stamp: np.ndarray  # (d,) float64  rounds up to which the penalty has been applied; (0,) without a penalty
    seen: np.ndarray  # (1,) float64  t


class Settings(NamedTuple):
    loss: NamedTuple = Logistic()
    penalty: NamedTuple = NoPenalty()
    learning_rate: float = 0.25
    damping: float = 1e-6


def init(dimension: int, settings: Settings) -> State:
    """A state that has seen nothing, with room for `dimension` slots."""
    stamps = dimension if applies(settings.penalty) else 0
    return State(np.zeros((dimension, 2), np.float32), np.zeros(stamps), np.zeros(1))


def grow(state: State, dimension: int, settings: Settings) -> State:
    """The same state with room for `dimension` slots."""
    more = dimension - len(state.table)
    stamp = np.pad(state.stamp, (0, more)) if len(state.stamp) else state.stamp
    return State(np.pad(state.table, ((0, more), (0, 0))), stamp, state.seen)


@inlined
def _current_weight(state, slot, settings):
    """The weight of a slot with all rounds of the penalty applied."""
    weight = state.table[slot, 0]
    rounds = state.seen[0] - state.stamp[slot] if applies(settings.penalty) else 0.0
    if rounds > 0.0 and weight != 0.0:
        step = np.float32(settings.learning_rate) / (np.float32(settings.damping) + np.sqrt(state.table[slot, 1]))
        weight = np.float32(repeated_proximal(settings.penalty, weight, step, rounds))
    return weight


@inlined
def _catch_up(state, indices, values, settings):
    """Bring the weights of an example's slots up to date; return its margin."""
    margin = 0.0
    for k in range(len(indices)):
        slot = indices[k]
        weight = _current_weight(state, slot, settings)
        state.table[slot, 0] = weight
        state.stamp[slot] = state.seen[0]
        margin += values[k] * weight
    return margin


@inlined
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    margin = 0.0
    for k in range(len(indices)):
        margin += values[k] * _current_weight(state, indices[k], settings)
    return margin


@inlined
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    if applies(settings.penalty):
        margin = _catch_up(state, indices, values, settings)
    else:
        margin = predict_row(state, indices, values, settings)
    slope = np.float32(importance * derivative(settings.loss, margin, target))
    if slope != 0.0 and isfinite(slope):
        rate = np.float32(settings.learning_rate)
        damping = np.float32(settings.damping)
        for k in range(len(indices)):
            slot = indices[k]
            gradient = slope * values[k]
            squared = state.table[slot, 1] + gradient * gradient
            scale = damping + np.sqrt(squared)
            if not (0.0 < scale < np.inf):
                continue
            step = rate / scale
            weight = state.table[slot, 0] - step * gradient
            if applies(settings.penalty):
                weight = np.float32(proximal(settings.penalty, weight, step))
                state.stamp[slot] = state.seen[0] + 1.0
            state.table[slot, 0] = weight
            state.table[slot, 1] = squared
    state.seen[0] += 1.0
    return margin


@kernel
def learn_rows(state, rows, targets, importances, settings, margins):
    """Learn a block; `margins` (n,) takes the predictions made before learning each example."""
    for i in range(len(targets)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        margins[i] = learn_row(state, rows.indices[here], rows.values[here], targets[i], importances[i], settings)


@kernel
def predict_rows(state, rows, settings, margins):
    """Write the margins of a block to `margins` (n,)."""
    for i in range(len(margins)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        margins[i] = predict_row(state, rows.indices[here], rows.values[here], settings)


@kernel
def _current_weights(state, settings, out):
    for slot in range(len(out)):
        out[slot] = _current_weight(state, slot, settings)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot, the penalty applied to all."""
    out = np.empty(len(state.table), np.float32)
    _current_weights(state, settings, out)
    return out


def mirror(state: State) -> State:
    """The state that exchanged classes would have led to."""
    return State(state.table * np.array([-1, 1], np.float32), state.stamp.copy(), state.seen.copy())


def merge(states: list[State], settings: Settings) -> State:
    """Average the weights of workers by the examples each has seen; sums of squares add up."""
    seen = np.sum([state.seen for state in states], axis=0)
    share = [state.seen[0] / max(seen[0], 1.0) for state in states]
    weight = np.sum([part * weights(state, settings) for part, state in zip(share, states, strict=True)], axis=0)
    squared = np.sum([state.table[:, 1] for state in states], axis=0)
    table = np.column_stack([weight, squared]).astype(np.float32)
    return State(table, np.full_like(states[0].stamp, seen[0]), seen)
