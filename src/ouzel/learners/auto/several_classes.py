"""Six linear models of several classes, on standardised features, and a tiny one that weighs their scores.

The first is normalised AdaGrad (`two_classes.py` has its equations) for the multinomial loss, a step of which is safe:
it is as long as many small steps would come to for the true class against the softmax of the others. The second is the
same for one class against the rest by the hinge loss, the third a whole step, however far that goes, for the true class
against the best wrong one. The fourth is diagonal AROW for these two (Crammer, Kulesza & Dredze, 2009, "Adaptive
Regularization of Weight Vectors", NIPS). The fifth is second-order softmax regression over the most frequent features
(`newton_block.py`), the sixth their linear discriminant analysis (`discriminant.py`). Scores, cut at 16 below the best,
are weighed by `mixing.py`.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source
from ouzel.layout import float32, uint32
from ouzel.learners.auto import discriminant, effects, mixing, newton_block, sharing, standardisation
from ouzel.learners.auto.discriminant import Discriminant
from ouzel.learners.auto.effects import Effects, learn_effects, predict_effects
from ouzel.learners.auto.mixing import MODELS_OF_SEVERAL, Mixture, learn_joint_mixture, room_for_several, softmax
from ouzel.learners.auto.newton_block import Block
from ouzel.learners.auto.sharing import MOST_IMPORTANCE, Shares, learn_margins, scale_margins
from ouzel.learners.auto.simd import FURTHEST
from ouzel.learners.auto.standardisation import NORMS, SEEN, Features
from ouzel.learners.auto.turning import note_example, turning
from ouzel.learners.auto.two_classes import LEAST_VARIANCE, LONG, PRIOR, held
from ouzel.learners.blocks import learning_scores_of, predicting_scores_of
from ouzel.learners.dithered_sums import dither_of, dithered_sum
from ouzel.terms.importance_aware import importance_aware_step
from ouzel.terms.losses import Hinge, Logistic, derivative
from ouzel.terms.multiclass_losses import rival_of

RATES = (1.0, 0.5, 8.0)
MODELS = MODELS_OF_SEVERAL
END = 16.0  # so far below a model's best score the others are cut for the mixture
TINY = 1e-37  # beside a sum of squares, in a root that is divided by
SOFTMAX, SOFTMAX_SQUARES, HINGE, HINGE_SQUARES, BOLD, BOLD_SQUARES, MEAN, VARIANCE = range(8)  # places of `table`
WEIGHTS, SQUARES = (SOFTMAX, HINGE, BOLD, MEAN), (SOFTMAX_SQUARES, HINGE_SQUARES, BOLD_SQUARES)


class SeveralClasses(NamedTuple):
    features: Features
    table: np.ndarray  # (d, 8, K) float32  w and s by the softmax, the hinge, in bold steps; AROW's mean and variance
    places: np.ndarray  # (d,) uint32  place in the block, 0 if none
    block: Block
    discriminant: Discriminant
    mixture: Mixture
    shares: Shares
    effects: Effects
    scale: Mixture  # of margins by another loss


def layout(dimension: int, classes: int, budget: float) -> Any:
    """What a state with room for so many slots and classes is made of, with effects of columns in so many bytes."""
    return SeveralClasses(
        features=standardisation.layout(dimension),
        table=float32(dimension, 8, classes, least=-FURTHEST, most=FURTHEST),
        places=uint32(dimension, most=newton_block.MOST),
        block=newton_block.layout(classes, dimension),
        discriminant=discriminant.layout(classes),
        mixture=mixing.layout(MODELS),
        shares=sharing.layout(MODELS),
        effects=effects.layout(dimension, classes, budget),
        scale=sharing.scale_layout(),
    )


@inline_source
def _score(state, slots, values, centred, models, out):
    """Note the models' scores, and their scores cut; write what becomes of them to `out` (K,)."""
    classes = len(out)
    scores, margins = models.scores, models.margins
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
    for k in range(len(slots) if newton_block.worthwhile(state.block.totals) else 0):
        place = np.int64(state.places[slots[k]]) - 1
        if place >= 0:
            for c in range(classes):
                scores[4, c] += state.block.weights[place, c] * values[k]
    discriminant.score(state.discriminant, state.block, state.places, slots, values, centred, scores[5])
    for e in range(MODELS):
        best = scores[e, 0]
        for c in range(classes):
            best = max(best, scores[e, c])
        for c in range(classes):
            margins[e, c] = max(scores[e, c] - best, -END)
    sharing.scores_of(state.shares, state.mixture, margins, models.chances, out)


