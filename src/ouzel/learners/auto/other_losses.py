"""Classes by another loss than the logistic one: the models of two classes, weighed by the loss.

The six models of `two_classes.py` have margins m; the first model learns the loss itself. The experts are
- u.m, where u learns the loss by `mixing.py`, of margins cut at 4; the curvature is that of the loss, or the square of
  its slope where that is larger;
- each of the models alone.
They are weighed by the loss (`regrets.py`); the margin is sum_e c_e m_e, where c = p_0 u + (p_1, ..., p_6). Each of
several classes has models of its own, of one class against the rest.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source
from ouzel.kernels.vectors import dot
from ouzel.layout import copied, made_from
from ouzel.learners.auto import class_gains, classification, mixing, newton_block, regrets, standardisation, two_classes
from ouzel.learners.auto.classification import bytes_used
from ouzel.learners.auto.mixing import Mixture, learn_mixture, room_for_two
from ouzel.learners.auto.newton_block import Block
from ouzel.learners.auto.regrets import Regrets, learn_regrets, weigh
from ouzel.learners.auto.sharing import MOST_IMPORTANCE
from ouzel.learners.auto.standardisation import NORMS, Features
from ouzel.learners.auto.turning import note_example, turning
from ouzel.learners.auto.two_classes import MODELS, WEIGHT, Settings
from ouzel.learners.blocks import learning_margins_of, predicting_margins_of
from ouzel.learners.gains.parts import Gains
from ouzel.terms.losses import curvature, derivative

STANDARDIZES = True  # by itself
MANY = 1 + MODELS

__all__ = ["Settings", "bytes_used"]


class State(NamedTuple):
    features: Features
    table: np.ndarray  # (d, 10) float32  that of `two_classes.py`
    places: np.ndarray  # (d,) uint32  place in the block, 0 if none
    block: Block
    mixture: Mixture
    regrets: Regrets


def layout(dimension: int, settings: Settings) -> Any:
    """What a state with room for `dimension` slots is made of."""
    parts = two_classes.layout(dimension)._asdict()
    del parts["shares"], parts["effects"], parts["counts"]
    return State(**parts, regrets=regrets.layout(MANY))


init, grow = made_from(layout)


def check(state: Any, settings: Settings) -> None:
    """Refuse a state whose parts do not fit each other."""
    standardisation.check(state.features)
    newton_block.check(state.block, state.places)
    mixing.check(state.mixture)


@inline_source
def _weigh_models(state, models):
    """Note what the experts say and how far they are believed; return the margin."""
    seen, experts, believed = models.margins, models.experts, models.believed
    experts[0] = dot(state.mixture.weights, seen)
    for e in range(MODELS):
        experts[1 + e] = seen[e]
    weigh(state.regrets, 0.0, believed)
    return dot(believed, experts)


@inline_source
def _learn_example(state, work, slots, z, own, found, present, target, weight, settings):
    """A step of each model and of what weighs them, where `own` are the models' margins and `found` was predicted."""
    models, loss, sign = work.models, settings.loss, 1.0 if target > 0.0 else -1.0
    experts = models.experts
    losses = loss, settings.second_loss, settings.third_loss
    two_classes.learn_models(state, slots, z, work, own, present, sign, weight, 1.0, settings, losses)
    slope, bend = derivative(loss, experts[0], sign), curvature(loss, experts[0], sign)
    bend = weight * max(bend, slope * slope)
    if isfinite(weight * slope) and isfinite(bend):
        learn_regrets(state.regrets, loss, experts, found, sign, weight)
        learn_mixture(state.mixture, models.margins, models.root, models.step, weight * slope, bend)


@force_inline
def _learn(state, rows, start, targets, importances, settings, margins, work):
    """Learn a block; `margins` (n,) takes those before learning each example."""
    for i in range(start, len(targets)):
        features, weight = state.features, min(np.float64(importances[i]), MOST_IMPORTANCE)
        indices, values, _, count = standardisation.view_example(features, rows, i, work)
        slots, z = work.slots[:count], work.values[:count]
        own = two_classes.margins_of(state, slots, z, work.models.margins)
        margins[i] = _weigh_models(state, work.models)
        if weight > 0.0:
            present, turn = note_example(state, work, indices, values, count)
            if features.totals[NORMS] > 0.0:
                _learn_example(state, work, slots, z, own, margins[i], present, targets[i], weight, settings)
            if turn:
                return i
    return len(targets)


@force_inline
def _predict(state, rows, settings, margins, work):
    """Write the margins of a block."""
    for i in range(len(margins)):
        _, _, _, count = standardisation.view_example(state.features, rows, i, work)
        two_classes.margins_of(state, work.slots[:count], work.values[:count], work.models.margins)
        margins[i] = _weigh_models(state, work.models)


TURN = turning((*range(WEIGHT, WEIGHT + 4), two_classes.MEAN), (two_classes.VARIANCE,))
learn_row, learn_rows = learning_margins_of(room_for_two, _learn, TURN)
predict_row, predict_rows = predicting_margins_of(room_for_two, _predict)


def coefficients(state: State) -> np.ndarray:
    """c (6,): what the models' margins are multiplied by."""
    believed = regrets.weights_of(state.regrets, 0.0)
    found: np.ndarray = believed[0] * state.mixture.weights + believed[1:]
    return found


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weights (d,) of the features, exact while nothing is cut; the constant's with the means taken off."""
    slopes, shifts = standardisation.units(state.features, reaching=True)
    found: np.ndarray = classification.weights_by_class(state)[1] @ coefficients(state)
    found[0] -= shifts @ found
    slopes[0] = 1.0
    return found * slopes


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay sums of squares, precisions, moments and regrets; the mixture forgets by itself."""
    classification.fade(state, kept, settings)
    regrets.fade(state.regrets, kept)


def swap_classes(state: State) -> State:
    """The state that exchanged classes would have led to."""
    swapped: State = classification.reorder(state, [1, 0])
    return swapped


def background_state(state: State) -> State:
    """The state of a class that has not come yet: the scales of features and the mixture are those of the others."""
    fresh = copied(state)
    fresh.table[:], fresh.block.weights[:] = 0.0, 0.0
    return fresh


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base; see `class_gains`."""
    return {
        **class_gains.gains(base, state),
        "regrets": regrets.gains(base.regrets, state.regrets),
    }


def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The state of a base and of what workers have learnt beyond it."""
    merged: State = class_gains.onto(base, gains)
    if not gains["examples"] > 0.0:
        return merged
    return merged._replace(regrets=regrets.onto(base.regrets, gains["regrets"]))
