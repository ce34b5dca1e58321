"""ALMA_p, the approximate large margin algorithm.

Gentile (2001), "A New Approximate Maximal Margin Classification Algorithm", JMLR 2, Figure 1. With p >= 2,
1/p + 1/q = 1 and f the gradient of half the squared q-norm, the weights w of norm at most 1 are kept as theta = f(w),
whose p-norm is the q-norm of w. Let z be the pair's feature vector (x for the true class, -x for the best wrong one)
over its p-norm, and k count the updates from 1. When w.z <= (1 - alpha) B sqrt(p - 1) / sqrt(k), B = 1 / alpha,
    theta <- theta + C / sqrt((p - 1) k) z,    then w over its norm if that is above 1.
Dividing by the norm is a scale for all of theta. With two classes it is the binary rule, whose w is 2^(1/q) times the
second row. An importance weight multiplies the step.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float32, float64, made_from
from ouzel.learners.gains.averaging import averaging
from ouzel.learners.loops import learning_scores, predicting_scores
from ouzel.learners.scores import learning_pairs
from ouzel.learners.shared_settings import PRICE
from ouzel.ranges import Range

MULTICLASS = True
SMALLEST_SCALE = 1e-6  # below it, the scale is multiplied into theta


class State(NamedTuple):
    table: np.ndarray  # (d, classes) float32  theta over the scale
    scale: np.ndarray  # (1,) float64
    power_sum: np.ndarray  # (1,) float64  sum of |theta / scale|^p
    seen: np.ndarray  # (1,) float64
    updates: np.ndarray  # (1,) float64  k - 1


class Settings(NamedTuple):
    p: Annotated[float, Range(2.0, 64.0), "of the norm; large p suits few relevant features"] = 2.0
    approximation: Annotated[float, Range(1e-9, 1.0), "alpha, the share of the largest margin to reach"] = 0.9
    step: Annotated[float, PRICE, "C, the size of steps"] = sqrt(2.0)


def layout(features: int, classes: int, settings: Settings) -> State:
    """What a state with room for so many slots and classes is made of."""
    return State(
        table=float32(features, classes),
        scale=float64(1, fill=1.0, least=SMALLEST_SCALE, most=1.0),
        power_sum=float64(1),
        seen=float64(1, least=0.0),
        updates=float64(1, least=0.0),
    )


init, grow = made_from(layout)


@force_inline
def _primal(theta, p):
    """A weight but for the factor that all weights share: sign(theta) |theta|^(p - 1)."""
    return theta if p == 2.0 else np.sign(theta) * abs(theta) ** (p - 1.0)


@force_inline
def _power(x, p):
    """|x|^p"""
    return x * x if p == 2.0 else abs(x) ** p


@force_inline
def predict_row(state, indices, values, settings, scores):
    """Write the scores (classes,) of one example."""
    scores[:] = 0.0
    for k in range(len(indices)):
        row = state.table[indices[k]]
        for c in range(len(scores)):
            scores[c] += np.float64(values[k]) * _primal(row[c], settings.p)
    factor = state.scale[0]
    if settings.p != 2.0 and state.power_sum[0] > 0.0:
        factor *= state.power_sum[0] ** (2.0 / settings.p - 1.0)
    for c in range(len(scores)):
        scores[c] *= factor


@force_inline
def learn_pair(state, indices, values, scores, target, wrong, importance, settings):
    """Learn one example of a true class and the best wrong one."""
    p = settings.p
    total = 0.0
    for k in range(len(values)):
        total += _power(values[k], p)
    norm = (2.0 * total) ** (1.0 / p)
    margin = (scores[target] - scores[wrong]) / norm
    slack = (1.0 / settings.approximation - 1.0) * sqrt((p - 1.0) / (state.updates[0] + 1.0)) - margin
    if not (slack >= 0.0 and isfinite(slack) and 0.0 < norm < 1e30 and importance > 0.0):
        return
    state.updates[0] += 1.0
    step = importance * settings.step / sqrt((p - 1.0) * state.updates[0]) / norm / state.scale[0]
    for k in range(len(indices)):
        row = state.table[indices[k]]
        before = _power(row[target], p) + _power(row[wrong], p)
        change = np.float32(step * values[k])
        row[target] += change
        row[wrong] -= change
        state.power_sum[0] += _power(row[target], p) + _power(row[wrong], p) - before
    length = state.scale[0] * max(state.power_sum[0], 0.0) ** (1.0 / p)
    if length > 1.0:
        state.scale[0] /= length
    if state.scale[0] < SMALLEST_SCALE:
        _fold(state, p)


@kernel
def _fold(state, p):
    """Multiply the scale into theta, and sum up afresh."""
    state.power_sum[0] = 0.0
    for slot in range(state.table.shape[0]):
        for c in range(state.table.shape[1]):
            state.table[slot, c] *= state.scale[0]
            state.power_sum[0] += _power(state.table[slot, c], p)
    state.scale[0] = 1.0


learn_row = learning_pairs(predict_row, learn_pair)
learn_rows = learning_scores(learn_row)
predict_rows = predicting_scores(predict_row)


def weights(state: State, settings: Settings) -> np.ndarray:
    """Weights (slots, classes)."""
    theta = state.table * state.scale
    length = float((np.abs(theta) ** settings.p).sum()) ** (1.0 / settings.p)
    primal = np.sign(theta) * np.abs(theta) ** (settings.p - 1.0)
    return (primal * length ** (2.0 - settings.p) if length > 0.0 else primal).astype(np.float32)


def _rebuilt(base: State, theta: np.ndarray, totals: Any, settings: Settings) -> State:
    power_sum = np.array([float((np.abs(theta) ** settings.p).sum())])
    return State(theta.astype(np.float32), np.ones(1), power_sum, **totals)


gains, onto = averaging(lambda state, settings: state.table * state.scale, _rebuilt, ("seen", "updates"))