@force_inline
def _predict(state, rows, settings, scores, work):
    """Write the scores of a block to `scores` (n, classes)."""
    for i in range(len(scores)):
        _, _, centred, count = standardisation.view_example(state.features, rows, i, work)
        _score(state, work.slots[:count], work.values[:count], centred, work.models, scores[i])
    predict_effects(state.effects, rows, effects.SEVERAL, scores)
    scale_margins(settings.loss, state.scale, scores)


@force_inline
def _learn_lines(state, rows, start, targets, importances, settings, scores, work):
    """Learn a block by the linear models; `scores` (n, classes) takes their predictions before each example."""
    for i in range(start, len(targets)):
        features, models, weight = state.features, work.models, min(np.float64(importances[i]), MOST_IMPORTANCE)
        indices, values, centred, count = standardisation.view_example(features, rows, i, work)
        slots, z = work.slots[:count], work.values[:count]
        _score(state, slots, z, centred, models, scores[i])
        if weight > 0.0:
            present, turn = note_example(state, work, indices, values, count)
            if features.totals[NORMS] > 0.0:
                unit = settings.learning_rate * sqrt(features.totals[SEEN] / max(features.totals[NORMS], 1.0))
                _learn_softmax(state, slots, z, models, targets[i], weight, unit * RATES[0])
                _learn_hinge(state, slots, z, models, targets[i], weight, unit * RATES[1])
                _learn_boldly(state, slots, z, models, targets[i], weight, unit * RATES[2])
                _learn_arow(state, slots, z, models, targets[i], weight)
                if present > 0:
                    _learn_newton(state, slots, z, work, targets[i], weight)
                    discriminant.learn(
                        state.discriminant, state.block, state.places, work, np.int64(targets[i]), weight, models.slopes
                    )
                _learn_last(state, models, targets[i], weight)
            if effects.note_example(state.effects) or turn:
                return i
    return len(targets)


@force_inline
def _learn(state, rows, start, targets, importances, settings, scores, work):
    """Learn a block; `scores` (n, classes) takes the predictions made before learning each example."""
    stop = _learn_lines(state, rows, start, targets, importances, settings, scores, work)
    kind, none = effects.SEVERAL, effects.NO_COUNTS
    learn_effects(state.effects, rows, start, stop, targets, importances, kind, Logistic(), scores, none)
    learn_margins(settings.loss, state.scale, start, stop, targets, importances, scores)
    return stop


learn_row, learn_rows = learning_scores_of(room_for_several, _learn, turning(WEIGHTS, (VARIANCE,)))
predict_row, predict_rows = predicting_scores_of(room_for_several, _predict)


@inline_source
def _learn_last(state, models, target, weight):
    """Learn which models to believe."""
    margins, chances = models.margins, models.chances
    sharing.learn_joint_shares(state.shares, margins, chances, models.told, target, weight)
    root, step, slope = models.root, models.step, models.direction
    learn_joint_mixture(state.mixture, margins, root, step, slope, chances[MODELS], target, weight)


@inline_source
def _learn_softmax(state, slots, z, models, target, weight, rate):
    """A safe step of AdaGrad down the multinomial loss."""
    slopes, pushes, shares, steps = models.slopes, models.pushes, models.shares, models.steps
    classes = len(shares)
    softmax(models.scores[0], shares)
    for c in range(classes):
        slopes[c] = weight * (shares[c] - (c == target))
    _add_squares(state, slots, z, slopes, pushes, SOFTMAX_SQUARES)
    rest = max(1.0 - shares[target], 1e-300)
    push = pushes[target]  # of the true class against the softmax of the others: each weighs by its share's square
    for c in range(classes):
        if c != target:
            push += (shares[c] / rest) ** 2 * pushes[c]
    margin = log(max(shares[target], 1e-300) / rest)
    rate *= importance_aware_step(Logistic(), margin, 1.0, weight * rate * push)
    for c in range(classes):
        steps[c] = rate * slopes[c]
    _move(state, slots, z, steps, SOFTMAX, SOFTMAX_SQUARES)


