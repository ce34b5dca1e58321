"""A tiny model on top of others: it weighs their margins m by u, which it learns by online Newton steps that forget.

The step is that of Hazan, Agarwal & Kale (2007), "Logarithmic Regret Algorithms for Online Convex Optimization",
Machine Learning 69, Figure 2, with the loss's own curvature: for the prediction f = u.m,
    A <- A + l''(f) m m',    u <- u - l'(f) A^-1 m,
where A forgets by 0.9995 an example, as long as the diagonal of its inverse is below 1, what it began with. With
several classes c there is one u for all of them, and it learns the multinomial loss of the scores f_c = u.m_c: with p_c
the shares exp(f_c) / sum_k exp(f_k), y the true class and m~ = sum_c p_c m_c,
    A <- A + sum_c p_c (m_c - m~)(m_c - m~)',    u <- u - A^-1 (m~ - m_y).
"""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import inlined
from ouzel.layout import float64

KEPT = 0.9995
LEAST_CURVATURE = 1e-3
LEAST_SHARE = 1e-4  # of a class that is worth its time in A


class Mixture(NamedTuple):
    weights: np.ndarray  # (E,) float64  u
    inverse: np.ndarray  # (E, E) float64  A^-1


def layout(models: int) -> Any:
    """What the mixture of so many models is made of."""
    return Mixture(float64(models, fill=1.0 / models), float64(models, models, diagonal=1.0))


@inlined
def dot(a, b):
    """a.b"""
    total = 0.0
    for e in range(len(a)):
        total += a[e] * b[e]
    return total


@inlined
def softmax(scores, shares):
    """Write exp(scores) / their sum to `shares`."""
    most, total = scores[0], 0.0
    for c in range(len(scores)):
        most = max(most, scores[c])
    for c in range(len(scores)):
        shares[c] = exp(scores[c] - most)
        total += shares[c]
    for c in range(len(scores)):
        shares[c] /= total


@inlined
def fade(mixture):
    """A <- 0.9995 A, if that leaves the diagonal of its inverse below 1."""
    most = 0.0
    for e in range(len(mixture.weights)):
        most = max(most, mixture.inverse[e, e])
    if most < KEPT:
        for e in range(len(mixture.weights)):
            for f in range(len(mixture.weights)):
                mixture.inverse[e, f] /= KEPT


@inlined
def bend(mixture, step, margins, curvature):
    """A <- A + curvature m m', by the rule of Sherman and Morrison; `step` (E,) is room to work in."""
    for e in range(len(step)):
        step[e] = dot(mixture.inverse[e], margins)
    square = dot(step, margins)
    if square > 0.0:  # m' A^-1 m is not, but for rounding, where A has grown beyond what double precision inverts
        ratio = curvature / (1.0 + curvature * square)
        for e in range(len(step)):
            for f in range(len(step)):
                mixture.inverse[e, f] -= ratio * step[e] * step[f]


@inlined
def follow(mixture, step, direction, size):
    """u <- u - size A^-1 direction"""
    for e in range(len(step)):
        step[e] = dot(mixture.inverse[e], direction)
    for e in range(len(step)):
        mixture.weights[e] -= size * step[e]


@inlined
def learn_mixture(mixture, step, margins, slope, curvature):
    """Learn from the first two derivatives of the loss of u.m."""
    fade(mixture)
    bend(mixture, step, margins, max(curvature, LEAST_CURVATURE))
    follow(mixture, step, margins, slope)


@inlined
def learn_joint_mixture(mixture, work, margins, shares, target, weight):
    """Learn the multinomial loss; `margins` (K, E) are centred on the way, `shares` (K,) are those of the scores."""
    fade(mixture)
    for e in range(len(mixture.weights)):
        mean = 0.0
        for c in range(len(shares)):
            mean += shares[c] * margins[c, e]
        for c in range(len(shares)):
            margins[c, e] -= mean
        work.slope[e] = -margins[target, e]
    for c in range(len(shares)):
        if shares[c] > LEAST_SHARE:
            bend(mixture, work.step, margins[c], weight * max(shares[c], LEAST_CURVATURE))
    follow(mixture, work.step, work.slope, weight)


def merged(parts: list[Mixture], share: np.ndarray) -> Mixture:
    """Average the weights by share, and add up A of the workers that have learnt."""
    weights = np.tensordot(share, np.stack([part.weights for part in parts]), 1)
    heard = [np.linalg.inv(part.inverse) for part, part_share in zip(parts, share, strict=True) if part_share > 0.0]
    return Mixture(weights, np.linalg.inv(np.sum(heard or [np.eye(len(weights))], axis=0)))
