"""AdaGrad with a diagonal metric and regularised dual averaging.

Duchi, Hazan & Singer (2011), "Adaptive Subgradient Methods", JMLR 12, eqs (3) and (24), Figure 1. With G_j the sum of
gradients of coordinate j, s_j the root of the sum of their squares, r the penalty and t examples seen,
    w_j = prox(r, -rate_j G_j, rate_j t),    rate_j = learning_rate / (damping + s_j).
No weights are stored: they follow from the sums when asked for, so an example costs its non-zeros alone, and states
of workers merge by addition.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import float64, made_from
from ouzel.learners.gains.duals import averaging_duals
from ouzel.learners.gains.narrowing import slot_by_slot
from ouzel.learners.gains.sums import summed_at_first
from ouzel.learners.gradient.adagrad import Settings
from ouzel.learners.gradient.derived_weights import descending_lazily
from ouzel.learners.limits import has_square
from ouzel.learners.states import negating_first
from ouzel.terms.penalties.l1_and_l2 import proximal, require_separable


class State(NamedTuple):
    table: np.ndarray  # (d, 2) float64  G and s^2 of each slot; sums of so many terms need the digits
    seen: np.ndarray  # (1,) float64  t


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    require_separable(settings.penalty, "adagrad-rda")
    return State(table=float64(dimension, 2, least=(-inf, 0.0)), seen=float64(1, least=0.0))


init, grow = made_from(layout)


@force_inline
def weight_of(state, slot, settings):
    """The weight of a slot, from the sums."""
    total = state.table[slot, 0]
    if total == 0.0:
        return 0.0
    rate = settings.learning_rate / (settings.damping + np.sqrt(state.table[slot, 1]))
    return proximal(settings.penalty, -rate * total, rate * state.seen[0])


@force_inline
def step(state, indices, values, slope, settings):
    """Learn one example, whose gradient is `slope` times its features."""
    if slope != 0.0:
        for k in range(len(indices)):
            gradient = slope * values[k]
            if has_square(gradient):
                state.table[indices[k], 0] += gradient
                state.table[indices[k], 1] += gradient * gradient
    state.seen[0] += 1.0


predict_row, predict_rows, learn_row, learn_rows, weights = descending_lazily(weight_of, step)
swap_classes = negating_first("table")


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay the sums of squares, and sums of gradients and penalties by its root, so that weights stay."""
    state.table[...] *= sqrt(kept), kept
    state.seen[...] *= sqrt(kept)


def _rates(squares: np.ndarray, seen: float, settings: Settings) -> np.ndarray:
    roots = settings.damping + np.sqrt(squares)
    return np.divide(settings.learning_rate, roots, out=np.zeros(len(roots)), where=roots > 0.0)


def _rebuilt(
    base: State, weight: Any, total: np.ndarray, squares: np.ndarray, totals: Any, settings: Settings
) -> State:
    return State(np.column_stack([total, squares]), totals["seen"])


_AVERAGED = slot_by_slot("table").both(
    *averaging_duals(weights, lambda state: state.table[:, 0], lambda state: state.table[:, 1], _rates, _rebuilt)
)
gains, onto = summed_at_first(_AVERAGED, ("table",))
