"""The second-order perceptron.

Cesa-Bianchi, Conconi & Gentile (2005), "A Second-Order Perceptron Algorithm", SIAM Journal on Computing 34, Figure 3.1;
one correlation matrix A for all classes, a I to begin with, diagonal here (`second_order_perceptron_full` keeps it
whole). The example to be predicted counts in A; on a mistake
    s_k = sum_j v_jk x_j / (A_j + x_j^2),    v_y <- v_y + x,    v_r <- v_r - x,    A_j <- A_j + x_j^2.
An importance weight multiplies the step of v.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.kernels.vectors import square_norm
from ouzel.layout import float32, float64, made_from
from ouzel.learners.dithered_sums import dither_of, dithered_sum
from ouzel.learners.gains.growth import growing
from ouzel.learners.gains.sums import summed_at_first
from ouzel.learners.limits import is_sound
from ouzel.learners.loops import learning_scores, predicting_scores
from ouzel.learners.scores import learning_pairs, pairwise_update
from ouzel.learners.shared_settings import PRICE

MULTICLASS = True


class State(NamedTuple):
    table: np.ndarray  # (d, classes) float32  v of each slot and class
    energy: np.ndarray  # (d,) float32  A
    seen: np.ndarray  # (1,) float64
    updates: np.ndarray  # (1,) float64


class Settings(NamedTuple):
    damping: Annotated[float, PRICE, "a, the diagonal of the correlation matrix to begin with"] = 1.0


def layout(features: int, classes: int, settings: Settings) -> State:
    """What a state with room for so many slots and classes is made of."""
    return State(
        table=float32(features, classes),
        energy=float32(features, fill=settings.damping, least=0.0),
        seen=float64(1, least=0.0),
        updates=float64(1, least=0.0),
    )


init, grow = made_from(layout)


@force_inline
def predict_row(state, indices, values, settings, scores):
    """Write the scores (classes,) of one example."""
    scores[:] = 0.0
    for k in range(len(indices)):
        row = state.table[indices[k]]
        energy = state.energy[indices[k]] + values[k] * values[k]
        x = values[k] / energy if energy > 0.0 else 0.0
        for c in range(len(scores)):
            scores[c] += x * row[c]


@force_inline
def learn_pair(state, indices, values, scores, target, wrong, importance, settings):
    """Learn one example of a true class and the best wrong one."""
    if not scores[target] - scores[wrong] > 0.0 and is_sound(importance, square_norm(values)):
        state.updates[0] += 1.0
        pairwise_update(state.table, indices, values, target, wrong, importance)
        dither = dither_of(state.seen[0])
        for k in range(len(indices)):
            energy = state.energy[indices[k]]
            more = energy + values[k] * values[k]
            state.energy[indices[k]] = dithered_sum(energy, more, np.float64(values[k]) * values[k], dither)


learn_row = learning_pairs(predict_row, learn_pair)
learn_rows = learning_scores(learn_row)
predict_rows = predicting_scores(predict_row)


def weights(state: State, settings: Settings) -> np.ndarray:
    """Weights (slots, classes), before the example to be predicted counts in A."""
    return (state.table / np.maximum(state.energy.astype(np.float64), 1e-30)[:, None]).astype(np.float32)


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay what examples have added to A and to v."""
    prior = np.float32(settings.damping)
    state.energy[...] = prior + np.float32(kept) * (state.energy - prior)
    state.table[...] *= np.float32(kept)


def _own_weights(state: State, settings: Settings) -> np.ndarray:
    found: np.ndarray = state.table / np.maximum(state.energy.astype(np.float64), 1e-30)[:, None]
    return found


def _rebuilt(base: State, weight: np.ndarray, energy: np.ndarray, gained: np.ndarray, totals: Any, settings: Settings):
    """v = A w, of the merged ones: sums of v overshoot where many workers have met the same features."""
    return State((weight * energy).astype(np.float32), energy[:, 0].astype(np.float32), **totals)


_AVERAGED = growing(
    _own_weights, lambda state: np.broadcast_to(state.energy[:, None], state.table.shape), _rebuilt, ("seen", "updates")
)
gains, onto = summed_at_first(_AVERAGED, ("table", "energy"), ("seen", "updates"))
