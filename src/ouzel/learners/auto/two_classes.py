"""Six linear models of two classes side by side, on standardised features, and a tiny one that weighs their margins.

Four are normalised AdaGrad (Ross, Mineiro & Langford, 2013, "Normalized Online Learning", UAI, Algorithm 2): for the
slope g of a model's loss, and N the sum of all z^2 in t examples,
    s_j <- s_j + (g z_j)^2,    w_j <- w_j - share rate sqrt(t / N) g z_j / sqrt(s_j),
by the logistic loss, the squared hinge and the hinge in safe steps (`terms/importance_aware.py`), and by the hinge in
bold ones, for streams that change. The fifth is diagonal AROW (Crammer, Kulesza & Dredze, 2009, "Adaptive
Regularization of Weight Vectors", NIPS), its prior variance 10 / the mean of z'z. The sixth is second-order logistic
regression over the most frequent features (`newton_block.py`). Their margins, cut at 4, are weighed by `mixing.py`;
`sharing.py` chooses between the outcome and each of them alone.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float32, uint32
from ouzel.learners.auto import mixing, newton_block, sharing, standardisation, work
from ouzel.learners.auto.mixing import Mixture, learn_mixture
from ouzel.learners.auto.newton_block import Block
from ouzel.learners.auto.sharing import Shares
from ouzel.learners.auto.simd import LARGEST, add_squares, add_squares_by_dither, move
from ouzel.learners.auto.standardisation import NORMS, SEEN, Features
from ouzel.learners.auto.turning import rescale, turn
from ouzel.learners.auto.work import Work
from ouzel.learners.dithered_sums import dither_of
from ouzel.terms.importance_aware import importance_aware_step
from ouzel.terms.losses import Hinge, Logistic, SquaredHinge, derivative, link

RATES = (1.0, 0.5, 0.5, 8.0)
MODELS = 6
END = 4.0  # margins are cut there for the mixture
PRIOR = 10.0
LONG = 2.0**20  # examples, from which on sums of squares are rounded by a dither lest they stop
MOST_IMPORTANCE = 1e6  # one example counts for no more
LEAST_VARIANCE = 1e-30
UNIT, WEIGHT, ROOT, MEAN, VARIANCE = 0, 1, 5, 9, 10  # columns of `table`


class TwoClasses(NamedTuple):
    features: Features
    table: (
        np.ndarray
    )  # (d, 11) float32  1 (the unit of z), four w, four s^-1/2 (0 where s is 0), AROW's mean and variance
    places: np.ndarray  # (d,) uint32  place in the block, 0 if none
    block: Block
    mixture: Mixture
    shares: Shares
    work: Work


def layout(dimension: int) -> Any:
    """What a state with room for `dimension` slots is made of."""
    any_number = (-inf,) * 4
    return TwoClasses(
        features=standardisation.layout(dimension),
        table=float32(dimension, 11, least=(0.0, *any_number, *(0.0,) * 4, -inf, 0.0), most=(1.0, *(inf,) * 10)),
        places=uint32(dimension, most=newton_block.MOST),
        block=newton_block.layout(1, dimension),
        mixture=mixing.layout(MODELS),
        shares=sharing.layout(MODELS),
        work=work.layout(dimension, MODELS),
    )


@force_inline
def _cut(margin):
    return min(max(margin, -END), END)


@force_inline
def _margins(state, slots, values):
    """The models' margins, cut, to `work.margins`; as they are, AROW's variance of its own behind them."""
    first = second = third = fourth = mean = variance = newton = 0.0
    for k in range(len(slots)):
        row, z = state.table[slots[k]], np.float64(values[k])
        first += z * row[WEIGHT]
        second += z * row[WEIGHT + 1]
        third += z * row[WEIGHT + 2]
        fourth += z * row[WEIGHT + 3]
        mean += z * row[MEAN]
        variance += z * z * row[VARIANCE]
    if newton_block.worthwhile(state.block):
        newton_block.gather(state.block, state.work, state.places, slots, values)
        for place in range(np.int64(state.block.totals[newton_block.MEMBERS])):
            newton += state.work.z[place] * state.block.weights[place, 0]
    seen = state.work.margins
    seen[0], seen[1], seen[2] = _cut(first), _cut(second), _cut(third)
    seen[3], seen[4], seen[5] = _cut(fourth), _cut(mean), _cut(newton)
    return first, second, third, fourth, mean, newton, variance


@force_inline
def predict_margin(state, indices, values):
    """The margin of one example."""
    count = standardisation.view_row(state.features, state.work, indices, values, False)
    _margins(state, state.work.slots[:count], state.work.values[:count])
    return sharing.margin_of(state.shares, state.mixture, state.work)


@force_inline
def learn_margin(state, indices, values, target, importance, settings):
    """Learn one example whose target is -1 or 1; its margin before."""
    learning = importance != 0.0
    weight = min(np.float64(importance), MOST_IMPORTANCE)
    count = standardisation.view_row(state.features, state.work, indices, values, learning)
    slots, z = state.work.slots[:count], state.work.values[:count]
    totals = state.features.totals
    if learning:
        newton_block.admit(state.block, state.places, slots, state.features.moments, totals[SEEN])
    prior = np.float32(PRIOR * totals[SEEN] / max(totals[NORMS], 1.0))
    for k in range(count if learning else 0):
        row = state.table[slots[k]]
        row[UNIT] = 1.0
        if row[VARIANCE] == 0.0:
            row[VARIANCE] = prior
    margins = _margins(state, slots, z)
    margin = sharing.margin_of(state.shares, state.mixture, state.work)
    if not learning:
        return margin
    useful = newton_block.worthwhile(state.block)
    present = newton_block.count_members(state.block, state.places, slots)
    if count > 0:
        _learn_adagrad(state, slots, z, margins, target, weight, settings)
        _learn_arow(state, slots, z, margins[4], margins[6], target, weight)
        if useful and present > 0:
            _learn_newton(state, slots, present, margins[5], target, weight)
        p = state.work.chances[MODELS]
        sharing.learn_shares(state.shares, state.work, 1.0 if target > 0.0 else 0.0, weight)
        learn_mixture(state.mixture, state.work, weight * (p - (target > 0.0)), weight * p * (1.0 - p))
        turn(state, indices)
        newton_block.replace(state.block, state.places, slots, state.features.moments)
    return margin


@force_inline
def _finite(slope):
    """The slope, or 0 for one whose square may not be finite."""
    return np.float32(slope) if abs(slope) < LARGEST else np.float32(0.0)


@force_inline
def _learn_adagrad(state, slots, z, margins, target, weight, settings):
    """A step of each of the first four models."""
    slopes = (
        _finite(weight * derivative(Logistic(), margins[0], target)),
        _finite(weight * derivative(SquaredHinge(), margins[1], target)),
        _finite(weight * derivative(Hinge(), margins[2], target)),
        _finite(weight * derivative(Hinge(), margins[3], target)),
    )
    seen, norms = state.features.totals[SEEN], state.features.totals[NORMS]
    if seen < LONG:
        pushes = add_squares(state.table, slots, z, slopes)
    else:
        pushes = add_squares_by_dither(state.table, slots, z, slopes, dither_of(seen))
    unit = settings.learning_rate * sqrt(seen / norms)
    first, second, third = unit * RATES[0], unit * RATES[1], unit * RATES[2]
    steps = (
        slopes[0]
        * np.float32(first * importance_aware_step(Logistic(), margins[0], target, weight * first * pushes[0])),
        slopes[1]
        * np.float32(second * importance_aware_step(SquaredHinge(), margins[1], target, weight * second * pushes[1])),
        slopes[2] * np.float32(third * importance_aware_step(Hinge(), margins[2], target, weight * third * pushes[2])),
        slopes[3] * np.float32(unit * RATES[3]),
    )
    move(state.table, slots, z, steps)


@force_inline
def _learn_arow(state, slots, z, mean, variance, target, weight):
    """AROW's step: mean and variances of the weights move where the margin is below 1."""
    gap = 1.0 - target * mean
    if gap <= 0.0:
        return
    beta = 1.0 / (variance + 1.0 / weight)
    for k in range(len(slots)):
        row = state.table[slots[k]]
        change = np.float64(row[VARIANCE]) * z[k]
        row[MEAN] += np.float32(gap * beta * target * change)
        row[VARIANCE] = max(np.float32(row[VARIANCE] - beta * change * change), np.float32(LEAST_VARIANCE))


