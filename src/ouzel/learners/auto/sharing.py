"""Which of several probabilities to believe: exponential weights that share a little with all, example by example.

The mixture of models (`mixing.py`) is best in the long run, one model alone where examples are few or just changed. So
the mixture, and each model e by its own margins m_e times a scale a_e, give probabilities p_k, and the prediction is
sum_k q_k p_k. The weights q follow the Fixed Share of Herbster & Warmuth (1998), "Tracking the Best Expert", Machine
Learning 32, for the logarithmic loss of the true class y, with alpha = 0.001:
    q_k <- (1 - alpha) q_k p_k(y) / sum_l q_l p_l(y) + alpha / number of them.
A scale learns the logistic or multinomial loss of a_e m_e by a Newton step that forgets as the mixture does.

By another loss of classes than the logistic one the same is learnt, and the class predicted is the same. What differs
is the unit of the margins: half the log odds, times a number u. With m half the log odds of the true class against the
best other one, and l the loss of a margin for the target 1, u learns l(u m) by such a step, too; where the square of
the slope of l is larger than its curvature, it stands for that. It begins at 1 and stays positive. Half the log odds
are the margins of the smallest exponential loss (Friedman, Hastie & Tibshirani, 2000, "Additive Logistic Regression",
The Annals of Statistics 28), which is near those of hinges where classes overlap.
"""

from __future__ import annotations

from math import exp, isfinite, log
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import dispatch, force_inline, inline_source
from ouzel.kernels.vectors import dot
from ouzel.layout import float64
from ouzel.learners.auto import mixing
from ouzel.learners.auto.mixing import FURTHEST, KEPT, LEAST_CURVATURE, Mixture, softmax
from ouzel.terms.losses import Logistic, curvature, derivative
from ouzel.terms.multiclass_losses import rival_of

ALPHA = 1e-3
LEAST = 1e-300  # of a probability whose logarithm is taken
LEAST_SCALE = 1e-3  # of margins by another loss
MOST_WEIGHT = 10.0  # of an example
MOST_IMPORTANCE = 1e6  # one example counts for no more, in any part


class Shares(NamedTuple):
    weights: np.ndarray  # (E + 1,) float64  q, that of the mixture last
    scales: np.ndarray  # (E,) float64  a
    curvatures: np.ndarray  # (E,) float64  of the loss, 1 at first


def layout(models: int) -> Any:
    """What the shares of so many models and their mixture are made of."""
    return Shares(
        weights=float64(models + 1, fill=1.0 / (models + 1), least=0.5 * ALPHA / (models + 1), most=1.0),
        scales=float64(models, fill=1.0, least=-FURTHEST, most=FURTHEST),
        curvatures=float64(models, fill=1.0, least=1.0 - 1e-9),
    )


@force_inline
def logistic(margin):
    """1 / (1 + exp(-margin)), and what it lacks of 1."""
    small = exp(-abs(margin))
    most = 1.0 / (1.0 + small)
    return (most, small * most) if margin > 0.0 else (small * most, most)


@force_inline
def imbalance(first, second, balanced):
    """Return the factor for steps, given the importance of each class: |log odds| / `balanced`, but at least 1."""
    return max(1.0, abs(log((second + 1.0) / (first + 1.0))) / balanced)


@inline_source
def margin_of(shares, mixture, margins, chances):
    """The logarithm of the odds of two classes, from `margins` (E,); `chances` (E + 1,) take the probabilities."""
    up = down = 0.0
    for e in range(len(margins) + 1):
        margin = shares.scales[e] * margins[e] if e < len(margins) else dot(mixture.weights, margins)
        yes, no = logistic(margin)
        chances[e] = yes
        up += shares.weights[e] * yes
        down += shares.weights[e] * no
    return log(max(up, LEAST) / max(down, LEAST))


@inline_source
def learn_shares(shares, margins, chances, target, weight):
    """Learn the true one (0 or 1) of two classes from `chances`, the probabilities of class 1."""
    for k in range(len(chances)):
        p = chances[k]
        if k < len(margins):
            margin = margins[k]
            _learn_scale(
                shares.scales, shares.curvatures, k, (p - target) * margin, p * (1.0 - p) * margin * margin, weight
            )
        chances[k] = p if target > 0.0 else 1.0 - p
    _follow(shares, chances, weight)


