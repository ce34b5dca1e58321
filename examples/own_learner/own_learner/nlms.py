"""Normalised least mean squares: steps divided by the squared length of the example.

Nagumo & Noda (1967), "A Learning Method for System Identification", IEEE Transactions on Automatic Control 12:
    w <- w - rate g / (1 + x'x),
with g the gradient of any loss (theirs is the squared one), so that no example moves its own prediction too far.
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np

from ouzel.extend import (
    Logistic,
    Loss,
    Rate,
    averaging,
    bounded,
    derivative,
    float32,
    float64,
    force_inline,
    learning_margins,
    made_from,
    margin_of,
    negating,
    predicting_margins,
)


class State(NamedTuple):
    weight: np.ndarray  # (d,) float32  w
    seen: np.ndarray  # (1,) float64  examples


class Settings(NamedTuple):
    loss: Loss = Logistic()
    learning_rate: Rate = 0.5


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
    if importance != 0.0:
        state.seen[0] += 1.0
        square = 0.0
        for k in range(len(indices)):
            square += np.float64(values[k]) ** 2
        step = settings.learning_rate * importance * derivative(settings.loss, margin, target) / (1.0 + square)
        if isfinite(step):
            for k in range(len(indices)):
                state.weight[indices[k]] = bounded(state.weight[indices[k]] - step * values[k])
    return margin


learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)
swap_classes = negating("weight")


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot."""
    return state.weight


def _rebuilt(base: State, weight: np.ndarray, totals: dict[str, np.ndarray], settings: Settings) -> State:
    """The state of merged weights and of counts that were added up."""
    return State(weight.astype(np.float32), totals["seen"])


gains, onto = averaging(weights, _rebuilt)
