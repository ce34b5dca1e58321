"""AdaGrad with a diagonal metric and composite mirror descent.

Duchi, Hazan & Singer (2011), "Adaptive Subgradient Methods", JMLR 12, eqs (4) and (25), Figure 1. With s_j the root of
the sum of squared gradients of coordinate j and r the penalty, on every example, for every j,
    rate_j = learning_rate / (damping + s_j)
    w_j <- prox(r, w_j - rate_j g_j, rate_j).
A coordinate whose gradient is zero keeps its rate, so what the penalty does to it over several rounds is known in
closed form: it is made up for when the coordinate is next needed, exactly, and an example costs its non-zeros alone.

Sums of squares go on counting in single precision (`dithered_sums`). A box as domain is the penalty `Box`. Balls and
norms of all the weights at once have no lazy form: `adagrad_eager`.
"""

from __future__ import annotations

from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.kernels.simd import fetch_ahead
from ouzel.layout import float32, float64, made_from, require
from ouzel.learners.dithered_sums import dither_of, dithered_sum
from ouzel.learners.gains.growth import growing, penalised_examples
from ouzel.learners.limits import LARGEST_SQUARE
from ouzel.learners.loops import learning_in, predicting_margins
from ouzel.learners.shared_settings import Damping, Loss, Penalty, Rate
from ouzel.learners.states import negating_first
from ouzel.terms.losses import Logistic, derivative
from ouzel.terms.penalties.l1_and_l2 import (
    NoPenalty,
    applies,
    apply_penalty,
    penalty_increment,
    proximal,
    require_separable,
)

LARGEST, ZERO, ONE = np.float32(LARGEST_SQUARE), np.float32(0.0), np.float32(1.0)
CACHED = 1 << 19  # slots that fit a cache of the processor's own
LONGEST_LAG = 2.0**24  # rounds; float32 counts no further


class State(NamedTuple):
    # What a slot needs lies side by side, one cache miss a non-zero. Without a penalty the last two are left out.
    table: np.ndarray  # (d, 4 or 2) float32  w, s^2, round up to which the penalty is paid, its dose a round
    seen: np.ndarray  # (2,) float64  t, and the rounds since all slots were last paid up


class Settings(NamedTuple):
    loss: Loss = Logistic()
    penalty: Penalty = NoPenalty()
    learning_rate: Rate = 0.25
    damping: Damping = 1e-6


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    require_separable(settings.penalty, "adagrad")
    columns = 4 if applies(settings.penalty) else 2
    return State(table=float32(dimension, columns, least=(-inf, 0.0, 0.0, 0.0)[:columns]), seen=float64(2, least=0.0))


init, grow = made_from(layout)


def check(state: State, settings: Settings) -> None:
    """Refuse a slot that has paid its penalty for rounds to come."""
    require((state.table[:, 2:3] <= state.seen[1]).all(), "table has rounds that are not over")


@force_inline
def current_weight(state, slot, now, settings):
    """The weight of a slot, its debt to the penalty paid up to round `now` (float32)."""
    weight = state.table[slot, 0]
    if applies(settings.penalty):
        weight = np.float32(
            apply_penalty(settings.penalty, weight, (now - state.table[slot, 2]) * state.table[slot, 3])
        )
    return weight


@force_inline
def catch_up(state, settings):
    """Bring every slot up to date and count rounds from here on."""
    now = np.float32(state.seen[1])
    for slot in range(len(state.table)):
        state.table[slot, 0] = current_weight(state, slot, now, settings)
        state.table[slot, 2] = 0.0
    state.seen[1] = 0.0


@force_inline
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    now = np.float32(state.seen[1])
    margin = 0.0
    for k in range(len(indices)):
        margin += values[k] * current_weight(state, indices[k], now, settings)
    return margin if isfinite(margin) else _wide_margin(state, indices, values, now, settings)


@force_inline
def _wide_margin(state, indices, values, now, settings):
    """The margin where products overflow single precision."""
    margin = 0.0
    for k in range(len(indices)):
        margin += np.float64(values[k]) * current_weight(state, indices[k], now, settings)
    return margin


