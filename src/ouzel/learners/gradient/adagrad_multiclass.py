"""AdaGrad with a weight row a class, by dual averaging; mixed norms null whole features.

Duchi, Hazan & Singer (2011), "Adaptive Subgradient Methods", JMLR 12, eq. (3) and section 5.5. For the row of feature j
in the feature-by-class matrix, with G_j the sum of its gradients and s_j the roots of the sums of their squares,
    h_j = damping + s_j,    w_j = argmin <rate G_j, x> + rate t r(x) + <x, diag(h_j) x> / 2.
The penalty `L2Norm` makes this the mixed norm l1/l2 of the matrix, `MaxNorm` l1/l-infinity; separable ones do as well.

No weights are stored: a row follows from its sums when asked for, so an example costs its non-zeros (times classes)
alone, whatever the penalty, and states of workers add up. With `adaptive` 0 this is plain dual averaging, h = sqrt(t).
Mirror descent, eq. (4), is in `adagrad_multiclass_descent`.
"""

from __future__ import annotations

import importlib
from math import sqrt
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.layout import float64, made_from, require
from ouzel.learners.gains.duals import averaging_duals
from ouzel.learners.gains.narrowing import slot_by_slot
from ouzel.learners.gains.sums import summed_at_first
from ouzel.learners.limits import has_square
from ouzel.learners.loops import learning_scores, predicting_scores
from ouzel.learners.shared_settings import Damping, Loss, Penalty, Rate
from ouzel.ranges import SWITCH
from ouzel.terms.losses import Hinge
from ouzel.terms.multiclass_losses import derivatives, require_multiclass
from ouzel.terms.penalties.diagonal_prox import minimise, require_minimiser
from ouzel.terms.penalties.l1_and_l2 import NoPenalty

MULTICLASS = True


class State(NamedTuple):
    table: np.ndarray  # (d, 2, classes) float64  G and s^2 of each slot
    seen: np.ndarray  # (1,) float64  t
    work: np.ndarray  # (6, classes) float64  scratch: linear, metric, a row of weights, slopes, and two of `minimise`


class Settings(NamedTuple):
    loss: Loss = Hinge()
    penalty: Penalty = NoPenalty()
    learning_rate: Rate = 0.25
    damping: Damping = 1e-6
    adaptive: Annotated[bool, SWITCH, "a step size for each feature, or one for all"] = True
    dual_averaging: Annotated[bool, SWITCH, "eq. (3); otherwise eq. (4), mirror descent"] = True


def module_for(task: str, loss: Any, settings: Any = None) -> Any:
    """The module that learns by these settings: another one for mirror descent."""
    dual = settings is None or settings.dual_averaging
    return importlib.import_module(__name__ if dual else f"{__name__}_descent")


def layout(dimension: int, classes: int, settings: Settings) -> State:
    """What a state with room for so many slots and classes is made of."""
    require_multiclass(settings.loss, "adagrad-multiclass")
    require_minimiser(settings.penalty, "adagrad-multiclass")
    return State(
        table=float64(dimension, 2, classes), seen=float64(1, least=0.0), work=float64(6, classes, scratch=True)
    )


init, grow = made_from(layout)


def check(state: State, settings: Settings) -> None:
    """Refuse sums of squares below 0."""
    require((state.table[:, 1] >= 0.0).all(), "table has sums of squares below 0")


@kernel
def row_of(state, slot, settings):
    """The weights (classes,) of a slot, in scratch that the next call overwrites."""
    linear, metric, row = state.work[0], state.work[1], state.work[2]
    touched = False
    for k in range(len(row)):
        total, squared = state.table[slot, 0, k], state.table[slot, 1, k]
        touched |= total != 0.0
        linear[k] = settings.learning_rate * total
        if not settings.adaptive:
            metric[k] = sqrt(state.seen[0])
        else:
            metric[k] = settings.damping + sqrt(squared) if squared > 0.0 else 0.0
    if touched:
        minimise(settings.penalty, linear, metric, settings.learning_rate * state.seen[0], row, state.work[4:])
    else:
        row[:] = 0.0
    return row


@kernel
def predict_row(state, indices, values, settings, scores):
    """Write the scores of one example to `scores` (classes,)."""
    scores[:] = 0.0
    for k in range(len(indices)):
        row = row_of(state, indices[k], settings)
        for c in range(len(scores)):
            scores[c] += values[k] * row[c]


@kernel
def learn_row(state, indices, values, target, importance, settings, scores):
    """Learn one example of the class at position `target`; `scores` takes the prediction made before learning."""
    predict_row(state, indices, values, settings, scores)
    if importance == 0.0:
        return
    slopes = state.work[3]
    derivatives(settings.loss, scores, target, slopes)
    state.seen[0] += 1.0
    for k in range(len(indices)):
        sums = state.table[indices[k]]
        for c in range(len(slopes)):
            gradient = importance * slopes[c] * values[k]
            if has_square(gradient):
                sums[0, c] += gradient
                sums[1, c] += gradient * gradient


learn_rows = learning_scores(learn_row)
predict_rows = predicting_scores(predict_row)


@kernel
def _rows_of(state, settings, out):
    for slot in range(len(out)):
        out[slot] = row_of(state, slot, settings)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weights of every slot (d, classes)."""
    out = np.empty((len(state.table), state.table.shape[2]))
    _rows_of(state, settings, out)
    return out


def _rates(squares: np.ndarray, seen: float, settings: Settings) -> np.ndarray:
    adaptive = np.where(squares > 0.0, settings.damping + np.sqrt(squares), 0.0)
    roots = adaptive if settings.adaptive else np.full(squares.shape, sqrt(seen))
    return np.divide(settings.learning_rate, roots, out=np.zeros(squares.shape), where=roots > 0.0)


def _rebuilt(
    base: State, weight: Any, total: np.ndarray, squares: np.ndarray, totals: Any, settings: Settings
) -> State:
    return State(np.stack([total, squares], axis=1), totals["seen"], np.zeros_like(base.work))


_AVERAGED = slot_by_slot("table").both(
    *averaging_duals(weights, lambda state: state.table[:, 0], lambda state: state.table[:, 1], _rates, _rebuilt)
)
gains, onto = summed_at_first(_AVERAGED, ("table",))
