"""Groups to rank: the models of two classes learn pairs, and a score is the mean of their margins.

Rows to learn are differences of two examples, the better one first (`model/tasks/ranking.py`). The models are those of
`two_classes.py` but for the bold one, and the first learns the loss itself. They are not weighed by how they do on
pairs: pairs of a group are much alike, and what is learnt of its first ones by heart says little of the next group.

Scores of single examples are compared, however far from 0 they lie, so they are linear in the features: no z is cut in
them, and no margin. So no feature is dense here: all are scaled as rare ones are, by which no difference is large.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source
from ouzel.layout import made_from
from ouzel.learners.auto import classification, newton_block, standardisation, two_classes
from ouzel.learners.auto.classification import bytes_used, fade, gains, onto
from ouzel.learners.auto.mixing import room_for_two
from ouzel.learners.auto.newton_block import Block
from ouzel.learners.auto.sharing import MOST_IMPORTANCE
from ouzel.learners.auto.standardisation import LARGEST, NORMS, SEEN, SQUARES, Features
from ouzel.learners.auto.turning import note_example, turning
from ouzel.learners.auto.two_classes import MEAN, VARIANCE, WEIGHT, Settings
from ouzel.learners.blocks import learning_margins_of, predicting_margins_of
from ouzel.terms.losses import Hinge, SquaredHinge

STANDARDIZES = True  # by itself
SAFE = (WEIGHT, WEIGHT + 1, WEIGHT + 2, MEAN)  # columns of the models whose margins count, the block's beside them
MANY = len(SAFE) + 1

__all__ = ["Settings", "bytes_used", "fade", "gains", "onto"]


class State(NamedTuple):
    features: Features
    table: np.ndarray  # (d, 10) float32  that of `two_classes.py`
    places: np.ndarray  # (d,) uint32  place in the block, 0 if none
    block: Block


def layout(dimension: int, settings: Settings) -> Any:
    """What a state with room for `dimension` slots is made of."""
    parts = two_classes.layout(dimension)
    return State(parts.features, parts.table, parts.places, parts.block)


init, grow = made_from(layout)


def check(state: State, settings: Settings) -> None:
    """Refuse a state whose parts do not fit each other."""
    standardisation.check(state.features)
    newton_block.check(state.block, state.places)


@inline_source
def _score(state, indices, values):
    """The mean of the models' margins, with no value or margin cut."""
    seen, reach = max(state.features.totals[SEEN], 1.0), standardisation.reach_of(state.features.totals)
    is_second = newton_block.worthwhile(state.block.totals)
    total = 0.0
    for k in range(len(indices)):
        moments, row = state.features.moments[indices[k]], state.table[indices[k]]
        unit = moments[LARGEST]
        if reach > 1.0:
            unit = max(sqrt(moments[SQUARES] / seen), unit / reach)
        weight, place = 0.0, np.int64(state.places[indices[k]]) - 1
        for column in SAFE:
            weight += row[column]
        if place >= 0 and is_second:
            weight += state.block.weights[place, 0]
        if unit > 0.0:
            total += weight * values[k] / unit
    return total / MANY


@force_inline
def _learn(state, rows, start, targets, importances, settings, margins, work):
    """Learn a block of pairs; `margins` (n,) takes those before learning each."""
    for i in range(start, len(targets)):
        features, weight = state.features, min(np.float64(importances[i]), MOST_IMPORTANCE)
        indices, values, _, count = standardisation.view_example(features, rows, i, work)
        margins[i] = _score(state, indices, values)
        if weight > 0.0:
            slots, z, sign = work.slots[:count], work.values[:count], 1.0 if targets[i] > 0.0 else -1.0
            own = two_classes.margins_of(state, slots, z, work.models.margins)
            present, turn = note_example(state, work, indices, values, count, False)
            if features.totals[NORMS] > 0.0:
                losses = settings.loss, SquaredHinge(), Hinge()
                two_classes.learn_models(state, slots, z, work, own, present, sign, weight, 1.0, settings, losses)
            if turn:
                return i
    return len(targets)


@force_inline
def _predict(state, rows, settings, margins, work):
    """Write the scores of a block."""
    for i in range(len(margins)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        margins[i] = _score(state, rows.indices[here], rows.values[here])


TURN = turning((*range(WEIGHT, WEIGHT + 4), MEAN), (VARIANCE,), turns=False)
learn_row, learn_rows = learning_margins_of(room_for_two, _learn, TURN)
predict_row, predict_rows = predicting_margins_of(room_for_two, _predict)


def swap_classes(state: State) -> State:
    """The state that exchanged classes would have led to."""
    swapped: State = classification.reorder(state, [1, 0])
    return swapped


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weights (d,) of the features as they are."""
    slopes, _ = standardisation.units(state.features, reaching=True)
    models = classification.weights_by_class(state)[1]
    found: np.ndarray = (models.sum(axis=1) - models[:, 3]) / MANY
    return found * slopes
