"""ROMMA, the relaxed online maximum margin algorithm, and its aggressive form.

Li & Long (2002), "The Relaxed Online Maximum Margin Algorithm", Machine Learning 46, section 3. With z the pair's
feature vector (x for the true class, -x for the best wrong one), n = 2 x'x, N = ||W||^2 and m = W.z, on a mistake
(m <= 0; aggressive: m < 1)
    W <- c W + d z,    c = (n N - m) / (n N - m^2),    d = N (1 - m) / (n N - m^2);    the first time W <- z / n.
Multiplying by c is a scale for all classes. Importance weights have no meaning in the rule beyond 0, which leaves an
example out.
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np

from ouzel._jit import inlined, kernel
from ouzel.learners.multiclass import best_wrong, grown, part, score_row, square_norm

MULTICLASS = True


SMALLEST_SCALE = 1e-6


class State(NamedTuple):
    table: np.ndarray  # (d, classes) float32  W over the scale
    counts: np.ndarray  # (4,) float64  examples, updates, scale, ||W||^2


class Settings(NamedTuple):
    aggressive: float = 0.0


def init(features: int, classes: int, settings: Settings) -> State:
    """A state that has seen nothing, with room for so many slots and classes."""
    return State(np.zeros((features, classes), np.float32), np.array([0.0, 0.0, 1.0, 0.0]))


def grow(state: State, features: int, classes: int, settings: Settings) -> State:
    """The same state with room for more slots and classes."""
    return State(grown(state.table, features, classes), state.counts)


@inlined
def predict_row(state, indices, values, settings, scores):
    """Write the scores (classes,) of one example."""
    score_row(state.table, indices, values, scores)
    for c in range(len(scores)):
        scores[c] *= state.counts[2]


@inlined
def learn_row(state, indices, values, target, importance, settings, scores):
    """Learn one example in place; `scores` (classes,) takes what was predicted before."""
    predict_row(state, indices, values, settings, scores)
    wrong = best_wrong(scores, target)
    margin = scores[target] - scores[wrong]
    norm = 2.0 * square_norm(values)
    state.counts[0] += 1.0
    mistaken = margin < 1.0 if settings.aggressive != 0.0 else not margin > 0.0
    if not (mistaken and isfinite(margin) and 0.0 < norm < 1e30 and importance > 0.0):
        return
    keep, step = 1.0, 1.0 / norm
    if state.counts[3] > 0.0:
        below = norm * state.counts[3] - margin * margin
        if below <= 1e-12 * norm * state.counts[3]:
            return
        keep = (norm * state.counts[3] - margin) / below
        step = state.counts[3] * (1.0 - margin) / below
    state.counts[1] += 1.0
    state.counts[2] *= keep
    state.counts[3] = keep * keep * state.counts[3] + 2.0 * keep * step * margin + step * step * norm
    if not SMALLEST_SCALE < state.counts[2] < 1.0 / SMALLEST_SCALE:
        for slot in range(state.table.shape[0]):
            for c in range(state.table.shape[1]):
                state.table[slot, c] *= state.counts[2]
        state.counts[2] = 1.0
    part(state.table, indices, values, target, wrong, step / state.counts[2])


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
    return (state.table * state.counts[2]).astype(np.float32)


def merge(states: list[State], settings: Settings) -> State:
    """Average the weights of workers by the examples each has seen."""
    seen = np.array([state.counts[0] for state in states])
    table = np.tensordot(seen / max(seen.sum(), 1.0), np.stack([weights(s, settings) for s in states]), 1)
    counts = np.array([seen.sum(), sum(s.counts[1] for s in states), 1.0, float((table**2).sum())])
    return State(table.astype(np.float32), counts)