@inline_source
def _learn_hinge(state, slots, z, models, target, weight, rate):
    """A safe step of AdaGrad for each class against the rest."""
    scores, slopes, pushes, steps = models.scores[1], models.slopes, models.pushes, models.steps
    classes = len(scores)
    for c in range(classes):
        slopes[c] = weight * derivative(Hinge(), scores[c], 1.0 if c == target else -1.0)
    _add_squares(state, slots, z, slopes, pushes, HINGE_SQUARES)
    for c in range(classes):
        sign = 1.0 if c == target else -1.0
        steps[c] = rate * slopes[c] * importance_aware_step(Hinge(), scores[c], sign, weight * rate * pushes[c])
    _move(state, slots, z, steps, HINGE, HINGE_SQUARES)


@inline_source
def _learn_boldly(state, slots, z, models, target, weight, rate):
    """A whole step of AdaGrad for the true class, and one against the best wrong one, where the hinge is not 0."""
    scores = models.scores[2]
    rival = rival_of(scores, target)
    if scores[target] - scores[rival] >= 1.0:
        return
    for k in range(len(slots)):
        row, x = state.table[slots[k]], weight * np.float64(z[k])
        for c, sign in ((target, rate), (rival, -rate)):
            row[BOLD_SQUARES, c] += np.float32(x * x)
            row[BOLD, c] += np.float32(sign * x / sqrt(row[BOLD_SQUARES, c] + TINY))


@inline_source
def _add_squares(state, slots, z, slopes, pushes, column):
    """s <- s + (slope z)^2; the sums of z^2 s^-1/2 of every class to `pushes`."""
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


@inline_source
def _move(state, slots, z, steps, column, sums):
    """w <- w - step z s^-1/2"""
    for k in range(len(slots)):
        weights, squares, x = state.table[slots[k], column], state.table[slots[k], sums], np.float64(z[k])
        for c in range(len(steps)):
            weights[c] -= np.float32(steps[c] * x / sqrt(squares[c] + TINY))


@inline_source
def _learn_arow(state, slots, z, models, target, weight):
    """AROW's step for the true class against the best wrong one."""
    scores = models.scores[3]
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
        row[MEAN, target] = held(row[MEAN, target] + gap * beta * up)
        row[MEAN, rival] = held(row[MEAN, rival] - gap * beta * down)
        row[VARIANCE, target] = max(np.float32(row[VARIANCE, target] - beta * up * up), least)
        row[VARIANCE, rival] = max(np.float32(row[VARIANCE, rival] - beta * down * down), least)


@inline_source
def _learn_newton(state, slots, z, work, target, weight):
    """The block's step."""
    block, classes = state.block, state.table.shape[2]
    scores, shares, steps = work.models.scores[4], work.models.shares, work.models.steps
    prior = newton_block.PRIOR * block.totals[newton_block.SEEN] / block.totals[newton_block.PRESENT]
    s = newton_block.direct(block, work, state.places, slots, z, prior)
    if s < 0.0:
        newton_block.restart(block)
        return
    softmax(scores, shares)
    before, total = max(block.totals[newton_block.CURVATURE], 1.0), 0.0
    for c in range(classes):
        p = shares[c]
        d = p - (c == target)
        h = weight * max(0.5 * (p * (1.0 - p) + d * d), newton_block.LEAST_CURVATURE / classes)
        steps[c] = weight * d / (block.shares[c] / before + h * s)
        block.shares[c] += h
        total += h
    block.totals[newton_block.CURVATURE] = before + total
    v = work.v
    for place in range(np.int64(block.totals[newton_block.MEMBERS])):
        for c in range(classes):
            block.weights[place, c] -= steps[c] * v[place]
    newton_block.shrink(block, v, total, s, prior)
