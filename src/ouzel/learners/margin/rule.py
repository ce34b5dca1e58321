"""Learners that part the true class y from the best wrong one r by a step along the example:

    w_y <- w_y + tau x,    w_r <- w_r - tau x.

They differ in tau alone: `step(settings, case)`, chosen by the class of the settings. With two classes the rows are
halves of one weight vector, w_1 - w_0, which moves by 2 tau: half the binary rule's step makes the binary rule.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import dispatch, force_inline
from ouzel.kernels.vectors import square_norm
from ouzel.layout import float32, float64, made_from
from ouzel.learners.gains.averaging import averaging
from ouzel.learners.limits import is_sound
from ouzel.learners.loops import learning_scores
from ouzel.learners.scores import (
    learning_pairs,
    pairwise_update,
    predict_by_table,
    score_row,
    weights_in_table,
)

MULTICLASS = True


class State(NamedTuple):
    table: np.ndarray  # (d, classes) float32  w of each slot and class
    seen: np.ndarray  # (1,) float64  t
    updates: np.ndarray  # (1,) float64


class MarginStats(NamedTuple):
    """What a rule may look at."""

    margin: float  # s_y - s_r before learning
    square: float  # x'x
    importance: float
    seen: float  # t, this example counted
    classes: int


@dispatch
def step(settings: Any, case: MarginStats) -> float:
    """How far to move, tau; 0 where the rule leaves the weights alone."""


def layout(features: int, classes: int, settings: Any) -> State:
    """What a state with room for so many slots and classes is made of."""
    return State(table=float32(features, classes), seen=float64(1, least=0.0), updates=float64(1, least=0.0))


init, grow = made_from(layout)


@force_inline
def predict_row(state, indices, values, settings, scores):
    """Write the scores (classes,) of one example."""
    score_row(state.table, indices, values, scores)


@force_inline
def learn_pair(state, indices, values, scores, target, wrong, importance, settings):
    """Learn one example of a true class and the best wrong one."""
    square = square_norm(values)
    margin = scores[target] - scores[wrong]
    tau = step(settings, MarginStats(margin, square, importance, state.seen[0], len(scores)))
    if is_sound(tau, square):
        state.updates[0] += 1.0
        pairwise_update(state.table, indices, values, target, wrong, tau)


learn_row = learning_pairs(predict_row, learn_pair)
learn_rows = learning_scores(learn_row)
predict_rows, weights = predict_by_table, weights_in_table


def _rebuilt(base: State, weight: np.ndarray, totals: Any, settings: Any) -> State:
    return State(weight.astype(np.float32), **totals)


gains, onto = averaging(weights, _rebuilt, ("seen", "updates"))