@inline_source
def scores_of(shares, mixture, margins, chances, out):
    """Write the logarithms of the probabilities of several classes to `out` (K,), from `margins` (E, K).

    `chances` (E + 1, K) take the probabilities by each model, and by the mixture.
    """
    models = len(shares.scales)
    for c in range(len(out)):
        chances[models, c] = dot(mixture.weights, margins[:, c])
    for k in range(models + 1):
        for c in range(len(out) if k < models else 0):
            chances[k, c] = shares.scales[k] * margins[k, c]
        softmax(chances[k], chances[k])
    for c in range(len(out)):
        out[c] = log(max(dot(shares.weights, chances[:, c]), LEAST))


@inline_source
def learn_joint_shares(shares, margins, chances, told, target, weight):
    """Learn the true one of several classes; `told` (E + 1,) is room to work in."""
    for k in range(len(told)):
        told[k] = chances[k, target]
        if k < len(shares.scales):
            mean = square = 0.0
            for c in range(chances.shape[1]):
                score = margins[k, c]
                mean += chances[k, c] * score
                square += chances[k, c] * score * score
            _learn_scale(shares.scales, shares.curvatures, k, mean - margins[k, target], square - mean * mean, weight)
    _follow(shares, told, weight)


@inline_source
def _learn_scale(scales, curvatures, place, slope, curvature, weight):
    """One Newton step of a scale, by the first two derivatives of the loss with respect to it."""
    before = 1.0 + KEPT * (curvatures[place] - 1.0)
    curvatures[place] = before + weight * max(curvature, LEAST_CURVATURE)
    scales[place] -= weight * slope / curvatures[place]


@inline_source
def _follow(shares, told, weight):
    """Shift weight to those of the larger probability of what came, `told`, and share a little."""
    best, total = LEAST, 0.0
    for k in range(len(told)):
        best = max(best, told[k])
    for k in range(len(told)):
        ratio = max(told[k], LEAST) / best
        shares.weights[k] *= ratio if weight == 1.0 else ratio ** min(weight, MOST_WEIGHT)
        total += shares.weights[k]
    part = (1.0 - ALPHA) / total
    for k in range(len(told)):
        shares.weights[k] = part * shares.weights[k] + ALPHA / len(told)


def combined(shares: Shares, weights: np.ndarray) -> np.ndarray:
    """What the models weigh together (E,), for the mixture's weights: exact where all margins are near 0."""
    return shares.weights[-1] * weights + shares.weights[:-1] * shares.scales


def scale_layout() -> Any:
    """What u is made of: a mixture of one."""
    found = mixing.layout(1)
    return found._replace(weights=found.weights._replace(least=LEAST_SCALE))


@dispatch
def margin_factor(loss: Any, scale: Mixture) -> float:
    """What log odds are multiplied by, to be margins."""


@margin_factor.register(Logistic)
def _(loss, scale):
    return 1.0


@margin_factor.register(object)
def _(loss, scale):
    return 0.5 * scale.weights[0]


@force_inline
def scale_margins(loss, scale, scores):
    """Multiply log odds (n, K), in place, to be margins."""
    factor = margin_factor(loss, scale)
    for i in range(len(scores) if factor != 1.0 else 0):
        for c in range(scores.shape[1]):
            scores[i, c] *= factor


@dispatch
def learn_margins(
    loss: Any, scale: Mixture, start: int, last: int, targets: Any, importances: Any, scores: np.ndarray
) -> None:
    """Learn rows `start` to `last`, or to the end; log odds (n, K) become the margins before each."""


@learn_margins.register(Logistic)
def _(loss, scale, start, last, targets, importances, scores):
    pass


@learn_margins.register(object)
def _(loss, scale, start, last, targets, importances, scores):
    for i in range(start, min(last + 1, len(scores))):
        target, weight = np.int64(targets[i]), min(np.float64(importances[i]), MOST_IMPORTANCE)
        u, factor = scale.weights[0], margin_factor(loss, scale)
        m = 0.5 * (scores[i, target] - scores[i, rival_of(scores[i], target)])
        slope = derivative(loss, u * m, 1.0)
        bend = max(curvature(loss, u * m, 1.0), slope * slope)
        if weight > 0.0 and isfinite(m):
            _learn_scale(scale.weights, scale.curvature[0], 0, slope * m, bend * m * m, weight)
            scale.weights[0] = max(scale.weights[0], LEAST_SCALE)
        for c in range(scores.shape[1]):
            scores[i, c] *= factor
