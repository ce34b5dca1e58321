"""Learners that keep a Gaussian over the weights and part the true class y from the best wrong one r by it.

As in LIBOL (Hoi, Wang & Zhao 2014, JMLR 15) every class has its mean weights w_k, and all share one covariance S,
diagonal or full. The margin m = s_y - s_r then has the variance v = 2 x'Sx (LIBOL takes x'Sx), and
    w_y <- w_y + alpha S x,    w_r <- w_r - alpha S x,    S <- S - share beta S x x'S.
The learners differ in alpha and beta alone: `step(settings, case)`, chosen by the class of the settings, is their
binary rule for the margin's vector.

Two classes are the binary rule itself: w = w_1 - w_0 has the covariance 2 S, which begins as the prior and by share = 2
becomes 2 S - beta (2 S) x x'(2 S). With three classes or more the two rows are independent before the step; after it
each has S - beta S x x'S and the two are correlated, which is forgotten: share = 1. A diagonal S forgets correlations
anyway; there share = 2 throughout makes fewer mistakes more often than not (docs/multiclass.md).

LIBOL takes x'Sx for the variance of a margin, and share = 1: the setting `pairwise` turned off, with a prior of 2.

No variance falls below 1e-12, a floor that the papers do not have: a diagonal one stops there, and a full covariance
has as much added where an example's would fall below. So S stays positive where rules drive it to 0 (`cw` does, on a
stream that no weights fit), and a feature that has reached the floor goes on moving a little.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import dispatch, force_inline
from ouzel.layout import float32, float64, int64, made_from
from ouzel.learners.fading import faded_covariance, faded_variances
from ouzel.learners.gaussian.gains import gains, onto
from ouzel.learners.gaussian.states import SMALLEST_VARIANCE, Diagonal, Full, extent_in
from ouzel.learners.limits import LIMIT, is_sound
from ouzel.learners.loops import learning_scores
from ouzel.learners.scores import learning_pairs, predict_by_table, score_row, weights_in_table

__all__ = ["Diagonal", "Full", "gains", "onto"]

MULTICLASS = True
MOST_SLOTS = 4097  # of a full covariance: features and the constant


class MarginStats(NamedTuple):
    """What a rule may look at."""

    margin: float  # m before learning
    variance: float  # v, above 0
    importance: float  # above 0
    seen: float  # t, this example counted


@dispatch
def step(settings: Any, case: MarginStats) -> tuple[float, float]:
    """The steps alpha of the means and beta of the covariance; alpha is 0 where the rule leaves both alone."""


@dispatch
def variance_of(state: Any, indices: np.ndarray, values: np.ndarray) -> float:
    """x'Sx; a full covariance keeps S x for `move`."""


@dispatch
def move(
    state: Any, indices: np.ndarray, values: np.ndarray, target: int, wrong: int, alpha: float, beta: float, pair: bool
):
    """Take the steps; where the margin is not one of a pair, S loses beta S x x'S."""


def layout(features: int, classes: int, settings: Any) -> Any:
    """What a state with room for so many slots and classes is made of: `Full` if the settings say so."""
    table, prior, count = float32(features, classes), 0.5 * settings.prior, float64(1, least=0.0)
    if not settings.full:
        return Diagonal(table, variance=float32(features, fill=prior, least=0.0), seen=count, updates=count)
    if features > MOST_SLOTS:
        raise OuzelError(
            f"a whole matrix over the features takes up to {MOST_SLOTS - 1:,} of them; there are more; use the learner "
            "of the same name without -full, or hash names to fewer (bits=12 or less)"
        )
    return Full(
        table,
        covariance=float64(features, features, diagonal=prior),
        product=float64(features, scratch=True),
        extent=int64(1, most=features),
        seen=count,
        updates=count,
    )


init, grow = made_from(layout)


@variance_of.register(Diagonal)
def _(state, indices, values):
    total = 0.0
    for k in range(len(indices)):
        total += state.variance[indices[k]] * values[k] * values[k]
    return total


@move.register(Diagonal)
def _(state, indices, values, target, wrong, alpha, beta, pair):
    shrink = (2.0 if pair else 1.0) * beta
    for k in range(len(indices)):
        slot = indices[k]
        spread = state.variance[slot] * values[k]
        change = np.float32(alpha * spread)
        state.table[slot, target] += change
        state.table[slot, wrong] -= change
        state.variance[slot] = max(state.variance[slot] - shrink * spread * spread, SMALLEST_VARIANCE)


@variance_of.register(Full)
def _(state, indices, values):
    for k in range(len(indices)):
        state.extent[0] = max(state.extent[0], np.int64(indices[k]) + 1)
    product = state.product[: state.extent[0]]
    product[:] = 0.0
    for k in range(len(indices)):
        row = state.covariance[indices[k]]
        for j in range(len(product)):
            product[j] += values[k] * row[j]
    total = 0.0
    for k in range(len(indices)):
        total += values[k] * product[indices[k]]
    return total


@move.register(Full)
def _(state, indices, values, target, wrong, alpha, beta, pair):
    product = state.product[: state.extent[0]]
    shrink = (2.0 if pair and state.table.shape[1] == 2 else 1.0) * beta
    square = spread = 0.0
    for k in range(len(indices)):
        square += values[k] * values[k]
        spread += values[k] * product[indices[k]]
    for i in range(len(product)):
        if product[i] != 0.0:
            change = np.float32(alpha * product[i])
            state.table[i, target] += change
            state.table[i, wrong] -= change
            row = state.covariance[i]
            scaled = shrink * product[i]
            for j in range(len(product)):
                row[j] -= scaled * product[j]
    if spread - shrink * spread * spread < SMALLEST_VARIANCE * square:  # rounding would soon make it negative
        for k in range(len(indices)):
            state.covariance[indices[k], indices[k]] += SMALLEST_VARIANCE


@force_inline
def predict_row(state, indices, values, settings, scores):
    """Write the scores (classes,) of one example."""
    score_row(state.table, indices, values, scores)


@force_inline
def learn_pair(state, indices, values, scores, target, wrong, importance, settings):
    """Learn one example of a true class and the best wrong one."""
    margin = scores[target] - scores[wrong]
    variance = (2.0 if settings.pairwise else 1.0) * variance_of(state, indices, values)
    if not (isfinite(margin * margin) and 0.0 < variance < LIMIT):
        return
    alpha, beta = step(settings, MarginStats(margin, variance, importance, state.seen[0]))
    if alpha != 0.0 and is_sound(alpha, variance) and isfinite(beta):
        state.updates[0] += 1.0
        move(state, indices, values, target, wrong, alpha, beta, settings.pairwise)


learn_row = learning_pairs(predict_row, learn_pair)
learn_rows = learning_scores(learn_row)
predict_rows, weights = predict_by_table, weights_in_table


def renumber(state: Any, places: np.ndarray) -> Any:
    """The state of a full covariance in which slot k of this one is slot `places[k]`."""
    table, covariance = np.empty_like(state.table), np.empty_like(state.covariance)
    table[places], covariance[np.ix_(places, places)] = state.table, state.covariance
    return state._replace(table=table, covariance=covariance, extent=extent_in(places, state.extent))


def fade(state: Any, kept: float, settings: Any) -> None:
    """Decay precisions towards the prior's: the noise of a process that weights follow, in the sense of Kalman."""
    prior = 0.5 * settings.prior
    if isinstance(state, Diagonal):
        state.variance[...] = faded_variances(state.variance, kept, prior)
    else:
        met = slice(int(state.extent[0]))
        state.covariance[met, met] = faded_covariance(state.covariance[met, met], kept, prior)
