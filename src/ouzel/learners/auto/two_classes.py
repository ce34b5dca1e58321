"""Six linear models of two classes side by side, on standardised features, and a tiny one that weighs their margins.

Three are normalised AdaGrad (Ross, Mineiro & Langford, 2013, "Normalized Online Learning", UAI, Algorithm 2): for the
slope g of a model's loss, and N the sum of all z^2 in t examples,
    s_j <- s_j + (g z_j)^2,    w_j <- w_j - share rate sqrt(t / N) g z_j / sqrt(s_j),
by the logistic loss, the squared hinge and the hinge in safe steps (`terms/importance_aware.py`). The fourth goes all
the way to a margin of 1, for streams that change and labels that persist: PA-I (Crammer, Dekel, Keshet, Shalev-Shwartz
& Singer, 2006, "Online Passive-Aggressive Algorithms", Journal of Machine Learning Research 7),
    w <- w + min(C, max(0, 1 - y w.z) / z.z) y z,    C = 1;
its s, of the hinge loss, only says how much it knows where workers are merged. Where one class is rare, margins have
far to go to it: with n_0 and n_1 the importance of each class so far, this example's included, steps of the first three
are max(1, |log((n_1 + 1) / (n_0 + 1))| / 3) times as long. The fifth is diagonal AROW (Crammer,
Kulesza & Dredze, 2009, "Adaptive Regularization of Weight Vectors", NIPS), its prior variance 10 / the mean of z'z. The
sixth is second-order logistic regression over the most frequent features (`newton_block.py`). Their margins, cut at 4,
are weighed by `mixing.py`; `sharing.py` chooses between the outcome and each of them alone.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source
from ouzel.kernels.simd import fetch_ahead
from ouzel.layout import float32, float64, uint32
from ouzel.learners.auto import effects, mixing, newton_block, sharing, standardisation
from ouzel.learners.auto.effects import Effects, learn_effects, predict_effects
from ouzel.learners.auto.mixing import MODELS_OF_TWO, Mixture, learn_mixture, room_for_two
from ouzel.learners.auto.newton_block import Block
from ouzel.learners.auto.sharing import MOST_IMPORTANCE, Shares, learn_margins, scale_margins
from ouzel.learners.auto.simd import FURTHEST, LARGEST, add_squares, add_squares_by_dither, move
from ouzel.learners.auto.standardisation import DENSE, FOUND, NORMS, SEEN, Features
from ouzel.learners.auto.turning import note_example, turning
from ouzel.learners.blocks import learning_scores_of, predicting_scores_of
from ouzel.learners.dithered_sums import dither_of
from ouzel.learners.shared_settings import Loss, Rate
from ouzel.ranges import Choice, Range
from ouzel.terms.importance_aware import importance_aware_step
from ouzel.terms.losses import Hinge, Logistic, SquaredHinge, derivative

RATES = (1.0, 0.5, 0.5)
LONGEST = 1.0  # C of PA-I
BALANCED = 3.0  # log odds of the classes, up to which steps are as long as they are between classes of equal size
MODELS = MODELS_OF_TWO
END = 4.0  # margins are cut there for the mixture
PRIOR = 10.0
LONG = 2.0**20  # examples, from which on sums of squares are rounded by a dither lest they stop
LEAST_VARIANCE, MOST_VARIANCE = 1e-30, 1e20
WEIGHT, ROOT, MEAN, VARIANCE = 0, 4, 8, 9  # columns of `table`


class Settings(NamedTuple):
    loss: Loss = Logistic()
    learning_rate: Annotated[Rate, "multiplies the step sizes of the models of first order"] = 1.0
    forms: Annotated[float, Choice(("raw", "made")), "columns of numbers: raw, or with curves and pairs too"] = 1.0
    derived_budget: Annotated[float, Range(0.0, size=True, each=1), "bytes for the weights of curves and pairs"] = (
        4.0 * 2**20
    )

    @property
    def budget(self) -> float:
        """Bytes for the weights of curves and pairs; 0 where none are made."""
        return self.derived_budget if self.forms else 0.0


class TwoClasses(NamedTuple):
    features: Features
    table: np.ndarray  # (d, 10) float32  four w, four s^-1/2 (0 where s is 0), AROW's mean and variance
    places: np.ndarray  # (d,) uint32  place in the block, 0 if none
    block: Block
    mixture: Mixture
    shares: Shares
    effects: Effects
    counts: np.ndarray  # (2,) float64  importance of the examples of each class
    scale: Mixture  # of margins by another loss


def layout(dimension: int, budget: float = 0.0) -> Any:
    """What a state with room for `dimension` slots is made of, with effects of columns in so many bytes."""
    least, most = (*(-inf,) * 4, *(0.0,) * 4, -inf, 0.0), (*(inf,) * 9, MOST_VARIANCE)
    return TwoClasses(
        features=standardisation.layout(dimension),
        table=float32(dimension, 10, least=least, most=most),
        places=uint32(dimension, most=newton_block.MOST),
        block=newton_block.layout(1, dimension),
        mixture=mixing.layout(MODELS),
        shares=sharing.layout(MODELS),
        effects=effects.layout(dimension, 1, budget),
        counts=float64(2, least=0.0),
        scale=sharing.scale_layout(),
    )


def is_of_two(state: Any) -> bool:
    """Whether a state, of whatever task, has the table of two classes, not that of several."""
    return bool(state.table.ndim == 2)


@force_inline
def _cut(margin):
    return min(max(margin, -END), END)


@inline_source
def margins_of(state, slots, values, out):
    """The models' margins as they are; cut, they go to `out` (6,)."""
    first = second = third = fourth = mean = newton = 0.0
    for k in range(len(slots)):
        row, z = state.table[slots[k]], np.float64(values[k])
        first += z * row[WEIGHT]
        second += z * row[WEIGHT + 1]
        third += z * row[WEIGHT + 2]
        fourth += z * row[WEIGHT + 3]
        mean += z * row[MEAN]
    for k in range(len(slots) if newton_block.worthwhile(state.block.totals) else 0):
        place = np.int64(state.places[slots[k]]) - 1
        if place >= 0:
            newton += state.block.weights[place, 0] * values[k]
    out[0], out[1], out[2] = _cut(first), _cut(second), _cut(third)
    out[3], out[4], out[5] = _cut(fourth), _cut(mean), _cut(newton)
    return first, second, third, fourth, mean, newton


