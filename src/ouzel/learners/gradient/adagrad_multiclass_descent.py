"""AdaGrad with a weight row a class, by mirror descent: what `adagrad_multiclass` is with `dual_averaging` off.

Duchi, Hazan & Singer (2011), "Adaptive Subgradient Methods", JMLR 12, eq. (4) and section 5.5. For the row of feature j
in the feature-by-class matrix, g_j its gradient and s_j the roots of the sums of their squares,
    h_j = damping + s_j,    w_j <- argmin <rate g_j - h_j w_j, x> + rate r(x) + <x, diag(h_j) x> / 2
in every round, whether the example has the feature or not. The rounds without it are made up for when it is next met,
one by one, as many of the l2 norm in an uneven metric have no closed form; a row that has come to zero, or that a round
leaves where it is, is done. So an example costs the rounds that its features have missed; all rows in every round
would cost no less. With `adaptive` 0, h = sqrt(t): this is forward-backward splitting (`fobos`).
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.layout import float64, made_from, require
from ouzel.learners.gains.growth import growing, penalised_examples
from ouzel.learners.gradient.adagrad_multiclass import Settings
from ouzel.learners.limits import bound_all, has_square
from ouzel.learners.loops import learning_scores, predicting_scores
from ouzel.terms.multiclass_losses import derivatives, require_multiclass
from ouzel.terms.penalties.diagonal_prox import minimise, require_minimiser
from ouzel.terms.penalties.l1_and_l2 import applies

__all__ = ["Settings"]

MULTICLASS = True


class State(NamedTuple):
    table: np.ndarray  # (d, 2, classes) float64  w and s^2 of each slot
    stamp: np.ndarray  # (d,) float64  round up to which w is right
    seen: np.ndarray  # (1,) float64  t
    work: np.ndarray  # (7, classes) float64  scratch: linear, metric, a row, slopes, gradients, and two of `minimise`


def layout(dimension: int, classes: int, settings: Settings) -> State:
    """What a state with room for so many slots and classes is made of."""
    require_multiclass(settings.loss, "adagrad-multiclass")
    require_minimiser(settings.penalty, "adagrad-multiclass")
    return State(
        table=float64(dimension, 2, classes),
        stamp=float64(dimension, least=0.0),
        seen=float64(1, least=0.0),
        work=float64(7, classes, scratch=True),
    )


init, grow = made_from(layout)


def check(state: State, settings: Settings) -> None:
    """Refuse sums of squares below 0, and rows ahead of the rounds."""
    require((state.table[:, 1] >= 0.0).all(), "table has sums of squares below 0")
    require((state.stamp <= state.seen[0]).all(), "stamp has rounds to come")


@kernel
def _step(state, slot, row, gradients, seen, settings):
    """One round of a row (classes,) in place; whether it has moved."""
    linear, metric = state.work[0], state.work[1]
    for k in range(len(row)):
        squared = state.table[slot, 1, k]
        if settings.adaptive:
            metric[k] = settings.damping + sqrt(squared) if squared > 0.0 else 0.0
        else:
            metric[k] = sqrt(seen)
        linear[k] = settings.learning_rate * gradients[k] - metric[k] * row[k]
        gradients[k] = row[k]
    minimise(settings.penalty, linear, metric, settings.learning_rate, row, state.work[5:])
    bound_all(row)
    moved = False
    for k in range(len(row)):
        moved |= row[k] != gradients[k]
        gradients[k] = 0.0
    return moved


@kernel
def _catch_up(state, slot, row, settings):
    """Take a row (classes,), right up to its stamp, through the rounds since."""
    gradients = state.work[4]
    gradients[:] = 0.0
    if not applies(settings.penalty) or not row.any():
        return
    for round in range(int(state.stamp[slot]), int(state.seen[0])):
        if not _step(state, slot, row, gradients, round + 1.0, settings):
            break


@kernel
def predict_row(state, indices, values, settings, scores):
    """Write the scores of one example to `scores` (classes,)."""
    scores[:] = 0.0
    row = state.work[2]
    for k in range(len(indices)):
        row[:] = state.table[indices[k], 0]
        _catch_up(state, indices[k], row, settings)
        for c in range(len(scores)):
            scores[c] += values[k] * row[c]


@kernel
def learn_row(state, indices, values, target, importance, settings, scores):
    """Learn one example of the class at position `target`; `scores` takes the prediction made before learning."""
    if importance == 0.0:
        predict_row(state, indices, values, settings, scores)
        return
    scores[:] = 0.0
    for k in range(len(indices)):
        row = state.table[indices[k], 0]
        _catch_up(state, indices[k], row, settings)
        state.stamp[indices[k]] = state.seen[0]
        for c in range(len(scores)):
            scores[c] += values[k] * row[c]
    slopes, gradients = state.work[3], state.work[4]
    derivatives(settings.loss, scores, target, slopes)
    state.seen[0] += 1.0
    for k in range(len(indices)):
        slot = indices[k]
        for c in range(len(slopes)):
            gradient = importance * slopes[c] * values[k]
            gradients[c] = gradient if has_square(gradient) else 0.0
            state.table[slot, 1, c] += gradients[c] * gradients[c]
        _step(state, slot, state.table[slot, 0], gradients, state.seen[0], settings)
        state.stamp[slot] = state.seen[0]


learn_rows = learning_scores(learn_row)
predict_rows = predicting_scores(predict_row)


@kernel
def _rows_of(state, settings, out):
    for slot in range(len(out)):
        out[slot] = state.table[slot, 0]
        _catch_up(state, slot, out[slot], settings)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weights of every slot (d, classes)."""
    out = np.empty((len(state.table), state.table.shape[2]))
    _rows_of(state, settings, out)
    return out


def _rebuilt(
    base: State, weight: np.ndarray, squares: np.ndarray, gained: np.ndarray, totals: Any, settings: Settings
) -> State:
    """Rows owe the penalty of the examples that they do not count as penalised for."""
    rounds = totals["seen"][0] - base.seen[0]
    owed = np.maximum(rounds - penalised_examples(gained), 0.0).min(axis=1)
    table = np.stack([weight, squares], axis=1)
    return State(table, np.rint(totals["seen"][0] - owed), totals["seen"], np.zeros_like(base.work))


gains, onto = growing(weights, lambda state: state.table[:, 1], _rebuilt)
