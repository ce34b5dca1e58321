"""Numbers by another loss than the squared one: medians and other quantiles, rates of counts.

`regression.py` learns the stream by the squared loss, with all it has, and predicts m. The experts are
- c, the constant that the loss wants, a quantile of the labels so far;
- m, and the prediction of each of its three models alone;
- m + q, where q is learnt from y - m (both constants: `constants.py`);
- c + w.z and m + w.z, by normalised AdaGrad (`two_classes.py` has its terms) of the loss itself, in safe steps. Their
  units are the means of |y - c| and of |y - m|.
All are cut to the range of the labels seen, and weighed by the loss (`regrets.py`).

Margins of the Poisson loss are logarithms of rates, and so are its experts: c is the logarithm of the labels' mean, and
m is taken for no less than a twentieth of that mean, or a fifth in place of q. The mean is at least 1 / (2 t + 1).
Margins lie no further than 5 below its logarithm, nor above both that and the largest label's. Units of steps are 1.
"""

from __future__ import annotations

from math import exp, isfinite, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source
from ouzel.kernels.vectors import dot
from ouzel.layout import made_from
from ouzel.learners.auto import constants, effects, number_gains, regression, regrets, standardisation
from ouzel.learners.auto.constants import (
    COUNTED,
    LEVEL,
    LEVEL_GAPS,
    SHIFT,
    SHIFT_GAPS,
    Constants,
    lead_of,
    learn_constants,
)
from ouzel.learners.auto.effect_slopes import MOST_LOGARITHM, of_logarithms
from ouzel.learners.auto.effects import Effects, learn_effects, predict_effects
from ouzel.learners.auto.labels import note_label, review_labels
from ouzel.learners.auto.mixing import EXPERTS, Mixture, room_for_numbers
from ouzel.learners.auto.newton_block import Block
from ouzel.learners.auto.number_gains import BOLD, HIGH, LOW, MEAN, SAFE, WEIGHT, label_scale
from ouzel.learners.auto.regression import MODELS, TINY, bytes_used
from ouzel.learners.auto.regrets import Regrets, learn_regrets, weigh
from ouzel.learners.auto.sharing import MOST_IMPORTANCE
from ouzel.learners.auto.standardisation import NORMS, SEEN, Features
from ouzel.learners.auto.turning import note_example, turning
from ouzel.learners.auto.two_classes import Settings
from ouzel.learners.blocks import learning_margins_of, predicting_margins_of
from ouzel.learners.gains.parts import Gains
from ouzel.sketches import running_quantile
from ouzel.terms.importance_aware import importance_aware_step
from ouzel.terms.losses import derivative

SCALES_TARGETS = STANDARDIZES = True  # by itself
RATES = (0.3, 0.2)  # from c, from m
FLOORS = (0.05, 0.2)  # parts of the mean of which a logarithm is taken at least
FARTHEST = exp(-5.0)
LEAST = 0.5  # of the sum of labels, in a mean that a logarithm is taken of
FROM_CONSTANT, FROM_CONSTANT_SQUARES, FROM_SQUARED, FROM_SQUARED_SQUARES = range(4, 8)  # columns of `table`
CONSTANT, SQUARED, SHIFTED, NEAR_CONSTANT, NEAR_SQUARED = range(EXPERTS)
BY_MODEL, MANY = EXPERTS, EXPERTS + MODELS

__all__ = ["Settings", "bytes_used", "label_scale"]


class State(NamedTuple):
    features: Features
    table: np.ndarray  # (d, 8) float64  w and s of the safe model, of the bold one, of that from c, of that from m
    places: np.ndarray  # (d,) uint32  place in the block, 0 if none
    block: Block
    mixture: Mixture
    labels: np.ndarray  # (11,) float64  importance seen, mean, sum of squared deviations, smallest, largest; a record
    constants: Constants
    regrets: Regrets
    effects: Effects


def layout(dimension: int, settings: Settings) -> Any:
    """What a state with room for `dimension` slots is made of."""
    numbers = regression.layout(dimension, settings, models=4)._asdict()
    numbers["effects"] = effects.layout(dimension, 1, settings.budget, totals=10)
    return State(**numbers, constants=constants.layout(), regrets=regrets.layout(MANY))


init, grow = made_from(layout)


def check(state: Any, settings: Settings) -> None:
    """Refuse what no learning leads to."""
    regression.check(state, settings)
    running_quantile.check(state.constants.seen)


@force_inline
def mean_for_logarithms(labels):
    """The mean that logarithms are about, above 0."""
    return max(labels[MEAN], LEAST / (labels[WEIGHT] + LEAST))


