"""ROMMA, the relaxed online maximum margin algorithm, and its aggressive form.

Li & Long (2002), "The Relaxed Online Maximum Margin Algorithm", Machine Learning 46, section 3. With z the pair's
feature vector (x for the true class, -x for the best wrong one), n = 2 x'x, N = ||W||^2 and m = W.z, on a mistake
(m <= 0; aggressive: m < 1)
    W <- c W + d z,    c = (n N - m) / (n N - m^2),    d = N (1 - m) / (n N - m^2);    the first time W <- z / n.
These are the shortest weights with the margin 1 in the half space W has come from. Multiplying by c is a scale for all
weights. With two classes it is the binary rule for w_1 - w_0. Importance weights have no meaning in the rule but 0,
which leaves an example out.

N is that of the weights as they are kept: the recurrence c^2 N + 2 c d m + d^2 n multiplies an error of N by
n N / (n N - m^2) each time, and after some hundred mistakes is far from any norm. So squares are added for what an
example changes, and summed afresh when the scale is multiplied into every weight, before cancellation can cost more
than a few digits. On classes that no plane parts, N grows without end and the 1 beside it is soon nothing: then only
the direction of W matters, and its length is kept to LONGEST.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.kernels.vectors import square_norm
from ouzel.layout import float32, float64, made_from
from ouzel.learners.gains.averaging import averaging
from ouzel.learners.limits import LIMIT, is_sound
from ouzel.learners.loops import learning_by_pairs
from ouzel.learners.scores import predict_scaled_row, scaled_weights
from ouzel.ranges import SWITCH

MULTICLASS = True
LONGEST = 1e10
SMALLEST_SCALE = 1e-3  # below it, or above its inverse, the scale is multiplied into the weights
FORGOTTEN = 1e-12  # below it the weights are gone but for z, and the scale is not to be divided by
PARALLEL = 1e-12  # where W and z are parallel but for rounding, the half spaces are the same


class State(NamedTuple):
    table: np.ndarray  # (d, classes) float32  W over the scale
    scale: np.ndarray  # (1,) float64
    square: np.ndarray  # (1,) float64  N = ||W||^2, of the table times the scale
    seen: np.ndarray  # (1,) float64
    updates: np.ndarray  # (1,) float64


class Settings(NamedTuple):
    aggressive: Annotated[bool, SWITCH, "learn from margins below 1, not from mistakes alone"] = False


def layout(features: int, classes: int, settings: Settings) -> State:
    """What a state with room for so many slots and classes is made of."""
    return State(
        table=float32(features, classes),
        scale=float64(1, fill=1.0, least=SMALLEST_SCALE, most=1.0 / SMALLEST_SCALE),
        square=float64(1, least=0.0),
        seen=float64(1, least=0.0),
        updates=float64(1, least=0.0),
    )


init, grow = made_from(layout)
predict_row = predict_scaled_row


@force_inline
def learn_pair(state, indices, values, scores, target, wrong, importance, settings):
    """Learn one example of a true class and the best wrong one."""
    margin = scores[target] - scores[wrong]
    norm = 2.0 * square_norm(values)
    mistaken = margin < 1.0 if settings.aggressive else not margin > 0.0
    if not (mistaken and isfinite(margin) and 1.0 / LIMIT < norm < LIMIT):
        return
    total = state.square[0]
    keep, step = 1.0, 1.0 / norm
    if total > 0.0:
        below = norm * total - margin * margin
        if below <= PARALLEL * norm * total:
            return
        keep, step = (norm * total - margin) / below, total * (1.0 - margin) / below
    if not is_sound(step, norm):
        return
    state.updates[0] += 1.0
    state.scale[0] *= keep
    if abs(state.scale[0]) < FORGOTTEN:
        _fold(state)
    added = _add(state.table, indices, values, target, wrong, step / state.scale[0])
    state.square[0] = max(keep * keep * total + state.scale[0] ** 2 * added, 0.0)
    if state.square[0] > LONGEST**2:
        state.scale[0] *= LONGEST / sqrt(state.square[0])
        state.square[0] = LONGEST**2
    if not SMALLEST_SCALE < state.scale[0] < 1.0 / SMALLEST_SCALE:
        _fold(state)


@force_inline
def _add(table, indices, values, target, wrong, step):
    """Move w_target by step x and w_wrong by -step x; return by how much the table's sum of squares grows."""
    added = 0.0
    for k in range(len(indices)):
        row, change = table[indices[k]], np.float32(step * values[k])
        before = np.float64(row[target]) ** 2 + np.float64(row[wrong]) ** 2
        row[target] += change
        row[wrong] -= change
        added += np.float64(row[target]) ** 2 + np.float64(row[wrong]) ** 2 - before
    return added


@kernel
def _fold(state):
    """Multiply the scale into the table, and sum up afresh."""
    state.square[0] = 0.0
    for slot in range(state.table.shape[0]):
        for c in range(state.table.shape[1]):
            state.table[slot, c] *= state.scale[0]
            state.square[0] += np.float64(state.table[slot, c]) ** 2
    state.scale[0] = 1.0


learn_row, learn_rows, predict_rows = learning_by_pairs(predict_row, learn_pair)
weights = scaled_weights


def _rebuilt(base: State, weight: np.ndarray, totals: Any, settings: Settings) -> State:
    table = weight.astype(np.float32)
    return State(table, np.ones(1), np.array([float((table.astype(np.float64) ** 2).sum())]), **totals)


gains, onto = averaging(weights, _rebuilt, ("seen", "updates"))
