"""Regularised dual averaging with one step size for all features: what AdaGrad is compared with.

Xiao (2010), "Dual Averaging Methods for Regularized Stochastic Learning and Online Optimization", JMLR 11; eq. (3) of
Duchi, Hazan & Singer (2011) with psi_t = sqrt(t) |x|^2 / 2. With G the sum of gradients, r the penalty, t the examples
seen,
    w_j = prox(r, -rate G_j, rate t),    rate = learning_rate / sqrt(t).
As in `adagrad_rda` no weights are stored, an example costs its non-zeros alone, and states of workers add up.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import float64, made_from, require
from ouzel.learners.gains.duals import averaging_duals
from ouzel.learners.gains.narrowing import slot_by_slot
from ouzel.learners.gains.sums import summed_at_first
from ouzel.learners.gradient.derived_weights import descending_lazily
from ouzel.learners.limits import reach_of
from ouzel.learners.shared_settings import Loss, Penalty, Rate
from ouzel.learners.states import negating
from ouzel.terms.losses import Logistic
from ouzel.terms.penalties.l1_and_l2 import NoPenalty, proximal, require_separable


class State(NamedTuple):
    gradient_sum: np.ndarray  # (d,) float64  G
    seen: np.ndarray  # (1,) float64  t


class Settings(NamedTuple):
    loss: Loss = Logistic()
    penalty: Penalty = NoPenalty()
    learning_rate: Rate = 0.5


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    require_separable(settings.penalty, "rda")
    return State(gradient_sum=float64(dimension), seen=float64(1, least=0.0))


init, grow = made_from(layout)


def check(state: State, settings: Settings) -> None:
    """Refuse sums of gradients before the first round."""
    require(state.seen[0] > 0.0 or not state.gradient_sum.any(), "gradient_sum has rounds that are not over")


@force_inline
def weight_of(state, slot, settings):
    """The weight of a slot."""
    total, seen = state.gradient_sum[slot], state.seen[0]
    if total == 0.0:
        return 0.0
    rate = settings.learning_rate / sqrt(seen)
    return proximal(settings.penalty, -rate * total, rate * seen)


@force_inline
def step(state, indices, values, slope, settings):
    """Learn one example, whose gradient is `slope` times its features."""
    if slope != 0.0:
        reach = reach_of(slope)
        for k in range(len(indices)):
            if abs(values[k]) < reach:
                state.gradient_sum[indices[k]] += slope * values[k]
    state.seen[0] += 1.0


predict_row, predict_rows, learn_row, learn_rows, weights = descending_lazily(weight_of, step)
swap_classes = negating("gradient_sum")


def _rates(squares: np.ndarray, seen: float, settings: Settings) -> np.ndarray:
    return np.full(len(squares), settings.learning_rate / sqrt(seen) if seen > 0.0 else 0.0)


def _rebuilt(base: State, weight: Any, total: np.ndarray, squares: Any, totals: Any, settings: Settings) -> State:
    return State(total, totals["seen"])


_AVERAGED = slot_by_slot("gradient_sum").both(
    *averaging_duals(weights, lambda state: state.gradient_sum, None, _rates, _rebuilt)
)
gains, onto = summed_at_first(_AVERAGED, ("gradient_sum",))
