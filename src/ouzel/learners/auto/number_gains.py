"""What workers of the default have learnt of numbers beyond a base (see `auto.gains`).

Models learn what labels are beyond their mean, each worker beyond its own: intercepts are brought to labels as they
are.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from ouzel.layout import copied
from ouzel.learners.auto import effect_gains, moments, outliers
from ouzel.learners.auto import gains as parts
from ouzel.learners.auto.narrowing import MET
from ouzel.learners.auto.standardisation import COUNT, SEEN
from ouzel.learners.gains.parts import Gains, Peak

PRIOR = 10.0
SAFE, SAFE_SQUARES, BOLD, BOLD_SQUARES = range(4)  # columns of `table`
WEIGHTS, SQUARES = slice(0, None, 2), slice(1, None, 2)  # of these models, and of those behind them
WEIGHT, MEAN, DEVIATIONS, LOW, HIGH, RECORD = range(6)  # places of `labels`
NUMBERS, BOUND = RECORD + outliers.NUMBERS, RECORD + outliers.WINDOW + outliers.BOUND


def label_scale(state: Any) -> tuple[float, float]:
    """Mean and standard deviation of the labels; 0 of none."""
    weight, mean, deviations = state.labels[[WEIGHT, MEAN, DEVIATIONS]].tolist()
    return mean, sqrt(deviations / weight) if weight > 0.0 else 0.0


def _shift(state: Any) -> float:
    """The mean of the labels, where the models learn what is beyond it."""
    return float(state.labels[MEAN]) if state.features.moments[0, COUNT] > 0.0 else 0.0


def _shifts(shift: float, models: int) -> np.ndarray:
    """What the constant's weights (models, 1) lack: models behind the first two learn what is beyond something else."""
    return np.array([[shift], [shift], *[[0.0]] * (models - 2)])


def _linear(state: Any) -> parts.Linear:
    table = state.table[:, :, None]
    weights = table[:, WEIGHTS]
    return parts.Linear(state.features, weights, table[:, SQUARES], _shifts(_shift(state), weights.shape[1]))


def _label_sums(labels: np.ndarray, origin: float) -> np.ndarray:
    """The weight of labels y, the sums of y - m and of its square, and how many they are."""
    weight, change = labels[WEIGHT], labels[MEAN] - origin
    return np.array([weight, weight * change, labels[DEVIATIONS] + weight * change**2, labels[NUMBERS]])


@MET.gains
def gains(base: Any, state: Any) -> Gains:
    """What a worker has learnt beyond its base."""
    examples = float(state.features.totals[SEEN] - base.features.totals[SEEN])
    origin = float(base.labels[MEAN])
    heard = state.labels[WEIGHT] > 0.0
    return {
        "examples": examples,
        "features": moments.gains(base.features, state.features),
        **parts.gains_of_linear(_linear(base), _linear(state)),
        "block": parts.gains_of_block(base, state, examples, _shift(state)),
        "mixture": parts.gains_of_mixture(state.mixture, examples),
        "labels": _label_sums(state.labels, origin) - _label_sums(base.labels, origin),
        "bound": Peak(state.labels[[BOUND]]),
        "ends": Peak(np.array([-state.labels[LOW], state.labels[HIGH]] if heard else [-np.inf, -np.inf])),
        **effect_gains.gains(base, state, examples),
    }


@MET.onto
def onto(base: Any, gains: Gains) -> Any:
    """The state of a base and of what workers have learnt beyond it."""
    examples = gains["examples"]
    if not examples > 0.0:
        return copied(base)
    features = moments.onto(base.features, gains["features"])
    labels, origin = base.labels.copy(), float(base.labels[MEAN])
    weight, total, squares, numbers = _label_sums(base.labels, origin) + gains["labels"]
    low, high = -gains["ends"].values[0], gains["ends"].values[1]
    if base.labels[WEIGHT] > 0.0:
        low, high = min(low, base.labels[LOW]), max(high, base.labels[HIGH])
    if weight > 0.0:
        mean = min(max(origin + total / weight, low), high)
        labels[:RECORD] = weight, mean, max(squares - total**2 / weight, 0.0), low, high
        labels[RECORD:] = outliers.of_numbers(numbers, max(base.labels[BOUND], gains["bound"].values[0]))
    shift = float(labels[MEAN]) if features.moments[0, COUNT] > 0.0 else 0.0
    linear, table = _linear(base), base.table.copy()
    weights, growth = parts.linear_onto(linear, features, gains, _shifts(shift, linear.weights.shape[1]))
    table[:, WEIGHTS], table[:, SQUARES] = weights[:, :, 0], (linear.squares + growth)[:, :, 0]
    block, places = parts.block_onto(base, features, gains["block"], examples, PRIOR, shift)
    mixture = parts.mixture_onto(base.mixture, gains["mixture"], examples)
    state = base._replace(features=features, table=table, places=places, block=block, mixture=mixture, labels=labels)
    return state._replace(**effect_gains.onto(base, gains, examples))
