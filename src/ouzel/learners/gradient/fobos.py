"""Forward-backward splitting with one step size for all features: what AdaGrad is compared with.

Duchi & Singer (2009), "Efficient Online and Batch Learning Using Forward Backward Splitting", JMLR 10; eq. (4) of
Duchi, Hazan & Singer (2011) with psi_t = sqrt(t) |x|^2 / 2. On example t, with r the penalty, for every j,
    w_j <- prox(r, w_j - rate g_j, rate),    rate = learning_rate / sqrt(t).
All weights owe the penalty the same on the same rounds, so one clock of doses serves them all: a weight keeps the time
up to which it has paid, and pays the difference when it is next needed, exactly.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import float64, made_from, require
from ouzel.learners.gains.averaging import averaging
from ouzel.learners.gradient.derived_weights import descending_lazily
from ouzel.learners.gradient.rda import Settings
from ouzel.learners.limits import reach_of
from ouzel.learners.states import negating_first
from ouzel.terms.penalties import l1_and_l2
from ouzel.terms.penalties.l1_and_l2 import proximal, require_separable


class State(NamedTuple):
    table: np.ndarray  # (d, 2) float64  w, and the clock up to which it has paid (sums of doses need the digits)
    clock: np.ndarray  # (2,) float64  t, and the sum of the doses of t rounds


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    require_separable(settings.penalty, "fobos")
    return State(table=float64(dimension, 2, least=(-inf, 0.0)), clock=float64(2, least=0.0))


init, grow = made_from(layout)


def check(state: State, settings: Settings) -> None:
    """Refuse a slot that has paid its penalty beyond the clock."""
    require((state.table[:, 1] <= state.clock[1]).all(), "table is ahead of the clock")


@force_inline
def current_weight(state, slot, settings):
    """The weight of a slot, its debt to the penalty paid."""
    return l1_and_l2.apply_penalty(settings.penalty, state.table[slot, 0], state.clock[1] - state.table[slot, 1])


@force_inline
def step(state, indices, values, slope, settings):
    """Learn one example, whose gradient is `slope` times its features."""
    rate = settings.learning_rate / sqrt(state.clock[0] + 1.0)
    after = state.clock[1] + l1_and_l2.penalty_increment(settings.penalty, rate)
    if slope != 0.0:
        reach = reach_of(rate * slope)
        for k in range(len(indices)):
            slot = indices[k]
            if abs(values[k]) < reach:
                weight = current_weight(state, slot, settings) - rate * slope * values[k]
                if l1_and_l2.applies(settings.penalty):
                    weight = proximal(settings.penalty, weight, rate)
                    state.table[slot, 1] = after
                state.table[slot, 0] = weight
    state.clock[0] += 1.0
    state.clock[1] = after


predict_row, predict_rows, learn_row, learn_rows, weights = descending_lazily(current_weight, step)
swap_classes = negating_first("table")


def fade(state: State, kept: float, settings: Settings) -> None:
    """Have examples until now count for a part of what they did in the size of steps."""
    state.clock[0] *= kept


def _rebuilt(base: State, weight: np.ndarray, totals: dict[str, np.ndarray], settings: Settings) -> State:
    clock = totals["clock"]
    return State(np.column_stack([weight, np.full(len(weight), clock[1])]), clock)


gains, onto = averaging(weights, _rebuilt, ("clock",))
