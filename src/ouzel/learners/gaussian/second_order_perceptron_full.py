"""The second-order perceptron with the whole correlation matrix.

Cesa-Bianchi, Conconi & Gentile (2005), "A Second-Order Perceptron Algorithm", SIAM Journal on Computing 34, Figure 3.1;
one matrix A for all classes, a I to begin with. The example to be predicted counts in A: by Sherman and Morrison, with
S = A^-1 and q = x'Sx, on a mistake
    s_k = v_k'(A + x x')^-1 x = v_k'S x / (1 + q),    v_y <- v_y + x,    v_r <- v_r - x,    S <- S - S x x'S / (1 + q).
A prediction costs classes times slots met. An importance weight multiplies the step of v.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import kernel
from ouzel.kernels.vectors import square_norm
from ouzel.layout import float32, float64, int64, made_from
from ouzel.learners.fading import faded_covariance
from ouzel.learners.gains.growth import grown, mean_move
from ouzel.learners.gains.parts import Gains, Peak, dense, rows_of
from ouzel.learners.gains.sums import added, with_sums
from ouzel.learners.gaussian.second_order_perceptron import Settings
from ouzel.learners.gaussian.states import extent_in
from ouzel.learners.limits import is_sound
from ouzel.learners.loops import learning_scores, predicting_scores
from ouzel.learners.scores import learning_pairs, pairwise_update

MULTICLASS = True
MOST_SLOTS = 4097  # features and the constant


class State(NamedTuple):
    table: np.ndarray  # (d, classes) float32  v of each slot and class
    inverse: np.ndarray  # (d, d) float64  S
    extent: np.ndarray  # (1,) int64  slots from here on have not been learnt: S is I / a there
    seen: np.ndarray  # (1,) float64
    updates: np.ndarray  # (1,) float64


def layout(features: int, classes: int, settings: Settings) -> State:
    """What a state with room for so many slots and classes is made of."""
    if features > MOST_SLOTS:
        raise OuzelError(
            f"a whole matrix over the features takes up to {MOST_SLOTS - 1:,} of them; there are more; use the learner "
            "of the same name without -full, or hash names to fewer (bits=12 or less)"
        )
    return State(
        table=float32(features, classes),
        inverse=float64(features, features, diagonal=1.0 / settings.damping),
        extent=int64(1, most=features),
        seen=float64(1, least=0.0),
        updates=float64(1, least=0.0),
    )


init, grow = made_from(layout)


@kernel
def _multiply(state, indices, values):
    """S x as far as slots have been learnt (beyond, v is 0), and q."""
    extent = state.extent[0]
    product = np.zeros(extent)
    total = 0.0
    for k in range(len(indices)):
        row = state.inverse[indices[k]]
        if indices[k] < extent:
            for j in range(extent):
                product[j] += values[k] * row[j]
        else:
            total += values[k] * values[k] * row[indices[k]]
    for k in range(len(indices)):
        if indices[k] < extent:
            total += values[k] * product[indices[k]]
    return product, total


@kernel
def predict_row(state, indices, values, settings, scores):
    """Write the scores (classes,) of one example."""
    product, total = _multiply(state, indices, values)
    for c in range(len(scores)):
        scores[c] = 0.0
    for j in range(len(product)):
        row = state.table[j]
        for c in range(len(scores)):
            scores[c] += product[j] * row[c]
    for c in range(len(scores)):
        scores[c] /= 1.0 + total


@kernel
def learn_pair(state, indices, values, scores, target, wrong, importance, settings):
    """Learn one example of a true class and the best wrong one."""
    if scores[target] - scores[wrong] > 0.0 or not is_sound(importance, square_norm(values)):
        return
    state.updates[0] += 1.0
    pairwise_update(state.table, indices, values, target, wrong, importance)
    for k in range(len(indices)):
        state.extent[0] = max(state.extent[0], np.int64(indices[k]) + 1)
    product, total = _multiply(state, indices, values)
    for i in range(len(product)):
        if product[i] != 0.0:
            row = state.inverse[i]
            scaled = product[i] / (1.0 + total)
            for j in range(len(product)):
                row[j] -= scaled * product[j]


learn_row = learning_pairs(predict_row, learn_pair)
learn_rows = learning_scores(learn_row)
predict_rows = predicting_scores(predict_row)


def weights(state: State, settings: Settings) -> np.ndarray:
    """Weights (slots, classes), before the example to be predicted counts in A."""
    return (state.inverse @ state.table).astype(np.float32)


def renumber(state: State, places: np.ndarray) -> State:
    """The state in which slot k of this one is slot `places[k]`."""
    table, inverse = np.empty_like(state.table), np.empty_like(state.inverse)
    table[places], inverse[np.ix_(places, places)] = state.table, state.inverse
    return state._replace(table=table, inverse=inverse, extent=extent_in(places, state.extent))


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay what examples have added to A and to v."""
    learnt = slice(int(state.extent[0]))
    state.inverse[learnt, learnt] = faded_covariance(state.inverse[learnt, learnt], kept, 1.0 / settings.damping)
    state.table[...] *= np.float32(kept)


def _correlations(state: State, settings: Settings) -> np.ndarray:
    """What A (d, d) has above the damping."""
    met, above = slice(int(state.extent[0])), np.zeros(state.inverse.shape)
    metric = np.linalg.inv(state.inverse[met, met])
    above[met, met] = metric - settings.damping * np.eye(len(metric))
    return above


def _own_weights(state: State) -> np.ndarray:
    found: np.ndarray = state.inverse @ state.table.astype(np.float64)
    return found


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base: what it has added to A, and to v or to the weights A^-1 v.

    Of workers that have begun from nothing v adds up; where the base has learnt something, the weights are averaged.
    """
    metric = _correlations(state, settings) - _correlations(base, settings)
    found: Gains = {
        "metric": rows_of(metric),
        "extent": Peak(state.extent),
        "seen": state.seen - base.seen,
        "updates": state.updates - base.updates,
    }
    if base.seen[0] == 0.0:
        return {**found, "table": added(base, state, "table")}
    moved = _own_weights(state) - _own_weights(base)
    floor = np.where(moved.any(axis=1), 1e-9 * settings.damping, 0.0)
    growth = np.broadcast_to(np.maximum(np.diagonal(metric), floor)[:, None], moved.shape)
    return {**found, "means": grown(growth, moved, float(found["seen"][0]))}


def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The state of a base and of what workers have learnt beyond it; v = A w where the weights are averaged."""
    extent = np.maximum(base.extent, gains["extent"].values)
    met, inverse = slice(int(extent[0])), base.inverse.copy()
    metric = _correlations(base, settings) + dense(gains["metric"], len(inverse))
    metric[met, met] += settings.damping * np.eye(int(extent[0]))
    inverse[met, met] = np.linalg.inv(metric[met, met])
    if base.seen[0] == 0.0:
        table = with_sums(base, gains, "table")
    else:
        weights, table = _own_weights(base) + mean_move(dense(gains["means"], len(inverse))), base.table.copy()
        table[met] = metric[met, met] @ weights[met]
    totals = {name: getattr(base, name) + gains[name] for name in ("seen", "updates")}
    return base._replace(table=table, inverse=inverse, extent=extent, **totals)