@inline_source
def margin_of(loss, number, mean, floor):
    """The margin that stands for a number, where the mean of labels is `mean`."""
    return min(log(max(number, floor * mean)), MOST_LOGARITHM) if of_logarithms(loss) else number


@inline_source
def _experts(state, loss, slots, z, margins, centred, out):
    """Write what the experts say to `out` (8,), of the models' predictions of the residual; return m."""
    middle = state.labels[MEAN] if centred else 0.0
    squared = regression.combined(state, margins, middle)
    near_constant = near_squared = 0.0
    for k in range(len(slots)):
        row, x = state.table[slots[k]], np.float64(z[k])
        near_constant += x * row[FROM_CONSTANT]
        near_squared += x * row[FROM_SQUARED]
    labels, mean = state.labels, mean_for_logarithms(state.labels)
    constant = margin_of(loss, mean, mean, 1.0) if of_logarithms(loss) else state.constants.numbers[LEVEL]
    constant = constant if centred else 0.0
    first = margin_of(loss, squared, mean, FLOORS[0])
    out[CONSTANT], out[SQUARED] = constant, first
    out[SHIFTED] = margin_of(loss, squared, mean, FLOORS[1]) + state.constants.numbers[SHIFT]
    out[NEAR_CONSTANT], out[NEAR_SQUARED] = constant + near_constant, first + near_squared
    for e in range(MODELS):
        out[BY_MODEL + e] = margin_of(loss, middle + margins[e], mean, FLOORS[0])
    low, high = margin_of(loss, labels[LOW], mean, FARTHEST), margin_of(loss, labels[HIGH], mean, 1.0)
    for k in range(len(out)):
        out[k] = min(max(out[k], low), high)
    return squared


@inline_source
def _found(state, loss, experts, weights):
    """What is predicted."""
    weigh(state.regrets, lead_of(loss), weights)
    return dot(weights, experts)


@force_inline
def _predict(state, rows, settings, predictions, work):
    """Write the margins of a block."""
    for i in range(len(predictions)):
        _, _, centred, count = standardisation.view_example(state.features, rows, i, work)
        mean, margins = state.labels[MEAN] if centred else 0.0, work.models.margins
        slots, z = work.slots[:count], work.values[:count]
        experts, weights = work.models.experts, work.models.believed
        regression.margins_of(state, slots, z, mean, margins)
        _experts(state, settings.loss, slots, z, margins, centred, experts)
        predictions[i] = _found(state, settings.loss, experts, weights)
    out = predictions.reshape((len(predictions), 1))
    predict_effects(state.effects, rows, effects.NUMBERS, out)


@force_inline
def _learn_lines(state, rows, start, targets, importances, settings, predictions, work):
    """Learn a block by the linear models; `predictions` (n,) takes their margins before each example.

    The row after which the caller must act is returned, and the factor of `review_labels`.
    """
    for i in range(start, len(targets)):
        features, weight = state.features, min(np.float64(importances[i]), MOST_IMPORTANCE)
        indices, values, centred, count = standardisation.view_example(features, rows, i, work)
        mean, margins, target = state.labels[MEAN] if centred else 0.0, work.models.margins, targets[i]
        slots, z = work.slots[:count], work.values[:count]
        experts, weights = work.models.experts, work.models.believed
        found = regression.margins_of(state, slots, z, mean, margins)
        squared = _experts(state, settings.loss, slots, z, margins, centred, experts)
        predictions[i] = _found(state, settings.loss, experts, weights)
        if weight > 0.0:
            present, turn = note_example(state, work, indices, values, count)
            spread, target = note_label(state, target, weight, centred)
            if state.constants.numbers[COUNTED] > 0.0:  # before the first label experts say nothing
                learn_regrets(state.regrets, settings.loss, experts, predictions[i], target, weight)
            moves = centred and not of_logarithms(settings.loss)
            learn_constants(state.constants, settings.loss, experts[SHIFTED], target, squared, weight, moves)
            if regression.ready(state, found, spread):
                _learn_adagrad(state, slots, z, experts, target, weight, settings)
                residual = target - mean
                regression.learn_models(state, slots, z, work, found, present, residual, weight, spread, settings)
            unit = review_labels(state, centred)
            if effects.note_example(state.effects) or turn or unit > 0.0:
                return i, unit
    return len(targets), 0.0


@force_inline
def _learn(state, rows, start, targets, importances, settings, predictions, work):
    """Learn a block; `predictions` (n,) takes the margins before learning each example."""
    stop, unit = _learn_lines(state, rows, start, targets, importances, settings, predictions, work)
    out, loss = predictions.reshape((len(predictions), 1)), settings.loss
    learn_effects(state.effects, rows, start, stop, targets, importances, effects.NUMBERS, loss, out, effects.NO_COUNTS)
    if unit > 0.0 and not of_logarithms(loss):
        effects.rescale(state.effects, unit, state.labels[LOW], state.labels[HIGH])
    return stop


