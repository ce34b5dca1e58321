"""Normalised AdaGrad of four losses and rates side by side, stacked by an online Newton step: nothing to tune.

What a stream asks of a loss and a step size is seldom known before it has gone by. So four linear models learn it at
once, and their margins m are the features of a fifth, tiny model f = u.m (`stacking.py`). Three take safe steps,
by the loss itself, the squared hinge and the hinge. The last takes bold ones by the hinge, for a stream that changes
or whose features need large weights. In regression all learn the loss itself.

Each takes the normalised adaptive step of Ross, Mineiro & Langford (2013), "Normalized Online Learning", UAI,
Algorithm 2 (NAG): with n_j the largest |x_j| seen, z_j = x_j / n_j and N the sum of all z_j^2 so far,
    s_j <- s_j + (g z_j)^2,    w_j <- w_j - share rate sqrt(t / N) g z_j / (n_j sqrt(s_j)),
so that the unit of a feature does not matter; the largest |target| is the unit of the rates. Where |x_j| is above n_j,
w_j is first multiplied by n_j / |x_j|: what a value beyond all seen before adds to the margin is what the largest seen
would have added. That is so in predictions as well, which change no weight. A bold step has share 1;
of a safe one, as much is taken as does not overshoot (`terms/importance_aware.py`, by Karampatziakis & Langford, 2011).

This is what the default takes for groups to rank, for losses of classes other than the logistic one, and for losses of
one's own; each of several classes has four models and a u of its own, one class against the rest.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt
from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import float32, float64, made_from, require
from ouzel.learners.auto.settings import Settings
from ouzel.learners.auto.simd import FURTHEST, LARGEST, add_squares, add_squares_by_dither, move
from ouzel.learners.auto.stacking import MODELS, MOST, clipped, combined, learn_stack
from ouzel.learners.fading import faded_covariance
from ouzel.learners.gains.parts import Gains, Peak, dense, rows_of
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.terms.importance_aware import importance_aware_step
from ouzel.terms.losses import curvature, derivative

RATES = (1.0, 0.5, 0.5, 8.0)
LONG = 2.0**20  # examples, from which on sums of squares are rounded by a dither lest they stop
LARGEST_EFFECT = 2.0 * FURTHEST  # of a weight on the largest value: steps stop at FURTHEST, values may be rounded
GOLDEN = 0.6180339887498949  # parts of one over: its multiples' fractional parts are spread most evenly


class State(NamedTuple):
    table: np.ndarray  # (d, 9) float32  n, four w, four s^-1/2 (0 where s is 0) of each slot
    stack: np.ndarray  # (4,) float64  u
    inverse: np.ndarray  # (4, 4) float64  A^-1
    counts: np.ndarray  # (3,) float64  t, N, largest |target|


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    models = (-inf,) * MODELS
    return State(
        table=float32(dimension, 1 + 2 * MODELS, least=(0.0, *models, *(0.0,) * MODELS)),
        stack=float64(MODELS, fill=1.0 / MODELS, least=-MOST, most=MOST),
        inverse=float64(MODELS, MODELS, diagonal=1.0, least=-MOST, most=MOST),
        counts=float64(3, least=0.0),
    )


init, grow = made_from(layout)


@force_inline
def _margins(state, indices, values):
    """The margins of the four models, as they are before the example is learnt; see `_seen`."""
    first = second = third = fourth = 0.0
    for k in range(len(indices)):
        row = state.table[indices[k]]
        size = abs(values[k])
        kept = row[0] / size if size > row[0] else np.float32(1.0)
        first += values[k] * (row[1] * kept)
        second += values[k] * (row[2] * kept)
        third += values[k] * (row[3] * kept)
        fourth += values[k] * (row[4] * kept)
    return first, second, third, fourth


@force_inline
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    return combined(state.stack, clipped(_margins(state, indices, values), state.counts[2]))


@force_inline
def _seen(state, indices, values):
    """Note the largest |x| of each slot, weights keeping their effect, and add to N; return the four margins."""
    first = second = third = fourth = norm = 0.0
    for k in range(len(indices)):
        row = state.table[indices[k]]
        size = abs(values[k])
        if size > row[0]:
            if row[0] > 0.0:
                for e in range(MODELS):
                    row[1 + e] *= row[0] / size
            row[0] = size
        if row[0] > 0.0:
            norm += (values[k] / row[0]) ** 2
            first += values[k] * row[1]
            second += values[k] * row[2]
            third += values[k] * row[3]
            fourth += values[k] * row[4]
    state.counts[1] += norm
    return first, second, third, fourth


@force_inline
def _learn_models(state, indices, values, target, importance, settings):
    """One step of each of the four models; return the margins before it, as the stack sees them."""
    if importance == 0.0:
        return clipped(_margins(state, indices, values), state.counts[2])
    margins = _seen(state, indices, values)
    clear = clipped(margins, state.counts[2])
    state.counts[0] += 1.0
    if not isfinite((clear[0] + clear[1] + clear[2] + clear[3]) * importance) or state.counts[1] <= 0.0:
        return clear
    state.counts[2] = max(state.counts[2], abs(target))
    slopes = _slopes(settings, margins, target, importance)
    if state.counts[0] < LONG:
        pushes = add_squares(state.table, indices, values, slopes)
    else:
        dither = np.float32((state.counts[0] * GOLDEN) % 1.0)
        pushes = add_squares_by_dither(state.table, indices, values, slopes, dither)
    rates = _rates(state, settings, margins, target, importance, pushes)
    steps = (slopes[0] * rates[0], slopes[1] * rates[1], slopes[2] * rates[2], slopes[3] * rates[3])
    move(state.table, indices, values, steps)
    return clear


@force_inline
def _slopes(settings, margins, target, importance):
    """Derivatives of the four models' losses, times the importance."""
    return (
        _finite(importance * derivative(settings.loss, margins[0], target)),
        _finite(importance * derivative(settings.second_loss, margins[1], target)),
        _finite(importance * derivative(settings.third_loss, margins[2], target)),
        _finite(importance * derivative(settings.third_loss, margins[3], target)),
    )


