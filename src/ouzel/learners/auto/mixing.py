"""A tiny model on top of others: it weighs their margins m by u, which it learns by online Newton steps that forget.

The step is that of Hazan, Agarwal & Kale (2007), "Logarithmic Regret Algorithms for Online Convex Optimization",
Machine Learning 69, Figure 2, with the loss's own curvature: for the prediction f = u.m,
    A <- I + 0.9995 (A - I) + l''(f) m m',    u <- u - l'(f) A^-1 m.
With several classes c there is one u for all of them, and it learns the multinomial loss of the scores f_c = u.m_c:
with p_c the shares exp(f_c) / sum_k exp(f_k), y the true class and m~ = sum_c p_c m_c,
    A <- I + 0.9995 (A - I) + sum_c p_c (m_c - m~)(m_c - m~)',    u <- u - A^-1 (m~ - m_y).
Margins of models that learn the same are much alike, so it is A that is kept and not its inverse, which over many
examples would lose its sign to rounding; each step solves one small system by Cholesky's method.
"""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source
from ouzel.kernels.vectors import dot
from ouzel.layout import float64, require

KEPT = 0.9995
FURTHEST = 1e100  # no number of a file goes further: sums of products stay finite
LEAST_CURVATURE = 1e-3
ROUNDING = 1e-9  # of the largest eigenvalue
LEAST_SHARE = 1e-4  # of a class that is worth its time in A


class Mixture(NamedTuple):
    weights: np.ndarray  # (E,) float64  u
    curvature: np.ndarray  # (E, E) float64  A


def layout(models: int) -> Any:
    """What the mixture of so many models is made of."""
    bounds = {"least": -FURTHEST, "most": FURTHEST}
    return Mixture(float64(models, fill=1.0 / models, **bounds), float64(models, models, diagonal=1.0, **bounds))


def check(mixture: Mixture) -> None:
    """Refuse a curvature below the one it began with, I: its steps would have no bound."""
    lower = np.tril(mixture.curvature, -1)
    values = np.linalg.eigvalsh(lower + lower.T + np.diag(np.diag(mixture.curvature)))
    require(values[0] >= 1.0 - ROUNDING * max(values[-1], 1.0), "curvature of the mixture is not one")


@force_inline
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


@inline_source
def fade(mixture):
    """A <- I + 0.9995 (A - I)"""
    for e in range(len(mixture.weights)):
        for f in range(e + 1):
            mixture.curvature[e, f] *= KEPT
        mixture.curvature[e, e] += 1.0 - KEPT


@inline_source
def bend(mixture, margins, curvature):
    """A <- A + curvature m m', in its lower half."""
    for e in range(len(margins)):
        factor = curvature * margins[e]
        for f in range(e + 1):
            mixture.curvature[e, f] += factor * margins[f]


@inline_source
def follow(mixture, root, step, direction, size):
    """u <- u - size A^-1 direction, by A = L D L'; `root` (E, E) takes L below, L D above and D^-1 on its diagonal.

    `step` (E,) is room to work in.
    """
    models = len(mixture.weights)
    for e in range(models):
        for f in range(e):
            total = mixture.curvature[e, f]
            for g in range(f):
                total -= root[g, e] * root[f, g]
            root[f, e], root[e, f] = total, total * root[f, f]
        pivot, total = mixture.curvature[e, e], direction[e]
        for g in range(e):
            pivot -= root[g, e] * root[e, g]
            total -= root[e, g] * step[g]
        root[e, e], step[e] = 1.0 / max(pivot, 1.0), total
    for e in range(models - 1, -1, -1):
        step[e] *= root[e, e]
        for g in range(e + 1, models):
            step[e] -= root[g, e] * step[g]
        mixture.weights[e] -= size * step[e]


@inline_source
def learn_mixture(mixture, margins, root, step, slope, curvature):
    """Learn from the first two derivatives of the loss of u.m."""
    fade(mixture)
    bend(mixture, margins, max(curvature, LEAST_CURVATURE))
    follow(mixture, root, step, margins, slope)


@inline_source
def learn_joint_mixture(mixture, margins, root, step, slope, shares, target, weight):
    """Learn the multinomial loss; `margins` (E, K) are centred on the way, `shares` (K,) are of the scores."""
    fade(mixture)
    for e in range(len(mixture.weights)):
        mean = dot(shares, margins[e])
        for c in range(len(shares)):
            margins[e, c] -= mean
        slope[e] = -margins[e, target]
    for c in range(len(shares)):
        if shares[c] > LEAST_SHARE:
            bend(mixture, margins[:, c], weight * max(shares[c], LEAST_CURVATURE))
    follow(mixture, root, step, slope, weight)