@force_inline
def _learn_newton(state, slots, present, margin, target, weight):
    """The block's step, for one column."""
    block, room = state.block, state.work
    prior = newton_block.prior_of(block, state.places, slots, newton_block.PRIOR)
    s = newton_block.direct(block, room, present)
    p = link(Logistic(), margin)
    d = p - (target > 0.0)
    h = weight * max(0.5 * (p * (1.0 - p) + d * d), newton_block.LEAST_CURVATURE)
    step = weight * d / (1.0 + h * s)
    for place in range(np.int64(block.totals[newton_block.MEMBERS])):
        block.weights[place, 0] -= step * room.v[place]
    newton_block.shrink(block, room, h, s, prior)


@rescale.register(TwoClasses)
def _(state, slot, factor, part):
    row, constant = state.table[slot], state.table[0]
    for e in range(4):
        constant[WEIGHT + e] += np.float32(part * row[WEIGHT + e])
        row[WEIGHT + e] *= np.float32(factor)
    constant[MEAN] += np.float32(part * row[MEAN])
    row[MEAN] *= np.float32(factor)
    row[VARIANCE] = 0.0
    newton_block.rescale(state.block, state.places, slot, factor, part)


@kernel
def learn_row(state, indices, values, target, importance, settings, scores):
    """Learn one example of the class at position `target` in place; `scores` (2,) takes the prediction before it."""
    scores[0] = 0.0
    scores[1] = learn_margin(state, indices, values, 1.0 if target == 1 else -1.0, importance, settings)


@kernel
def predict_row(state, indices, values, settings, scores):
    """Write the scores of one example, 0 and the margin."""
    scores[0] = 0.0
    scores[1] = predict_margin(state, indices, values)


@kernel
def learn_rows(state, rows, targets, importances, settings, scores):
    """Learn a block; `scores` (n, 2) takes the predictions made before learning each example."""
    for i in range(len(targets)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        target = 1.0 if targets[i] == 1 else -1.0
        scores[i, 0] = 0.0
        scores[i, 1] = learn_margin(state, rows.indices[here], rows.values[here], target, importances[i], settings)


@kernel
def predict_rows(state, rows, settings, scores):
    """Write the scores of a block to `scores` (n, 2)."""
    for i in range(len(scores)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        scores[i, 0] = 0.0
        scores[i, 1] = predict_margin(state, rows.indices[here], rows.values[here])