@force_inline
def _finite(slope):
    """The slope, or 0 for one whose square may not be finite."""
    return np.float32(slope) if abs(slope) < LARGEST else np.float32(0.0)


@force_inline
def _rates(state, settings, margins, target, importance, pushes):
    """The rates of the four models, times the shares of the steps to take."""
    unit = settings.learning_rate * state.counts[2] * sqrt(state.counts[0] / state.counts[1])
    first, second, third = unit * RATES[0], unit * RATES[1], unit * RATES[2]
    return (
        np.float32(first * importance_aware_step(settings.loss, margins[0], target, importance * first * pushes[0])),
        np.float32(
            second * importance_aware_step(settings.second_loss, margins[1], target, importance * second * pushes[1])
        ),
        np.float32(
            third * importance_aware_step(settings.third_loss, margins[2], target, importance * third * pushes[2])
        ),
        np.float32(unit * RATES[3]),
    )


@force_inline
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    margins = _learn_models(state, indices, values, target, importance, settings)
    margin = combined(state.stack, margins)
    if importance != 0.0:
        slope, bend = derivative(settings.loss, margin, target), curvature(settings.loss, margin, target)
        learn_stack(state, margins, state.counts[2], slope, bend, importance)
    return margin


learn_rows, predict_rows = learning_margins(learn_row), predicting_margins(predict_row)


def check(state: State, settings: Settings) -> None:
    """Refuse weights that go further than steps take them: sums of products with values would not be finite."""
    sizes, weights = state.table[:, :1].astype(float), state.table[:, 1 : 1 + MODELS]
    require((np.abs(sizes * weights) <= LARGEST_EFFECT).all(), "table has weights too large for their features")


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot in the stacked model (exact while no margin is clipped)."""
    return state.table[:, 1 : 1 + MODELS] @ state.stack


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay sums of squares, and what the stack has learnt of A."""
    state.table[:, 1 + MODELS :] /= np.float32(sqrt(kept))
    state.inverse[...] = faded_covariance(state.inverse, kept, 1.0)


def background_state(state: State) -> State:
    """The state of a class that has not come yet: the scales of features and the stack are those of the others."""
    fresh = State(*(array.copy() for array in state))
    fresh.table[:, 1:] = 0.0
    return fresh


def swap_classes(state: State) -> State:
    """The state that exchanged classes would have led to."""
    copies = State(*(array.copy() for array in state))
    copies.table[:, 1 : 1 + MODELS] *= -1
    return copies


