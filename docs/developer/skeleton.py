"""Rosenblatt's perceptron for two classes: the skeleton of a learner.

Rosenblatt (1958), "The Perceptron", Psychological Review 65. On a mistake, y (w.x) <= 0,
    w <- w + learning_rate * y * x.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.kernels.vectors import square_norm
from ouzel.layout import float32, float64, made_from
from ouzel.learners.gains.averaging import averaging
from ouzel.learners.limits import is_sound, margin_of
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.ranges import Range


class State(NamedTuple):
    weight: np.ndarray  # (d,) float32  w
    seen: np.ndarray  # (1,) float64  t


class Settings(NamedTuple):
    learning_rate: Annotated[float, Range(1e-30, 1e9), "step size"] = 1.0


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    return State(weight=float32(dimension), seen=float64(1, least=0.0))


init, grow = made_from(layout)


@force_inline
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    return margin_of(state.weight, indices, values)


@force_inline
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    margin = predict_row(state, indices, values, settings)
    if importance == 0.0:
        return margin
    state.seen[0] += 1.0
    step = importance * settings.learning_rate * target
    if margin * target <= 0.0 and is_sound(step, square_norm(values)):
        for k in range(len(indices)):
            state.weight[indices[k]] += step * values[k]
    return margin


learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot."""
    return state.weight


def swap_classes(state: State) -> State:
    """The state that exchanged classes would have led to."""
    return State(-state.weight, state.seen.copy())


def _rebuilt(base: State, weight: np.ndarray, totals: dict[str, np.ndarray], settings: Settings) -> State:
    """The state of merged weights and of counts that were added up."""
    return State(weight.astype(np.float32), totals["seen"])


gains, onto = averaging(weights, _rebuilt)