@force_inline
def _learn(state, indices, values, target, importance, settings, work):
    """Learn one example; `work` (4, n or more) float32 takes its weights, squares before and after, and doses.

    These are gathered, worked on and put back, so that roots and quotients are taken several at a time.
    """
    if importance == 0.0:
        return predict_row(state, indices, values, settings)
    if applies(settings.penalty) and state.seen[1] >= LONGEST_LAG:
        catch_up(state, settings)
    now, after = np.float32(state.seen[1]), np.float32(state.seen[1] + 1.0)
    margin = 0.0
    for k in range(len(indices)):
        weight = current_weight(state, indices[k], now, settings)
        margin += values[k] * weight
        work[0, k] = weight
        work[1, k] = state.table[indices[k], 1]
    if not isfinite(margin):
        margin = _wide_margin(state, indices, values, now, settings)
    slope = np.float32(importance * derivative(settings.loss, margin, target))
    if slope != 0.0 and isfinite(slope):
        rate = np.float32(settings.learning_rate)
        damping = np.float32(settings.damping)
        dither = dither_of(state.seen[0])
        for k in range(len(indices)):
            weight, before = work[0, k], work[1, k]
            gradient = slope * values[k]
            squared = dithered_sum(before, before + gradient * gradient, slope * gradient * values[k], dither)
            scale = damping + np.sqrt(squared)
            sound = squared <= LARGEST and scale > 0.0  # 0/0 is 0
            step = (rate if sound else ZERO) / (scale if sound else ONE)
            weight -= step * (gradient if sound else ZERO)
            work[2, k] = squared if sound else before
            if applies(settings.penalty):
                work[3, k] = np.float32(penalty_increment(settings.penalty, step))
                weight = np.float32(proximal(settings.penalty, weight, step))
            work[0, k] = weight
        for k in range(len(indices)):
            slot = indices[k]
            state.table[slot, 0] = work[0, k]
            state.table[slot, 1] = work[2, k]
            if applies(settings.penalty):
                state.table[slot, 2] = after
                state.table[slot, 3] = work[3, k]
    state.seen[0] += 1.0
    state.seen[1] += 1.0
    return margin


@kernel
def make_room(state, nonzeros):
    """Room to work in for examples of up to so many non-zeros."""
    return np.empty((4, nonzeros), np.float32)


@force_inline
def _look_ahead(state, indices):
    """Have memory send what the next example needs, of a table that no near cache holds."""
    if len(state.table) > CACHED:
        fetch_ahead(state.table, indices)


learn_row, learn_rows = learning_in(make_room, _learn, _look_ahead)


predict_rows = predicting_margins(predict_row)


@kernel
def _current_weights(state, settings, out):
    now = np.float32(state.seen[1])
    for slot in range(len(out)):
        out[slot] = current_weight(state, slot, now, settings)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot, the penalty applied to all."""
    out = np.empty(len(state.table), np.float32)
    _current_weights(state, settings, out)
    return out


swap_classes = negating_first("table")


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay the sums of squares; what weights owe to the penalty is paid first."""
    if applies(settings.penalty):
        state.table[:, 0], state.table[:, 2], state.seen[1] = weights(state, settings), 0.0, 0.0
    state.table[:, 1] *= np.float32(kept)
    if applies(settings.penalty):
        learnt = np.flatnonzero(state.table[:, 1])
        state.table[learnt, 3] = _doses(state.table[learnt, 1], settings)


def _doses(squares: np.ndarray, settings: Settings) -> list[float]:
    """What a round costs the weight of each slot."""
    with np.errstate(divide="ignore"):
        steps = np.float32(settings.learning_rate) / (np.float32(settings.damping) + np.sqrt(squares))
    return [penalty_increment(settings.penalty, step) if np.isfinite(step) else 0.0 for step in steps.tolist()]


def _rebuilt(
    base: State, weight: np.ndarray, squares: np.ndarray, gained: np.ndarray, totals: Any, settings: Settings
) -> State:
    """Weights owe the penalty of the examples that they do not count as penalised for."""
    merged = init(len(weight), settings)
    merged.table[:, 0], merged.table[:, 1] = weight, squares
    rounds = totals["seen"][0] - base.seen[0]
    merged.seen[:] = totals["seen"][0], rounds
    if applies(settings.penalty):
        merged.table[:, 2] = np.minimum(penalised_examples(gained), rounds)
        merged.table[:, 3] = _doses(merged.table[:, 1], settings)
        if rounds >= LONGEST_LAG:
            merged.table[:, 0], merged.table[:, 2], merged.seen[1] = weights(merged, settings), 0.0, 0.0
    return merged


gains, onto = growing(weights, lambda state: state.table[:, 1], _rebuilt)
