"""The online Newton step by element-wise multiplication.

Sharma, "Modified online Newton step based on element wise multiplication", Algorithm 1. The printed formulas (4) to (7)
do not fit together; this is the sound reading that comes nearest to the published tables (docs/multiclass.md). With
scores s = W x, when s_y - s_r < 1 the true class y (sign +1) and the best wrong one r (sign -1) are updated, each with
    f = 1 / (1 + exp(-sign s_k)),    b = -sign f (1 - f) x + lambda w_k    (5),
    A = f (1 - f) + lambda > 0    (6, with ones in the place of x^2),    w_k <- w_k - b / (2 sqrt(t) A)    (7).
The decay lambda w_k reaches every weight of the class by one factor, 1 - lambda / (2 sqrt(t) A), whether or not the
example has the feature: it is kept as a scale of the class, and a round costs the example's non-zeros alone.
An importance weight multiplies the step. Other readings of (4) to (7) are settings: which margin is wanted, of which
classes, the loss's own slope in b, x^2 in A (absent features then decay by 1 - 1 / (2 sqrt(t))).
"""

from __future__ import annotations

from math import exp, sqrt
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.kernels.vectors import square_norm
from ouzel.layout import float32, float64, made_from
from ouzel.learners.gains.averaging import averaging
from ouzel.learners.limits import bounded, is_sound
from ouzel.learners.loops import learning_by_pairs
from ouzel.learners.scores import predict_scaled_row, scaled_weights
from ouzel.learners.shared_settings import PRICE, Rate
from ouzel.ranges import STRENGTH, SWITCH, Choice

MULTICLASS = True
PAIR, ALL, EACH = range(3)
SMALLEST_SCALE = 1e-6  # below it, a scale is multiplied into its class's weights


class State(NamedTuple):
    table: np.ndarray  # (d, classes) float32  w over the scale of its class
    scale: np.ndarray  # (classes,) float64
    seen: np.ndarray  # (1,) float64  t
    updates: np.ndarray  # (1,) float64


class Settings(NamedTuple):
    regularization: Annotated[float, PRICE, "lambda"] = 0.001
    learning_rate: Annotated[Rate, "the step is this over sqrt(t)"] = 0.5
    least_margin: Annotated[float, STRENGTH, "margin below which to update; 0 for mistakes alone"] = 1.0
    updated: Annotated[float, Choice(("pair", "all", "each")), "classes: all, or each by its own hinge"] = 0.0
    true_slope: Annotated[bool, SWITCH, "1 - f for f (1 - f) in b: the logistic loss's own derivative"] = False
    squares: Annotated[bool, SWITCH, "x^2 f (1 - f) for f (1 - f) in A"] = False


def layout(features: int, classes: int, settings: Settings) -> State:
    """What a state with room for so many slots and classes is made of."""
    return State(
        table=float32(features, classes),
        scale=float64(classes, fill=1.0, least=SMALLEST_SCALE, most=1.0),
        seen=float64(1, least=0.0),
        updates=float64(1, least=0.0),
    )


init, grow = made_from(layout)


@force_inline
def learn_pair(state, indices, values, scores, target, wrong, importance, settings):
    """Learn one example of a true class and the best wrong one."""
    step = importance * settings.learning_rate / sqrt(state.seen[0])
    if not is_sound(step / SMALLEST_SCALE, square_norm(values)):
        return
    margin = scores[target] - scores[wrong]
    due = margin < settings.least_margin or not margin > 0.0
    if settings.updated == EACH:
        due = scores[target] < 1.0 or -scores[wrong] < 1.0
    if due:
        state.updates[0] += 1.0
        for c in range(len(scores)):
            sign = 1.0 if c == target else -1.0
            chosen = sign * scores[c] < 1.0 if settings.updated == EACH else settings.updated == ALL
            if chosen or (settings.updated == PAIR and (sign > 0.0 or c == wrong)):
                _newton(state, indices, values, c, sign, scores[c], step, settings)


@force_inline
def _newton(state, indices, values, c, sign, score, step, settings):
    """Update one class."""
    small = exp(-abs(score))
    bend = small / (1.0 + small) ** 2  # f (1 - f), the same for both signs
    slope = bend
    if settings.true_slope:
        slope = (small if sign * score > 0.0 else 1.0) / (1.0 + small)  # 1 - f
    before = state.scale[c]
    newton = step / ((0.0 if settings.squares else bend) + settings.regularization)  # where x is 0, with squares
    state.scale[c] *= max(1.0 - newton * settings.regularization, SMALLEST_SCALE)  # no decay beyond 0, or of sign
    after = state.scale[c]
    if state.scale[c] < SMALLEST_SCALE:
        for slot in range(state.table.shape[0]):
            state.table[slot, c] *= state.scale[c]
        state.scale[c] = 1.0
        before, after = before / after, 1.0
    if not settings.squares:
        change = sign * newton * slope / after
        for k in range(len(indices)):
            state.table[indices[k], c] += np.float32(change * values[k])
        return
    for k in range(len(indices)):
        own = step / (values[k] * values[k] * bend + settings.regularization)
        kept = before / after * max(1.0 - own * settings.regularization, 0.0)
        weight = kept * state.table[indices[k], c] + sign * own * slope * values[k] / after
        state.table[indices[k], c] = np.float32(bounded(weight))


predict_row = predict_scaled_row
learn_row, learn_rows, predict_rows = learning_by_pairs(predict_row, learn_pair)
weights = scaled_weights


def _rebuilt(base: State, weight: np.ndarray, totals: Any, settings: Settings) -> State:
    return State(weight.astype(np.float32), np.ones_like(base.scale), **totals)


gains, onto = averaging(weights, _rebuilt, ("seen", "updates"))
