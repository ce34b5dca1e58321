"""AROW: adaptive regularisation of weights.

Crammer, Kulesza & Dredze (2009), "Adaptive Regularization of Weight Vectors", NIPS, Figure 1.
The Gaussian over weights has a diagonal covariance, one for all classes (LIBOL's convention, Hoi, Wang & Zhao 2014);
m is the margin of the true class over the best wrong one, v the variance of m. When m < 1,
    beta = 1 / (v + r),    alpha = (1 - m) beta,
    mean <- mean + alpha S x,    S <- S - beta S x x' S.
An importance weight divides r: that many examples at once, were the loss squared.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from ouzel._jit import inlined, kernel
from ouzel.learners.multiclass import best_wrong, grown, pair_variance, part_confidently, score_row, score_rows

MULTICLASS = True


class State(NamedTuple):
    table: np.ndarray  # (d, classes) float32  means of the weights of each slot and class
    variance: np.ndarray  # (d,) float32  diagonal covariance S, one for all classes
    counts: np.ndarray  # (2,) float64  examples, updates


class Settings(NamedTuple):
    regularization: float = 1.0  # r
    prior: float = 1.0  # variance of a margin's weights before any example


def init(features: int, classes: int, settings: Settings) -> State:
    """A state that has seen nothing, with room for so many slots and classes."""
    variance = np.full(features, 0.5 * settings.prior, np.float32)
    return State(np.zeros((features, classes), np.float32), variance, np.zeros(2))


def grow(state: State, features: int, classes: int, settings: Settings) -> State:
    """The same state with room for more slots and classes."""
    more = features - len(state.variance)
    variance = np.pad(state.variance, (0, more), constant_values=np.float32(0.5 * settings.prior))
    return State(grown(state.table, features, classes), variance, state.counts)


@inlined
def _step(margin, spread, importance, settings):
    """alpha and beta"""
    beta = 1.0 / (spread + settings.regularization / importance)
    return (1.0 - margin) * beta, beta


@inlined
def learn_row(state, indices, values, target, importance, settings, scores):
    """Learn one example in place; `scores` (classes,) takes what was predicted before."""
    score_row(state.table, indices, values, scores)
    wrong = best_wrong(scores, target)
    margin = scores[target] - scores[wrong]
    spread = pair_variance(state.variance, indices, values)
    state.counts[0] += 1.0
    if not (isfinite(margin * margin) and 0.0 < spread < 1e30 and importance > 0.0):
        return
    alpha, beta = _step(margin, spread, importance, settings)
    if alpha > 0.0 and isfinite(alpha) and isfinite(beta):
        state.counts[1] += 1.0
        part_confidently(state.table, state.variance, indices, values, target, wrong, alpha, beta)


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
    """Multiply the workers' Gaussians and divide by the prior that each began with: precisions add."""
    prior = 2.0 / settings.prior
    precisions = [1.0 / state.variance.astype(np.float64) for state in states]
    precision = np.maximum(np.sum(precisions, axis=0) - prior * (len(states) - 1), 1e-12)
    table = np.sum([p[:, None] * state.table for p, state in zip(precisions, states, strict=True)], axis=0)
    counts = np.sum([state.counts for state in states], axis=0)
    return State((table / precision[:, None]).astype(np.float32), (1.0 / precision).astype(np.float32), counts)
