"""The online Newton step by element-wise multiplication.

"Modified online Newton step based on element-wise multiplication", Algorithm 1. The printed formulas (4)-(7) do not fit
together; this is the reading that comes nearest to the published tables and is a descent step: with scores s = Wx, when
s_y - max s_r < 1 the true class (sign +1) and the best wrong one (sign -1) are updated, each with
    f = 1 / (1 + exp(-sign s_k)),    b = -sign f (1 - f) x + lambda w_k    (5),
    A = f (1 - f) + lambda > 0    (6, with unit vectors in the place of x^2),    w_k <- w_k - b / (2 sqrt(t) A).
The decay lambda w_k reaches every weight of the class, features of the example or not, by the same factor: it is kept
as a scale of the class, so that a round costs the example's non-zeros alone. An importance weight multiplies the step.
"""

from __future__ import annotations

from math import exp, isfinite, sqrt
from typing import NamedTuple

import numpy as np

from ouzel._jit import inlined, kernel
from ouzel.learners.multiclass import best_wrong, grown, score_row

MULTICLASS = True


class State(NamedTuple):
    table: np.ndarray  # (d, classes) float32  w over the scale of its class
    scale: np.ndarray  # (classes,) float64
    counts: np.ndarray  # (2,) float64  examples, updates


class Settings(NamedTuple):
    regularization: float = 0.001  # lambda
    learning_rate: float = 0.5  # eta_t is this over sqrt(t)


SMALLEST_SCALE = 1e-6


def init(features: int, classes: int, settings: Settings) -> State:
    """A state that has seen nothing, with room for so many slots and classes."""
    return State(np.zeros((features, classes), np.float32), np.ones(classes), np.zeros(2))


def grow(state: State, features: int, classes: int, settings: Settings) -> State:
    """The same state with room for more slots and classes."""
    scale = np.pad(state.scale, (0, classes - len(state.scale)), constant_values=1.0)
    return State(grown(state.table, features, classes), scale, state.counts)


@inlined
def predict_row(state, indices, values, settings, scores):
    """Write the scores (classes,) of one example."""
    score_row(state.table, indices, values, scores)
    for c in range(len(scores)):
        scores[c] *= state.scale[c]


@inlined
def learn_row(state, indices, values, target, importance, settings, scores):
    """Learn one example in place; `scores` (classes,) takes what was predicted before."""
    predict_row(state, indices, values, settings, scores)
    wrong = best_wrong(scores, target)
    state.counts[0] += 1.0
    gap = scores[target] - scores[wrong]
    if not gap < 1.0 or not isfinite(gap):
        return
    state.counts[1] += 1.0
    step = importance * settings.learning_rate / sqrt(state.counts[0])
    _newton(state, indices, values, target, 1.0, scores[target], step, settings)
    _newton(state, indices, values, wrong, -1.0, scores[wrong], step, settings)


@inlined
def _newton(state, indices, values, c, sign, score, step, settings):
    """Update one class."""
    small = exp(-abs(score))
    bend = small / (1.0 + small) ** 2  # f (1 - f)
    newton = step / (bend + settings.regularization)
    state.scale[c] *= max(1.0 - newton * settings.regularization, SMALLEST_SCALE)
    if state.scale[c] < SMALLEST_SCALE:
        for slot in range(state.table.shape[0]):
            state.table[slot, c] *= state.scale[c]
        state.scale[c] = 1.0
    change = sign * newton * bend / state.scale[c]
    for k in range(len(indices)):
        state.table[indices[k], c] += np.float32(change * values[k])


@kernel
def learn_rows(state, rows, targets, importances, settings, scores):
    """Learn a block; `scores` (n, classes) takes the predictions made before learning each example."""
    for i in range(len(targets)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        learn_row(state, rows.indices[here], rows.values[here], targets[i], importances[i], settings, scores[i])


@kernel
def predict_rows(state, rows, settings, scores):
    """Write the scores (n, classes) of a block."""
    for i in range(len(scores)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        predict_row(state, rows.indices[here], rows.values[here], settings, scores[i])


def weights(state: State, settings: Settings) -> np.ndarray:
    """Weights (slots, classes)."""
    return (state.table * state.scale).astype(np.float32)


def merge(states: list[State], settings: Settings) -> State:
    """Average the weights of workers by the examples each has seen."""
    seen = np.array([state.counts[0] for state in states])
    table = np.tensordot(seen / max(seen.sum(), 1.0), np.stack([weights(s, settings) for s in states]), 1)
    counts = np.sum([state.counts for state in states], axis=0)
    return State(table.astype(np.float32), np.ones_like(states[0].scale), counts)
