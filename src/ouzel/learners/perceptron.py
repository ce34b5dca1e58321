"""The perceptron.

Rosenblatt (1958), "The perceptron", Psychological Review 65; for several classes with the best wrong class, Crammer &
Singer (2003), "Ultraconservative Online Algorithms for Multiclass Problems", JMLR 3. On a mistake, s_y <= max s_r,
    w_y <- w_y + x,    w_r <- w_r - x.
An importance weight multiplies the step.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from ouzel._jit import inlined, kernel
from ouzel.learners.multiclass import best_wrong, grown, part, score_row, score_rows

MULTICLASS = True


class State(NamedTuple):
    table: np.ndarray  # (d, classes) float32  w of each slot and class
    counts: np.ndarray  # (2,) float64  examples, updates


class Settings(NamedTuple):
    learning_rate: float = 1.0  # the predictions do not depend on it


def init(features: int, classes: int, settings: Settings) -> State:
    """A state that has seen nothing, with room for so many slots and classes."""
    return State(np.zeros((features, classes), np.float32), np.zeros(2))


def grow(state: State, features: int, classes: int, settings: Settings) -> State:
    """The same state with room for more slots and classes."""
    return State(grown(state.table, features, classes), state.counts)


@inlined
def learn_row(state, indices, values, target, importance, settings, scores):
    """Learn one example in place; `scores` (classes,) takes what was predicted before."""
    score_row(state.table, indices, values, scores)
    wrong = best_wrong(scores, target)
    state.counts[0] += 1.0
    if not scores[target] - scores[wrong] > 0.0 and isfinite(scores[target] - scores[wrong]):
        state.counts[1] += 1.0
        part(state.table, indices, values, target, wrong, importance * settings.learning_rate)


@inlined
def predict_row(state, indices, values, settings, scores):
    """Write the scores (classes,) of one example."""
    score_row(state.table, indices, values, scores)


@kernel
def learn_rows(state, rows, targets, importances, settings, scores):
    """Learn a block; `scores` (n, classes) takes the predictions made before learning each example."""
    for i in range(len(targets)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        learn_row(state, rows.indices[here], rows.values[here], targets[i], importances[i], settings, scores[i])


def predict_rows(state: State, rows: Any, settings: Settings, scores: np.ndarray) -> None:
    """Write the scores (n, classes) of a block."""
    score_rows(state.table, rows, scores)


def weights(state: State, settings: Settings) -> np.ndarray:
    """Weights (slots, classes)."""
    return state.table


def merge(states: list[State], settings: Settings) -> State:
    """Average the weights of workers by the examples each has seen."""
    seen = np.array([state.counts[0] for state in states])
    table = np.tensordot(seen / max(seen.sum(), 1.0), np.stack([state.table for state in states]), 1)
    return State(table.astype(np.float32), np.sum([state.counts for state in states], axis=0))
