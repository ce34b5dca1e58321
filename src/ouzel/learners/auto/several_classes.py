"""Five linear models of several classes, on standardised features, and a tiny one that weighs their scores.

The first is normalised AdaGrad (`two_classes.py` has its equations) for the multinomial loss, a step of which is safe:
it is as long as many small steps would come to for the true class against the softmax of the others. The second is the
same for one class against the rest by the hinge loss. The third is diagonal AROW for the true class against the best
wrong one (Crammer, Kulesza & Dredze, 2009, "Adaptive Regularization of Weight Vectors", NIPS). The fourth is
second-order softmax regression over the most frequent features (`newton_block.py`). Their scores, cut at 8, are weighed
by `mixing.py`.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float32, uint32
from ouzel.learners.auto import mixing, newton_block, sharing, standardisation, work
from ouzel.learners.auto.mixing import Mixture, learn_joint_mixture, softmax
from ouzel.learners.auto.newton_block import Block
from ouzel.learners.auto.sharing import Shares
from ouzel.learners.auto.standardisation import NORMS, SEEN, Features
from ouzel.learners.auto.turning import rescale, turn
from ouzel.learners.auto.two_classes import LEAST_VARIANCE, LONG, MOST_IMPORTANCE, PRIOR
from ouzel.learners.auto.work import JointWork
from ouzel.learners.dithered_sums import dither_of, dithered_sum
from ouzel.terms.importance_aware import importance_aware_step
from ouzel.terms.losses import Hinge, Logistic, derivative
from ouzel.terms.multiclass_losses import rival_of

RATES = (1.0, 0.5, 8.0)
MODELS = 5
END = 8.0  # scores are cut there for the mixture
TINY = 1e-37  # beside a sum of squares, in a root that is divided by
SOFTMAX, SOFTMAX_SQUARES, HINGE, HINGE_SQUARES, BOLD, BOLD_SQUARES, MEAN, VARIANCE = range(8)  # places of `table`
SLOPES, PUSHES, SHARES, STEPS = range(5, 9)  # rows of `work.scores` behind those of the models


class SeveralClasses(NamedTuple):
    features: Features
    table: np.ndarray  # (d, 8, K) float32  w and s by the softmax, the hinge, in bold steps; AROW's mean and variance
    places: np.ndarray  # (d,) uint32  place in the block, 0 if none
    block: Block
    mixture: Mixture
    shares: Shares
    work: JointWork


def layout(dimension: int, classes: int) -> Any:
    """What a state with room for so many slots and classes is made of."""
    return SeveralClasses(
        features=standardisation.layout(dimension),
        table=float32(dimension, 8, classes),
        places=uint32(dimension, most=newton_block.MOST),
        block=newton_block.layout(classes, dimension),
        mixture=mixing.layout(MODELS),
        shares=sharing.layout(MODELS),
        work=work.joint_layout(dimension, MODELS, classes),
    )


@force_inline
def _score(state, slots, values, out):
    """Write the models' scores to `work.scores`, cut to `work.margins`, and what the mixture makes of them to `out`."""
    scores, margins, classes = state.work.scores, state.work.margins, len(out)
    for e in range(MODELS):
        for c in range(classes):
            scores[e, c] = 0.0
    for k in range(len(slots)):
        row, z = state.table[slots[k]], np.float64(values[k])
        for c in range(classes):
            scores[0, c] += z * row[SOFTMAX, c]
        for c in range(classes):
            scores[1, c] += z * row[HINGE, c]
        for c in range(classes):
            scores[2, c] += z * row[BOLD, c]
        for c in range(classes):
            scores[3, c] += z * row[MEAN, c]
    if newton_block.worthwhile(state.block):
        newton_block.gather(state.block, state.work, state.places, slots, values)
        for place in range(np.int64(state.block.totals[newton_block.MEMBERS])):
            z = state.work.z[place]
            if z != 0.0:
                for c in range(classes):
                    scores[4, c] += z * state.block.weights[place, c]
    for c in range(classes):
        for e in range(MODELS):
            margins[c, e] = min(max(scores[e, c], -END), END)
    sharing.scores_of(state.shares, state.mixture, state.work, out)


@force_inline
def _predict(state, indices, values, out):
    count = standardisation.view_row(state.features, state.work, indices, values, False)
    _score(state, state.work.slots[:count], state.work.values[:count], out)