def merge(states: list[State], settings: Settings) -> State:
    """Average the weights and the stack of workers by the examples each has seen; sums of squares add up.

    Weights of a worker that has seen smaller values than another are those it would have had it seen the largest.
    """
    seen = np.array([state.counts[0] for state in states])
    share = seen / max(seen.sum(), 1.0)
    merged = State(*(array.copy() for array in states[0]))
    tables = np.stack([state.table for state in states])
    merged.table[:, 0] = tables[:, :, 0].max(axis=0)
    largest = merged.table[:, 0]
    kept = np.divide(tables[:, :, 0], largest, out=np.ones(tables.shape[:2], np.float32), where=largest > 0)
    merged.table[:, 1 : 1 + MODELS] = np.tensordot(share, tables[:, :, 1 : 1 + MODELS] * kept[:, :, None], 1)
    merged.table[:, 1 + MODELS :] = _pooled(tables[:, :, 1 + MODELS :])
    merged.stack[:] = np.tensordot(share, np.stack([state.stack for state in states]), 1)
    learnt = [np.linalg.inv(state.inverse) - np.eye(MODELS) for state in states]  # all began with A = I
    merged.inverse[:] = np.linalg.inv(np.eye(MODELS) + np.sum(learnt, axis=0))
    merged.counts[:2] = np.sum([state.counts[:2] for state in states], axis=0)
    merged.counts[2] = max(state.counts[2] for state in states)
    return merged


def _pooled(inverses: np.ndarray) -> np.ndarray:
    """s^-1/2 of the sum of workers' s (workers, d, 4)."""
    squares = np.zeros(inverses.shape)
    np.divide(1.0, inverses.astype(float) ** 2, out=squares, where=inverses > 0)
    total = squares.sum(axis=0)
    return np.divide(1.0, np.sqrt(total), out=np.zeros(total.shape), where=total > 0)


def _own(state: State) -> tuple[np.ndarray, np.ndarray]:
    """Weights (d, 4) in the features' own units, and sums of squares (d, 4)."""
    table = state.table.astype(float)
    unit, roots = table[:, :1], table[:, 1 + MODELS :]
    weights = np.divide(table[:, 1 : 1 + MODELS], unit, out=np.zeros(roots.shape), where=unit > 0.0)
    return weights, np.divide(1.0, roots**2, out=np.zeros(roots.shape), where=roots > 0.0)


def largest_sizes(state: State) -> np.ndarray:
    """The largest |value| (d,) of each feature, as which a larger one counts in predictions."""
    return np.asarray(state.table[:, 0], float)


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base: weights by the growth of their squares; the stack is averaged."""
    (before, squares), (after, squared) = _own(base), _own(state)
    growth, examples = np.maximum(squared - squares, 0.0), float(state.counts[0] - base.counts[0])
    return {
        "examples": examples,
        "moved": rows_of(np.hstack([growth, growth * (after - before)])),
        "sizes": Peak(state.table[:, 0]),
        "largest": Peak(state.counts[2:]),
        "stack": examples * state.stack,
        "metric": np.linalg.inv(state.inverse) - np.linalg.inv(base.inverse),
        "counts": state.counts[:2] - base.counts[:2],
    }


def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The state of a base and of what workers have learnt beyond it."""
    merged = State(*(array.copy() for array in base))
    if not gains["examples"] > 0.0:
        return merged
    (weights, squares), moved = _own(base), dense(gains["moved"], len(base.table))
    growth, total = moved[:, :MODELS], squares + moved[:, :MODELS]
    weights += np.divide(moved[:, MODELS:], growth, out=np.zeros(growth.shape), where=growth > 0.0)
    merged.table[:, 0] = np.maximum(base.table[:, 0], gains["sizes"].values)
    merged.table[:, 1 : 1 + MODELS] = weights * merged.table[:, :1]
    merged.table[:, 1 + MODELS :] = np.divide(1.0, np.sqrt(total), out=np.zeros(total.shape), where=total > 0.0)
    merged.stack[:] = gains["stack"] / gains["examples"]
    merged.inverse[:] = np.linalg.inv(np.linalg.inv(base.inverse) + gains["metric"])
    merged.counts[:2] += gains["counts"]
    merged.counts[2:] = np.maximum(base.counts[2:], gains["largest"].values)
    return merged
