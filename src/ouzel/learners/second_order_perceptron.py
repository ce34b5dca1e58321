"""The second-order perceptron.

Cesa-Bianchi, Conconi & Gentile (2005), "A Second-Order Perceptron Algorithm", SIAM Journal on Computing 34, Figure 3.1;
the correlation matrix A diagonal, one for all classes. Scores take in the example itself; on a mistake
    s_k = sum_j v_jk x_j / (A_j + x_j^2),    v_y <- v_y + x,    v_r <- v_r - x,    A <- A + x^2.
An importance weight multiplies the step of v.
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np

from ouzel._jit import inlined, kernel
from ouzel.learners.multiclass import best_wrong, grown, part

MULTICLASS = True


class State(NamedTuple):
    table: np.ndarray  # (d, classes) float32  v of each slot and class
    energy: np.ndarray  # (d,) float32  A
    counts: np.ndarray  # (2,) float64  examples, updates


class Settings(NamedTuple):
    damping: float = 1.0  # a, the diagonal of A to begin with


def init(features: int, classes: int, settings: Settings) -> State:
    """A state that has seen nothing, with room for so many slots and classes."""
    energy = np.full(features, settings.damping, np.float32)
    return State(np.zeros((features, classes), np.float32), energy, np.zeros(2))


def grow(state: State, features: int, classes: int, settings: Settings) -> State:
    """The same state with room for more slots and classes."""
    more = features - len(state.energy)
    energy = np.pad(state.energy, (0, more), constant_values=np.float32(settings.damping))
    return State(grown(state.table, features, classes), energy, state.counts)


@inlined
def predict_row(state, indices, values, settings, scores):
    """Write the scores (classes,) of one example."""
    for c in range(len(scores)):
        scores[c] = 0.0
    for k in range(len(indices)):
        row = state.table[indices[k]]
        scale = state.energy[indices[k]] + values[k] * values[k]
        x = values[k] / scale if scale > 0.0 else 0.0
        for c in range(len(scores)):
            scores[c] += x * row[c]


@inlined
def learn_row(state, indices, values, target, importance, settings, scores):
    """Learn one example in place; `scores` (classes,) takes what was predicted before."""
    predict_row(state, indices, values, settings, scores)
    wrong = best_wrong(scores, target)
    state.counts[0] += 1.0
    if not scores[target] - scores[wrong] > 0.0 and isfinite(scores[target] - scores[wrong]):
        state.counts[1] += 1.0
        part(state.table, indices, values, target, wrong, importance)
        for k in range(len(indices)):
            grown_by = min(values[k] * values[k], np.float32(1e30))
            state.energy[indices[k]] = min(state.energy[indices[k]] + grown_by, np.float32(1e30))


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
    """Weights (slots, classes), the example's own part of A left out."""
    return state.table / np.maximum(state.energy, 1e-30)[:, None]


def merge(states: list[State], settings: Settings) -> State:
    """Add up what the workers summed: v exactly, A less the damping that each began with."""
    energy = np.sum([state.energy for state in states], axis=0) - (len(states) - 1) * settings.damping
    table = np.sum([state.table for state in states], axis=0)
    return State(table, energy.astype(np.float32), np.sum([state.counts for state in states], axis=0))