@force_inline
def _learn(state, indices, values, target, importance, settings, out):
    """Learn one example; `out` (K,) takes the scores before it."""
    learning = importance != 0.0
    weight = min(np.float64(importance), MOST_IMPORTANCE)
    count = standardisation.view_row(state.features, state.work, indices, values, learning)
    slots, z = state.work.slots[:count], state.work.values[:count]
    if learning:
        newton_block.admit(state.block, state.places, slots, state.features.moments, state.features.totals[SEEN])
    _score(state, slots, z, out)
    if not learning:
        return
    useful = newton_block.worthwhile(state.block)
    present = newton_block.count_members(state.block, state.places, slots)
    if count == 0:
        return
    unit = settings.learning_rate * sqrt(state.features.totals[SEEN] / state.features.totals[NORMS])
    _learn_softmax(state, slots, z, target, weight, unit * RATES[0])
    _learn_hinge(state, slots, z, target, weight, unit * RATES[1])
    _learn_boldly(state, slots, z, target, weight, unit * RATES[2])
    _learn_arow(state, slots, z, target, weight)
    if useful and present > 0:
        _learn_newton(state, slots, present, target, weight)
    sharing.learn_joint_shares(state.shares, state.work, target, weight)
    learn_joint_mixture(state.mixture, state.work, state.work.chances[MODELS], target, weight)
    turn(state, indices)
    newton_block.replace(state.block, state.places, slots, state.features.moments)


@force_inline
def _learn_softmax(state, slots, z, target, weight, rate):
    """A safe step of AdaGrad down the multinomial loss."""
    scores, classes = state.work.scores, state.work.scores.shape[1]
    slopes, pushes, shares, steps = scores[SLOPES], scores[PUSHES], scores[SHARES], scores[STEPS]
    softmax(scores[0], shares)
    for c in range(classes):
        slopes[c] = weight * (shares[c] - (c == target))
    _add_squares(state, slots, z, SOFTMAX_SQUARES)
    rest = max(1.0 - shares[target], 1e-300)
    push = pushes[target]  # of the true class against the softmax of the others: each weighs by its share's square
    for c in range(classes):
        if c != target:
            push += (shares[c] / rest) ** 2 * pushes[c]
    margin = log(max(shares[target], 1e-300) / rest)
    rate *= importance_aware_step(Logistic(), margin, 1.0, weight * rate * push)
    for c in range(classes):
        steps[c] = rate * slopes[c]
    _move(state, slots, z, SOFTMAX, SOFTMAX_SQUARES)


@force_inline
def _learn_hinge(state, slots, z, target, weight, rate):
    """A safe step of AdaGrad for each class against the rest."""
    scores, classes = state.work.scores, state.work.scores.shape[1]
    slopes, pushes, steps = scores[SLOPES], scores[PUSHES], scores[STEPS]
    for c in range(classes):
        slopes[c] = weight * derivative(Hinge(), scores[1, c], 1.0 if c == target else -1.0)
    _add_squares(state, slots, z, HINGE_SQUARES)
    for c in range(classes):
        sign = 1.0 if c == target else -1.0
        steps[c] = rate * slopes[c] * importance_aware_step(Hinge(), scores[1, c], sign, weight * rate * pushes[c])
    _move(state, slots, z, HINGE, HINGE_SQUARES)


@force_inline
def _learn_boldly(state, slots, z, target, weight, rate):
    """A whole step of AdaGrad for the true class, and one against the best wrong one, where the hinge is not 0."""
    scores = state.work.scores[2]
    rival = rival_of(scores, target)
    if scores[target] - scores[rival] >= 1.0:
        return
    for k in range(len(slots)):
        row, x = state.table[slots[k]], weight * np.float64(z[k])
        for c, sign in ((target, rate), (rival, -rate)):
            row[BOLD_SQUARES, c] += np.float32(x * x)
            row[BOLD, c] += np.float32(sign * x / sqrt(row[BOLD_SQUARES, c] + TINY))


@force_inline
def _add_squares(state, slots, z, column):
    """s <- s + (slope z)^2; the sums of z^2 s^-1/2 of every class to `pushes`."""
    slopes, pushes = state.work.scores[SLOPES], state.work.scores[PUSHES]
    seen = state.features.totals[SEEN]
    dither = dither_of(seen)
    for c in range(len(pushes)):
        pushes[c] = 0.0
    for k in range(len(slots)):
        squares, x = state.table[slots[k], column], np.float64(z[k])
        if seen < LONG:
            for c in range(len(slopes)):
                gradient = slopes[c] * x
                squares[c] += np.float32(gradient * gradient)
        else:
            for c in range(len(slopes)):
                more = np.float32((slopes[c] * x) ** 2)
                squares[c] = dithered_sum(squares[c], squares[c] + more, more, dither)
        for c in range(len(slopes)):
            pushes[c] += x * x / sqrt(squares[c] + TINY)