@force_inline
def _predict(state, rows, settings, scores, work):
    """Write the scores of a block to `scores` (n, classes)."""
    for i in range(len(scores)):
        _, _, _, count = standardisation.view_example(state.features, rows, i, work)
        models = work.models
        margins_of(state, work.slots[:count], work.values[:count], models.margins)
        margin = sharing.margin_of(state.shares, state.mixture, models.margins, models.chances)
        scores[i, 0], scores[i, 1] = 0.0, margin
    predict_effects(state.effects, rows, effects.TWO, scores)
    scale_margins(settings.loss, state.scale, scores)


@inline_source
def _prefetch_pays(totals):
    """Whether more than half of the features of an example are not dense, so that their rows lie far apart."""
    return totals[FOUND] > 2.0 * totals[DENSE] * totals[SEEN]


@force_inline
def _learn_lines(state, rows, start, targets, importances, settings, scores, work):
    """Learn a block by the linear models; `scores` (n, classes) takes their predictions before each example."""
    for i in range(start, len(targets)):
        if i + 1 < len(targets) and _prefetch_pays(state.features.totals):
            ahead = rows.indices[rows.offsets[i + 1] : rows.offsets[i + 2]]
            fetch_ahead(state.features.moments, ahead)
            fetch_ahead(state.table, ahead)
        features, models, weight = state.features, work.models, min(np.float64(importances[i]), MOST_IMPORTANCE)
        indices, values, _, count = standardisation.view_example(features, rows, i, work)
        slots, z, sign = work.slots[:count], work.values[:count], 1.0 if targets[i] == 1 else -1.0
        seen, chances = models.margins, models.chances
        margins = margins_of(state, slots, z, seen)
        scores[i, 0], scores[i, 1] = 0.0, sharing.margin_of(state.shares, state.mixture, seen, chances)
        if weight > 0.0:
            present, turn = note_example(state, work, indices, values, count)
            state.counts[np.int64(sign > 0.0)] += weight
            if features.totals[NORMS] > 0.0:
                losses = Logistic(), SquaredHinge(), Hinge()
                longer = sharing.imbalance(state.counts[0], state.counts[1], BALANCED)
                learn_models(state, slots, z, work, margins, present, sign, weight, longer, settings, losses)
                p = chances[MODELS]
                sharing.learn_shares(state.shares, seen, chances, 1.0 if sign > 0.0 else 0.0, weight)
                slope = weight * (p - (sign > 0.0))
                learn_mixture(state.mixture, seen, models.root, models.step, slope, weight * p * (1.0 - p))
            if effects.note_example(state.effects) or turn:
                return i
    return len(targets)


@force_inline
def _learn(state, rows, start, targets, importances, settings, scores, work):
    """Learn a block; `scores` (n, classes) takes the predictions made before learning each example."""
    before = state.counts[0], state.counts[1]
    stop = _learn_lines(state, rows, start, targets, importances, settings, scores, work)
    learn_effects(state.effects, rows, start, stop, targets, importances, effects.TWO, Logistic(), scores, before)
    learn_margins(settings.loss, state.scale, start, stop, targets, importances, scores)
    return stop


learn_row, learn_rows = learning_scores_of(
    room_for_two, _learn, turning((WEIGHT, WEIGHT + 1, WEIGHT + 2, WEIGHT + 3, MEAN), (VARIANCE,))
)
predict_row, predict_rows = predicting_scores_of(room_for_two, _predict)


