"""Confidence-weighted learning, exact (CW) and soft (SCW-I, SCW-II).

Crammer, Dredze & Pereira (2008), "Exact Convex Confidence-Weighted Learning", NIPS; Wang, Zhao & Hoi (2012), "Exact
Soft Confidence-Weighted Learning", ICML, propositions 1 and 2.
The Gaussian over weights has a diagonal covariance, one for all classes (LIBOL's convention, Hoi, Wang & Zhao 2014);
m is the margin of the true class over the best wrong one, v the variance of m.
The new Gaussian is the nearest (in Kullback-Leibler divergence) for which the margin is positive with the
probability eta, phi its normal quantile; SCW allows slack at the price C, linear (I) or squared (II):
    mean <- mean + alpha S x,    S <- S - beta S x x' S,
    alpha of CW    = [-m psi + sqrt(m^2 phi^4 / 4 + v phi^2 xi)]_+ / (v xi),   psi = 1 + phi^2 / 2, xi = 1 + phi^2
    alpha of SCW-I = min(C, that)
    alpha of SCW-II = [-(2 m n + phi^2 m v) + phi sqrt(phi^2 m^2 v^2 + 4 n v (n + v phi^2))]_+ / (2 (n^2 + n v phi^2)),
                      n = v + 1 / (2 C)
    beta = alpha phi / (sqrt(u) + v alpha phi),   sqrt(u) = (-alpha v phi + sqrt(alpha^2 v^2 phi^2 + 4 v)) / 2.
An importance weight multiplies C; CW has no use for one but 0.
"""

from __future__ import annotations

from math import isfinite, log, sqrt
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
    confidence: float = 0.75  # eta, above one half
    aggressiveness: float = 1.0  # C
    variant: float = 0.0  # 0: CW, 1: SCW-I, 2: SCW-II
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
def normal_quantile(probability):
    """The standard normal's quantile above one half, to 4.5e-4 (Abramowitz & Stegun 26.2.23)."""
    t = sqrt(-2.0 * log(1.0 - probability))
    top = 2.515517 + t * (0.802853 + t * 0.010328)
    return t - top / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)))


@inlined
def _step(margin, spread, importance, settings):
    """alpha and beta"""
    phi = normal_quantile(settings.confidence)
    square = phi * phi
    c = settings.aggressiveness * importance
    if settings.variant == 2.0:
        n = spread + 0.5 / c
        root = phi * sqrt(square * margin**2 * spread**2 + 4.0 * n * spread * (n + spread * square))
        alpha = (root - (2.0 * margin * n + square * margin * spread)) / (2.0 * (n * n + n * spread * square))
    else:
        root = sqrt(margin**2 * square**2 / 4.0 + spread * square * (1.0 + square))
        alpha = (root - margin * (1.0 + square / 2.0)) / (spread * (1.0 + square))
        if settings.variant == 1.0:
            alpha = min(alpha, c)
    if alpha <= 0.0:
        return 0.0, 0.0
    deviation = 0.5 * (sqrt((alpha * spread * phi) ** 2 + 4.0 * spread) - alpha * spread * phi)
    return alpha, alpha * phi / (deviation + spread * alpha * phi)


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