@force_inline
def _move(state, slots, z, column, sums):
    """w <- w - step z s^-1/2"""
    steps = state.work.scores[STEPS]
    for k in range(len(slots)):
        weights, squares, x = state.table[slots[k], column], state.table[slots[k], sums], np.float64(z[k])
        for c in range(len(steps)):
            weights[c] -= np.float32(steps[c] * x / sqrt(squares[c] + TINY))


@force_inline
def _learn_arow(state, slots, z, target, weight):
    """AROW's step for the true class against the best wrong one."""
    scores = state.work.scores[3]
    rival = rival_of(scores, target)
    gap = 1.0 - scores[target] + scores[rival]
    if gap <= 0.0:
        return
    prior = np.float32(PRIOR * state.features.totals[SEEN] / state.features.totals[NORMS])
    variance = 0.0
    for k in range(len(slots)):
        row, x = state.table[slots[k], VARIANCE], np.float64(z[k])
        if row[target] == 0.0:
            row[target] = prior
        if row[rival] == 0.0:
            row[rival] = prior
        variance += x * x * (row[target] + row[rival])
    beta, least = 1.0 / (variance + 1.0 / weight), np.float32(LEAST_VARIANCE)
    for k in range(len(slots)):
        row, x = state.table[slots[k]], np.float64(z[k])
        up, down = row[VARIANCE, target] * x, row[VARIANCE, rival] * x
        row[MEAN, target] += np.float32(gap * beta * up)
        row[MEAN, rival] -= np.float32(gap * beta * down)
        row[VARIANCE, target] = max(np.float32(row[VARIANCE, target] - beta * up * up), least)
        row[VARIANCE, rival] = max(np.float32(row[VARIANCE, rival] - beta * down * down), least)


@force_inline
def _learn_newton(state, slots, present, target, weight):
    """The block's step."""
    block, room, classes = state.block, state.work, state.work.scores.shape[1]
    shares, steps = room.scores[SHARES], room.scores[STEPS]
    prior = newton_block.prior_of(block, state.places, slots, newton_block.PRIOR)
    s = newton_block.direct(block, room, present)
    softmax(room.scores[4], shares)
    before, total = max(block.totals[newton_block.CURVATURE], 1.0), 0.0
    for c in range(classes):
        p = shares[c]
        d = p - (c == target)
        h = weight * max(0.5 * (p * (1.0 - p) + d * d), newton_block.LEAST_CURVATURE / classes)
        steps[c] = weight * d / (block.shares[c] / before + h * s)
        block.shares[c] += h
        total += h
    block.totals[newton_block.CURVATURE] = before + total
    for place in range(np.int64(block.totals[newton_block.MEMBERS])):
        for c in range(classes):
            block.weights[place, c] -= steps[c] * room.v[place]
    newton_block.shrink(block, room, total, s, prior)


@rescale.register(SeveralClasses)
def _(state, slot, factor, part):
    row, constant = state.table[slot], state.table[0]
    for c in range(state.work.scores.shape[1]):
        for e in (SOFTMAX, HINGE, BOLD, MEAN):
            constant[e, c] += np.float32(part * row[e, c])
            row[e, c] *= np.float32(factor)
        row[VARIANCE, c] = 0.0
    newton_block.rescale(state.block, state.places, slot, factor, part)


@kernel
def learn_row(state, indices, values, target, importance, settings, scores):
    """Learn one example of the class at position `target` in place; `scores` (K,) takes the prediction before it."""
    _learn(state, indices, values, target, importance, settings, scores)


@kernel
def predict_row(state, indices, values, settings, scores):
    """Write the scores (K,) of one example."""
    _predict(state, indices, values, scores)


@kernel
def learn_rows(state, rows, targets, importances, settings, scores):
    """Learn a block; `scores` (n, K) takes the predictions made before learning each example."""
    for i in range(len(targets)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        _learn(state, rows.indices[here], rows.values[here], targets[i], importances[i], settings, scores[i])


@kernel
def predict_rows(state, rows, settings, scores):
    """Write the scores of a block to `scores` (n, K)."""
    for i in range(len(scores)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        _predict(state, rows.indices[here], rows.values[here], scores[i])