learn_row, learn_rows = learning_margins_of(
    room_for_numbers, _learn, turning((SAFE, BOLD, FROM_CONSTANT, FROM_SQUARED))
)
predict_row, predict_rows = predicting_margins_of(room_for_numbers, _predict)


@inline_source
def _learn_adagrad(state, slots, z, experts, target, weight, settings):
    """A step of the models from the constant and from the squared loss's prediction."""
    loss, totals = settings.loss, state.features.totals
    one, other = experts[NEAR_CONSTANT], experts[NEAR_SQUARED]
    first, second = weight * derivative(loss, one, target), weight * derivative(loss, other, target)
    push = other_push = 0.0
    for k in range(len(slots)):
        row, x = state.table[slots[k]], np.float64(z[k])
        row[FROM_CONSTANT_SQUARES] += (first * x) ** 2
        row[FROM_SQUARED_SQUARES] += (second * x) ** 2
        push += x * x / sqrt(row[FROM_CONSTANT_SQUARES] + TINY)
        other_push += x * x / sqrt(row[FROM_SQUARED_SQUARES] + TINY)
    unit = settings.learning_rate * sqrt(totals[SEEN] / max(totals[NORMS], 1.0))
    rate, other_rate = RATES[0] * unit, RATES[1] * unit
    if not of_logarithms(loss):
        gaps = state.constants.numbers
        rate *= gaps[LEVEL_GAPS] / gaps[COUNTED]
        other_rate *= gaps[SHIFT_GAPS] / gaps[COUNTED]
    first *= rate * importance_aware_step(loss, one, target, weight * rate * push)
    second *= other_rate * importance_aware_step(loss, other, target, weight * other_rate * other_push)
    for k in range(len(slots) if isfinite(first + second) else 0):
        row, x = state.table[slots[k]], np.float64(z[k])
        row[FROM_CONSTANT] -= first * x / sqrt(row[FROM_CONSTANT_SQUARES] + TINY)
        row[FROM_SQUARED] -= second * x / sqrt(row[FROM_SQUARED_SQUARES] + TINY)


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay sums of squares, precisions and moments, those of the labels and the regrets too."""
    regression.fade(state, kept, settings)
    constants.fade(state.constants, kept)
    regrets.fade(state.regrets, kept)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weights (d,) of the features as they are, in units of the margins; the constant's holds the means.

    They predict what the model predicts as long as nothing is cut. Logarithms of what the squared loss predicts are
    those about the labels' mean.
    """
    slopes, shifts = standardisation.units(state.features, reaching=True)
    parts, labels, mean = (
        regrets.weights_of(state.regrets, lead_of(settings.loss)),
        state.labels,
        float(mean_for_logarithms(state.labels)),
    )
    centred = state.features.moments[0, standardisation.COUNT] > 0.0
    unit, middle, level = 1.0, float(labels[MEAN]) * centred, float(state.constants.numbers[LEVEL])
    if of_logarithms(settings.loss):
        unit, middle, level = 1.0 / mean, min(log(mean), MOST_LOGARITHM), min(log(mean), MOST_LOGARITHM) * centred
    mixed = parts[SQUARED] + parts[SHIFTED] + parts[NEAR_SQUARED]
    found = regression.weights_by_model(state) @ (mixed * state.mixture.weights + parts[BY_MODEL:]) * unit
    found += state.table[:, [FROM_CONSTANT, FROM_SQUARED]] @ parts[[NEAR_CONSTANT, NEAR_SQUARED]]
    found[0] -= shifts @ found
    slopes[0] = 1.0
    bases = np.array([level, middle, middle + state.constants.numbers[SHIFT], level, middle, *(middle,) * MODELS])
    found[0] += parts @ bases
    return found * slopes


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base; see `number_gains`."""
    found = number_gains.gains(base, state)
    return {
        **found,
        "constants": constants.gains(base.constants, state.constants, found["examples"]),
        "regrets": regrets.gains(base.regrets, state.regrets),
    }


def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The state of a base and of what workers have learnt beyond it."""
    examples, learnt = gains["examples"], gains["constants"]
    merged: State = number_gains.onto(base, {name: part for name, part in gains.items() if part is not learnt})
    if not examples > 0.0:
        return merged
    return merged._replace(
        constants=constants.onto(base.constants, learnt, examples, settings.loss),
        regrets=regrets.onto(base.regrets, gains["regrets"]),
    )