@force_inline
def _finite(slope):
    """The slope, or 0 for one whose square may not be finite."""
    return np.float32(slope) if abs(slope) < LARGEST else np.float32(0.0)


@inline_source
def learn_models(state, slots, z, work, margins, present, target, weight, longer, settings, losses):
    """Take a step in each model. The first three learn one of `losses` each; their steps are multiplied by `longer`."""
    _learn_adagrad(state, slots, z, margins, target, weight, longer, settings, losses)
    _learn_boldly(state, slots, z, margins[3], target, weight, settings)
    _learn_arow(state, slots, z, margins[4], target, weight)
    if present > 0:
        _learn_newton(state, slots, z, work, margins[5], target, weight)


@inline_source
def _learn_adagrad(state, slots, z, margins, target, weight, longer, settings, losses):
    """A step of each of the first three models; the sums of squares of the fourth."""
    slopes = (
        _finite(weight * derivative(losses[0], margins[0], target)),
        _finite(weight * derivative(losses[1], margins[1], target)),
        _finite(weight * derivative(losses[2], margins[2], target)),
        _finite(weight * derivative(Hinge(), margins[3], target)),
    )
    seen, norms = state.features.totals[SEEN], state.features.totals[NORMS]
    if seen < LONG:
        pushes = add_squares(state.table, slots, z, slopes)
    else:
        pushes = add_squares_by_dither(state.table, slots, z, slopes, dither_of(seen))
    unit = longer * settings.learning_rate * sqrt(seen / max(norms, 1.0))
    first, second, third = unit * RATES[0], unit * RATES[1], unit * RATES[2]
    first *= importance_aware_step(losses[0], margins[0], target, weight * first * pushes[0])
    second *= importance_aware_step(losses[1], margins[1], target, weight * second * pushes[1])
    third *= importance_aware_step(losses[2], margins[2], target, weight * third * pushes[2])
    steps = (
        slopes[0] * np.float32(first),
        slopes[1] * np.float32(second),
        slopes[2] * np.float32(third),
        np.float32(0.0),
    )
    move(state.table, slots, z, steps)


@inline_source
def _learn_boldly(state, slots, z, margin, target, weight, settings):
    """The fourth model's step, to a margin of 1 if that is not too far."""
    gap, norm = 1.0 - target * margin, 0.0
    for k in range(len(slots) if gap > 0.0 else 0):
        norm += np.float64(z[k]) * z[k]
    if norm > 0.0:
        step = target * min(gap / norm, settings.learning_rate * weight * LONGEST)
        for k in range(len(slots)):
            row = state.table[slots[k]]
            row[WEIGHT + 3] = held(row[WEIGHT + 3] + step * z[k])


@inline_source
def _learn_arow(state, slots, z, mean, target, weight):
    """AROW's step: mean and variances of the weights move where the margin is below 1."""
    gap, variance = 1.0 - target * mean, 1.0 / weight
    prior = np.float32(PRIOR * state.features.totals[SEEN] / max(state.features.totals[NORMS], 1.0))
    for k in range(len(slots) if gap > 0.0 else 0):
        row = state.table[slots[k]]
        if row[VARIANCE] == 0.0:
            row[VARIANCE] = prior
        variance += np.float64(z[k]) * z[k] * row[VARIANCE]
    for k in range(len(slots) if gap > 0.0 else 0):
        row = state.table[slots[k]]
        change = np.float64(row[VARIANCE]) * z[k]
        row[MEAN] = held(row[MEAN] + gap / variance * target * change)
        row[VARIANCE] = np.float32(max(row[VARIANCE] - change * change / variance, LEAST_VARIANCE))


@inline_source
def _learn_newton(state, slots, z, work, margin, target, weight):
    """The block's step, for one column."""
    block = state.block
    prior = newton_block.PRIOR * block.totals[newton_block.SEEN] / block.totals[newton_block.PRESENT]
    s = newton_block.direct(block, work, state.places, slots, z, prior)
    if s < 0.0:
        newton_block.restart(block)
        return
    yes, no = sharing.logistic(margin)
    d = yes - (target > 0.0)
    h = weight * max(0.5 * (yes * no + d * d), newton_block.LEAST_CURVATURE)
    step, v = weight * d / (1.0 + h * s), work.v
    for place in range(np.int64(block.totals[newton_block.MEMBERS])):
        block.weights[place, 0] -= step * v[place]
    newton_block.shrink(block, v, h, s, prior)


@force_inline
def held(weight):
    """A weight in single precision, no further than products with values allow."""
    return np.float32(min(max(weight, -FURTHEST), FURTHEST))


def prior_variance(features: Features) -> float:
    """AROW's, of the weights of features whose moments are these."""
    return float(PRIOR * max(features.totals[SEEN], 1.0) / max(features.totals[NORMS], 1.0))
