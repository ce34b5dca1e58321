"""Numbers with nothing to tune: labels are centred and scaled as the stream goes, and so are its dense features.

With the mean of the labels before an example, and their spread sigma with it, models learn the residual r = y - mean in
steps whose unit is sigma, so that neither the zero nor the unit of labels matters:
- normalised AdaGrad (`two_classes.py` has its terms) by the squared loss, at rate 0.5 in safe steps and at 8 in bold
ones:
  for the prediction f of a model, g = f - r,  s_j <- s_j + (g z_j)^2,  w_j <- w_j - share rate sigma sqrt(t / N) g z_j
  s_j^-1/2; that is what learning labels over sigma comes to, with w and s rescaled whenever sigma changes;
- recursive least squares over the most frequent features (`newton_block.py`): v = S z, w <- w - g v / (1 + v.z),
  S <- S - v v' / (1 + v.z), prior 10 / the mean number of members in an example, forgetting by 0.999.
Their predictions, cut to the range of the labels seen, are weighed by `mixing.py`, and so is the range kept by the
outcome. Rows without the constant feature keep their labels where they are; the unit is then the root mean square.
A label far outside of what has been seen counts, and is learnt, as the mean and 3 sigma more or less (`outliers.py`).
Where sigma and the range of the labels are set anew by it, models are in the new unit.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source
from ouzel.kernels.vectors import dot
from ouzel.layout import flat, float64, made_from, require, uint32
from ouzel.learners.auto import effects, mixing, newton_block, number_gains, standardisation
from ouzel.learners.auto.effects import Effects, learn_effects, predict_effects
from ouzel.learners.auto.labels import note_label, review_labels
from ouzel.learners.auto.mixing import MODELS_OF_NUMBERS, Mixture, learn_mixture, room_for_numbers
from ouzel.learners.auto.newton_block import Block
from ouzel.learners.auto.number_gains import (
    BOLD,
    BOLD_SQUARES,
    DEVIATIONS,
    HIGH,
    LOW,
    MEAN,
    NUMBERS,
    PRIOR,
    SAFE,
    SAFE_SQUARES,
    SQUARES,
    WEIGHT,
    label_scale,
)
from ouzel.learners.auto.sharing import MOST_IMPORTANCE
from ouzel.learners.auto.standardisation import NORMS, SEEN, Features
from ouzel.learners.auto.turning import note_example, turning
from ouzel.learners.auto.two_classes import Settings
from ouzel.learners.blocks import learning_margins_of, predicting_margins_of
from ouzel.terms.importance_aware import importance_aware_step
from ouzel.terms.losses import Squared

SCALES_TARGETS = STANDARDIZES = True  # by itself
RATES = (0.5, 8.0)
MODELS = MODELS_OF_NUMBERS
TINY = 1e-300  # beside a sum of squares, in a root that is divided by

__all__ = ["Settings", "label_scale"]


class State(NamedTuple):
    features: Features
    table: np.ndarray  # (d, 4) float64  w and s of the safe model, w and s of the bold one
    places: np.ndarray  # (d,) uint32  place in the block, 0 if none
    block: Block
    mixture: Mixture
    labels: np.ndarray  # (11,) float64  importance seen, mean, sum of squared deviations, smallest, largest; a record
    effects: Effects


def layout(dimension: int, settings: Settings, models: int = 2) -> Any:
    """What a state with room for `dimension` slots is made of, its table with room for so many models."""
    return State(
        features=standardisation.layout(dimension),
        table=float64(dimension, 2 * models, least=(-inf, 0.0) * models),
        places=uint32(dimension, most=newton_block.MOST),
        block=newton_block.layout(1, dimension),
        mixture=mixing.layout(MODELS),
        labels=float64(11, least=(0.0, -inf, 0.0, *(-inf,) * 2, 0.0, 0.0, *(-inf,) * 2, 0.0, 0.0)),
        effects=effects.layout(dimension, 1, settings.budget),
    )


init, grow = made_from(layout)


def check(state: State, settings: Settings) -> None:
    """Refuse a state whose parts do not fit each other."""
    standardisation.check(state.features)
    newton_block.check(state.block, state.places)
    mixing.check(state.mixture)
    if isinstance(state, State):
        effects.check(state.effects)
    low, high = state.labels[LOW], state.labels[HIGH]
    require(low <= state.labels[MEAN] <= high, "labels have a mean that is not in their range")


@inline_source
def margins_of(state, slots, values, mean, out):
    """The models' predictions of the residual as they are; cut to the labels' range, they go to `out` (3,)."""
    safe = bold = newton = 0.0
    for k in range(len(slots)):
        row, z = state.table[slots[k]], np.float64(values[k])
        safe += z * row[SAFE]
        bold += z * row[BOLD]
    for k in range(len(slots) if newton_block.worthwhile(state.block.totals) else 0):
        place = np.int64(state.places[slots[k]]) - 1
        if place >= 0:
            newton += state.block.weights[place, 0] * values[k]
    low, high = state.labels[LOW] - mean, state.labels[HIGH] - mean
    out[0], out[1], out[2] = min(max(safe, low), high), min(max(bold, low), high), min(max(newton, low), high)
    return safe, bold, newton


@inline_source
def combined(state, margins, mean):
    """What the mixture predicts, within the range of the labels."""
    return min(max(mean + dot(state.mixture.weights, margins), state.labels[LOW]), state.labels[HIGH])


@force_inline
def _predict(state, rows, settings, predictions, work):
    """Write the predictions for a block."""
    for i in range(len(predictions)):
        _, _, centred, count = standardisation.view_example(state.features, rows, i, work)
        mean, margins = state.labels[MEAN] if centred else 0.0, work.models.margins
        margins_of(state, work.slots[:count], work.values[:count], mean, margins)
        predictions[i] = combined(state, margins, mean)
    predict_effects(state.effects, rows, effects.NUMBERS, predictions.reshape((len(predictions), 1)))


@inline_source
def ready(state, found, spread):
    """Whether there is anything to learn of, and a unit for it."""
    return state.features.totals[NORMS] > 0.0 and spread > 0.0 and isfinite(found[0] + found[1] + found[2])


@inline_source
def learn_models(state, slots, z, work, found, present, residual, weight, spread, settings):
    """A step of each model and of the mixture, which sees their margins in the unit of the labels."""
    margins = work.models.margins
    _learn_adagrad(state, slots, z, found, residual, weight, spread, settings)
    if present > 0:
        _learn_newton(state, slots, z, work, found[2] - residual, weight)
    for e in range(MODELS):
        margins[e] /= spread
    slope = dot(state.mixture.weights, margins) - residual / spread
    learn_mixture(state.mixture, margins, work.models.root, work.models.step, weight * slope, weight)


@force_inline
def _learn_lines(state, rows, start, targets, importances, settings, predictions, work):
    """Learn a block by the linear models; `predictions` (n,) takes theirs before each example.

    The row after which the caller must act is returned, and the factor of `review_labels`.
    """
    for i in range(start, len(targets)):
        features, weight = state.features, min(np.float64(importances[i]), MOST_IMPORTANCE)
        indices, values, centred, count = standardisation.view_example(features, rows, i, work)
        mean, margins = state.labels[MEAN] if centred else 0.0, work.models.margins
        slots, z = work.slots[:count], work.values[:count]
        found = margins_of(state, slots, z, mean, margins)
        predictions[i] = combined(state, margins, mean)
        if weight > 0.0:
            present, turn = note_example(state, work, indices, values, count)
            spread, counts = note_label(state, targets[i], weight, centred)
            if ready(state, found, spread):
                learn_models(state, slots, z, work, found, present, counts - mean, weight, spread, settings)
            unit = review_labels(state, centred)
            if effects.note_example(state.effects) or turn or unit > 0.0:
                return i, unit
    return len(targets), 0.0


@force_inline
def _learn(state, rows, start, targets, importances, settings, predictions, work):
    """Learn a block; `predictions` (n,) takes those made before learning each example."""
    stop, unit = _learn_lines(state, rows, start, targets, importances, settings, predictions, work)
    out, loss = predictions.reshape((len(predictions), 1)), Squared()
    learn_effects(state.effects, rows, start, stop, targets, importances, effects.NUMBERS, loss, out, effects.NO_COUNTS)
    if unit > 0.0:
        effects.rescale(state.effects, unit, state.labels[LOW], state.labels[HIGH])
    return stop


learn_row, learn_rows = learning_margins_of(room_for_numbers, _learn, turning((SAFE, BOLD)))
predict_row, predict_rows = predicting_margins_of(room_for_numbers, _predict)


@inline_source
def _learn_adagrad(state, slots, z, found, residual, weight, spread, settings):
    """A step of the safe model and of the bold one."""
    safe, bold = weight * (found[0] - residual), weight * (found[1] - residual)
    push = 0.0
    for k in range(len(slots)):
        row, x = state.table[slots[k]], np.float64(z[k])
        row[SAFE_SQUARES] += (safe * x) ** 2
        row[BOLD_SQUARES] += (bold * x) ** 2
        push += x * x / sqrt(row[SAFE_SQUARES] + TINY)
    unit = settings.learning_rate * spread * sqrt(state.features.totals[SEEN] / max(state.features.totals[NORMS], 1.0))
    first = unit * RATES[0]
    first *= safe * importance_aware_step(Squared(), found[0], residual, weight * first * push)
    second = unit * RATES[1] * bold
    for k in range(len(slots)):
        row, x = state.table[slots[k]], np.float64(z[k])
        row[SAFE] -= first * x / sqrt(row[SAFE_SQUARES] + TINY)
        row[BOLD] -= second * x / sqrt(row[BOLD_SQUARES] + TINY)


@inline_source
def _learn_newton(state, slots, z, work, error, weight):
    """The step of recursive least squares."""
    block = state.block
    prior = PRIOR * block.totals[newton_block.SEEN] / block.totals[newton_block.PRESENT]
    s = newton_block.direct(block, work, state.places, slots, z, prior)
    if s < 0.0:
        newton_block.restart(block)
        return
    step, v = weight * error / (1.0 + weight * s), work.v
    for place in range(np.int64(block.totals[newton_block.MEMBERS])):
        block.weights[place, 0] -= step * v[place]
    newton_block.shrink(block, v, weight, s, prior)


def fade(state: Any, kept: float, settings: Settings) -> None:
    """Decay sums of squares, precisions and moments, those of the labels too; the mixture forgets by itself."""
    state.table[:, SQUARES] *= kept
    state.labels[[WEIGHT, DEVIATIONS, NUMBERS]] *= kept
    if isinstance(state, State):
        effects.fade(state.effects, kept)
    newton_block.fade(state.block, kept, PRIOR, standardisation.fade(state.features, kept))


def bytes_used(state: State) -> int:
    """Bytes of all arrays."""
    return sum(array.nbytes for _, array in flat(state))


def weights_by_model(state: Any) -> np.ndarray:
    """The models' weights (d, 3) in units of z."""
    second, members = np.zeros(len(state.places)), np.flatnonzero(state.places)
    if newton_block.is_worthwhile(state.block.totals):
        second[members] = state.block.weights[state.places[members].astype(np.int64) - 1, 0]
    return np.stack([state.table[:, SAFE], state.table[:, BOLD], second], axis=1)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weights (d,) of the features as they are, in units of the labels; the constant's holds the means.

    They predict what the model predicts as long as no feature lies 3 standard deviations from its mean, no prediction
    beyond the labels seen, and the moments stay what they are.
    """
    slopes, shifts = standardisation.units(state.features, reaching=True)
    found = weights_by_model(state) @ state.mixture.weights
    found[0] -= shifts @ found
    slopes[0] = 1.0
    if state.features.moments[0, standardisation.COUNT] > 0.0:
        found[0] += state.labels[MEAN]
    return found * slopes


def gains(base: State, state: State, settings: Settings) -> Any:
    """What a worker has learnt beyond its base; see `number_gains`."""
    return number_gains.gains(base, state)


def onto(base: State, gains: Any, settings: Settings) -> Any:
    """The state of a base and of what workers have learnt beyond it."""
    return number_gains.onto(base, gains)
