"""A tiny model on top of others: it weighs their margins m by u, which it learns by online Newton steps that forget.

The step is that of Hazan, Agarwal & Kale (2007), "Logarithmic Regret Algorithms for Online Convex Optimization",
Machine Learning 69, Figure 2, with the loss's own curvature: for the prediction f = u.m,
    A <- I + 0.9995 (A - I) + l''(f) m m',    u <- u - l'(f) A^-1 m.
With several classes c there is one u for all of them, and it learns the multinomial loss of the scores f_c = u.m_c:
with p_c the shares exp(f_c) / sum_k exp(f_k), y the true class and m~ = sum_c p_c m_c,
    A <- I + 0.9995 (A - I) + sum_c p_c (m_c - m~)(m_c - m~)',    u <- u - A^-1 (m~ - m_y).
Margins of models that learn the same are much alike, so it is A that is kept and not its inverse, which over many
examples would lose its sign to rounding; each step solves one small system by Cholesky's method.

The room to work in stands here, too: what is computed of one example, by name. It is made for each block, and is not a
part of a state. E is the number of models and K that of classes. Numbers of the models are views of one array.
"""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source, kernel
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


MODELS_OF_TWO, MODELS_OF_SEVERAL, MODELS_OF_NUMBERS = 6, 6, 3  # models of two classes, of several, and of numbers
MOST_MEMBERS = 128  # of the block
EXPERTS = 5  # of numbers by other losses, beside the models


class OfTwo(NamedTuple):
    """What models of two classes say, and what weighs them."""

    margins: np.ndarray  # (E,) float64  cut
    chances: np.ndarray  # (E + 1,) float64  of class 1, by each model and by the mixture
    step: np.ndarray  # (E,) float64  of the mixture
    root: np.ndarray  # (E, E) float64  of the mixture's curvature


class OfSeveral(NamedTuple):
    """What models of several classes say, and what weighs them."""

    scores: np.ndarray  # (E, K) float64
    margins: np.ndarray  # (E, K) float64  cut, and centred in learning
    chances: np.ndarray  # (E + 1, K) float64  by each model and by the mixture
    slopes: np.ndarray  # (K,) float64  of a model's loss
    pushes: np.ndarray  # (K,) float64  sums of z^2 s^-1/2
    shares: np.ndarray  # (K,) float64  softmax of a model's scores
    steps: np.ndarray  # (K,) float64  of a model
    told: np.ndarray  # (E + 1,) float64  chances of the true class
    direction: np.ndarray  # (E,) float64  slope of the mixture's loss
    step: np.ndarray  # (E,) float64  of the mixture
    root: np.ndarray  # (E, E) float64  of the mixture's curvature


class OfNumbers(NamedTuple):
    """What models of numbers say, and what weighs them."""

    margins: np.ndarray  # (E,) float64  cut
    step: np.ndarray  # (E,) float64  of the mixture
    root: np.ndarray  # (E, E) float64  of the mixture's curvature
    experts: np.ndarray  # (E + 5,) float64  by other losses: what the experts say
    believed: np.ndarray  # (E + 5,) float64  how far


class Work(NamedTuple):
    slots: np.ndarray  # (d,) uint32  slots of an example as the models see it
    values: np.ndarray  # (d,) float32  their z
    raw: np.ndarray  # (d,) float32  x of the dense features, by place
    high: np.ndarray  # (1,) bool  whether any of these may be far off
    chosen: np.ndarray  # (128,) int64  places of the members of the block that are in an example
    z: np.ndarray  # (128,) float64  z of the members
    v: np.ndarray  # (128,) float64  the block's direction
    models: Any  # one of the above


@kernel
def _room(state, numbers, models):
    """Work for a state, whose z and v are the first two rows of `numbers`."""
    d, chosen, high = len(state.table), np.empty(MOST_MEMBERS, np.int64), np.zeros(1, np.bool_)
    slots, values, raw = np.empty(d, np.uint32), np.empty(d, np.float32), np.empty(d, np.float32)
    return Work(slots, values, raw, high, chosen, numbers[0], numbers[1], models)


@kernel
def room_for_two(state):
    """Room to work in for a state of two classes, or of the models of two classes."""
    numbers = np.empty((5 + MODELS_OF_TWO, MOST_MEMBERS))
    models = OfTwo(
        margins=numbers[2, :MODELS_OF_TWO],
        chances=numbers[3, : MODELS_OF_TWO + 1],
        step=numbers[4, :MODELS_OF_TWO],
        root=numbers[5:, :MODELS_OF_TWO],
    )
    return _room(state, numbers, models)


@kernel
def room_for_several(state):
    """Room to work in for a state of several classes."""
    classes = state.table.shape[2]
    numbers = np.empty((10 + 4 * MODELS_OF_SEVERAL, max(MOST_MEMBERS, classes)))
    models = OfSeveral(
        slopes=numbers[2, :classes],
        pushes=numbers[3, :classes],
        shares=numbers[4, :classes],
        steps=numbers[5, :classes],
        told=numbers[6, : MODELS_OF_SEVERAL + 1],
        direction=numbers[7, :MODELS_OF_SEVERAL],
        step=numbers[8, :MODELS_OF_SEVERAL],
        root=numbers[9 : 9 + MODELS_OF_SEVERAL, :MODELS_OF_SEVERAL],
        scores=numbers[9 + MODELS_OF_SEVERAL : 9 + 2 * MODELS_OF_SEVERAL, :classes],
        margins=numbers[9 + 2 * MODELS_OF_SEVERAL : 9 + 3 * MODELS_OF_SEVERAL, :classes],
        chances=numbers[9 + 3 * MODELS_OF_SEVERAL :, :classes],
    )
    return _room(state, numbers, models)


@kernel
def room_for_numbers(state):
    """Room to work in for a state of numbers."""
    numbers = np.empty((6 + MODELS_OF_NUMBERS, MOST_MEMBERS))
    models = OfNumbers(
        margins=numbers[2, :MODELS_OF_NUMBERS],
        step=numbers[3, :MODELS_OF_NUMBERS],
        experts=numbers[4, : EXPERTS + MODELS_OF_NUMBERS],
        believed=numbers[5, : EXPERTS + MODELS_OF_NUMBERS],
        root=numbers[6:, :MODELS_OF_NUMBERS],
    )
    return _room(state, numbers, models)
