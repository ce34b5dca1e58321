"""Weights of several predictions by their regrets, for any convex loss: nothing to tune.

Gaillard, Stoltz & van Erven (2014), "A Second-order Bound with Excess Losses", COLT: ML-Poly. The prediction is
f = sum_k p_k f_k. With g the slope of the loss at f, the regret of not having followed expert k is r_k = g (f - f_k),
which is at least what the loss of f exceeds that of f_k by; where g is 0, as where a median is just the label, it is
that. With R_k the sum of r_k, V_k that of their squares, and B the largest square of all,
    p_k = max(R_k, 0) / (B + V_k), over their sum.
The R of the first expert has a multiple of the root of B on top: it has all the weight at first, and the others must
earn theirs.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import inline_source
from ouzel.layout import float64
from ouzel.learners.gains.parts import Gains, Peak
from ouzel.terms.losses import derivative, value

FURTHEST = 1e100  # no regret goes further: ratios stay finite
LEAST = 1e-200  # of what a regret is divided by


class Regrets(NamedTuple):
    sums: np.ndarray  # (E,) float64  R
    squares: np.ndarray  # (E,) float64  V
    largest: np.ndarray  # (1,) float64  B


def layout(experts: int) -> Any:
    """What the regrets of so many experts are made of."""
    sums = float64(experts, least=-FURTHEST, most=FURTHEST)
    return Regrets(sums, float64(experts, least=0.0), float64(1, least=0.0))


@inline_source
def weigh(regrets, lead, weights):
    """Write p to `weights` (E,); the first expert is ahead by `lead` times the largest regret."""
    total, ahead = 0.0, lead * sqrt(regrets.largest[0])
    for k in range(len(weights)):
        regret = regrets.sums[k] + (ahead if k == 0 else 0.0)
        weights[k] = max(regret, 0.0) / max(regrets.largest[0] + regrets.squares[k], LEAST)
        total += weights[k]
    for k in range(len(weights)):
        weights[k] = weights[k] / total if total > 0.0 else 1.0 * (k == 0)


@inline_source
def learn_regrets(regrets, loss, experts, found, target, weight):
    """Learn what the experts (E,) said, where `found` was predicted."""
    slope, before = derivative(loss, found, target), value(loss, found, target)
    for k in range(len(experts)):
        regret = weight * (slope * (found - experts[k]) if slope != 0.0 else before - value(loss, experts[k], target))
        square = regret * regret
        if square < FURTHEST:
            regrets.sums[k] = min(max(regrets.sums[k] + regret, -FURTHEST), FURTHEST)
            regrets.squares[k] = min(regrets.squares[k] + square, FURTHEST)
            regrets.largest[0] = max(regrets.largest[0], square)


def fade(regrets: Regrets, kept: float) -> None:
    """Have earlier examples count for less."""
    regrets.sums[...] *= kept
    regrets.squares[...] *= kept


def weights_of(regrets: Regrets, lead: float) -> np.ndarray:
    """p"""
    weights = np.empty(len(regrets.sums))
    getattr(weigh, "py_func", weigh)(regrets, lead, weights)
    return weights


def gains(base: Regrets, state: Regrets) -> Gains:
    """What a worker has learnt of the experts beyond its base."""
    return {"sums": np.stack(state[:2]) - np.stack(base[:2]), "largest": Peak(state.largest)}


def onto(base: Regrets, gains: Gains) -> Regrets:
    """The regrets of a base and of workers."""
    sums, squares = np.stack(base[:2]) + gains["sums"]
    return Regrets(sums, np.maximum(squares, 0.0), np.maximum(base.largest, gains["largest"].values))
