"""Scores of the models inside the default learner, and what each adds to the margin: Aumann-Shapley values of scores.

Each model's score is a sum over features, but the margin is not: it is the logarithm of a mean of probabilities, of
scores that are cut (`sharing.py`, `effects.py`). With the scores s0 of the average example and s1 of an example, the
margin G, and c_j the part of a feature j in s1 - s0, that feature is given
    c_j . integral over t from 0 to 1 of dG/ds at s0 + t (s1 - s0),
so that what all features are given adds up to G(s1) - G(s0) (Aumann & Shapley, 1974, "Values of Non-Atomic Games"; along
features instead of scores it is Integrated Gradients: Sundararajan, Taly & Yan, 2017, "Axiomatic Attribution for Deep
Networks", ICML). A model whose probability the mean hardly depends on hardly counts. The integral is a sum over 16
Gauss-Legendre nodes; where scores are cut, the small rest goes to scores in proportion to their parts.

Here is the arithmetic of the kernels again in NumPy, over many examples: nothing is compiled for an explanation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ouzel.learners.auto import classification, other_numbers, regression, several_classes, standardisation, two_classes
from ouzel.learners.auto.constants import LEVEL, SHIFT, lead_of
from ouzel.learners.auto.effect_slopes import HIGH, LOW, MOST_LOGARITHM, of_logarithms
from ouzel.learners.auto.effects import END, SCORES, Effects
from ouzel.learners.auto.number_gains import HIGH as HIGHEST
from ouzel.learners.auto.number_gains import LOW as LOWEST
from ouzel.learners.auto.number_gains import MEAN
from ouzel.learners.auto.regrets import weights_of
from ouzel.learners.auto.sharing import LEAST, margin_factor

NODES = 16
MOST_WEIGHTS = 1 << 26  # of all models; beyond, the models are one
STEP = 1e-6  # of the range of margins, in differences that stand for slopes
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(NODES)
_POINTS, _WEIGHTS = 0.5 * (_POINTS + 1.0), 0.5 * _WEIGHTS


class Function(Protocol):
    """Margins as a function of scores."""

    def value(self, scores: np.ndarray) -> np.ndarray:
        """Return the margins (n, K) of scores (n, E, K)."""

    def slopes(self, scores: np.ndarray) -> np.ndarray:
        """Return the derivatives (n, K, E, K) of margins by scores (n, E, K)."""


class LinearModels(NamedTuple):
    """Several linear models of the features as they are, and the margin as a function of their scores."""

    weights: np.ndarray  # (E, K, d)
    constants: np.ndarray  # (E, K)
    function: Function


def average_slopes(function: Function, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how much each score counts (K, E, K) from scores `start` to `end` (E, K), and the margins (K,) there.

    The products of slopes and differences of scores add up to the difference of margins.
    """
    change = end - start
    slopes = np.tensordot(_WEIGHTS, function.slopes(start + _POINTS[:, None, None] * change), 1)
    margins = function.value(np.stack([start, end]))
    gap = margins[1] - margins[0] - (slopes * change).sum(axis=(1, 2))
    for parts in (np.abs(slopes) * change, np.broadcast_to(change, slopes.shape)):
        size = (parts * change).sum(axis=(1, 2))
        slopes = slopes + np.divide(gap, size, out=np.zeros(len(gap)), where=size > LEAST)[:, None, None] * parts
        gap = np.where(size > LEAST, 0.0, gap)
    return slopes, margins[1]


class Classes(NamedTuple):
    """Logarithms of the mean of probabilities of classes; of two classes, their odds.

    Each of the k probabilities comes from sums of scores as they are, and of scores cut so far below the best.
    """

    plain: np.ndarray  # (k, E)
    cut: np.ndarray  # (k, E)
    shares: np.ndarray  # (k,)
    end: float

    def value(self, scores: np.ndarray) -> np.ndarray:
        """Return the margins (n, K), or (n, 1) of two classes."""
        shown = _both(scores)
        _, best, inside = self._cut(shown)
        _, _, total = self._chances(shown, np.where(inside, shown, best - self.end))
        return total if scores.shape[2] > 1 else total[:, 1:] - total[:, :1]

    def slopes(self, scores: np.ndarray) -> np.ndarray:
        """Return the derivatives (n, K, E, K)."""
        shown = _both(scores)
        first, best, inside = self._cut(shown)
        chances, logs, total = self._chances(shown, np.where(inside, shown, best - self.end))
        with np.errstate(divide="ignore"):
            parts = np.exp(np.log(self.shares)[:, None] + logs - total[:, None])  # (n, k, K)  of each probability
        by_sums = -parts[..., None] * chances[:, :, None]  # (n, k, K, K)
        diagonal = np.arange(shown.shape[2])
        by_sums[:, :, diagonal, diagonal] += parts
        if scores.shape[2] == 1:
            by_sums = by_sums[:, :, 1:] - by_sums[:, :, :1]
        found = np.einsum("nkcd,ke->nced", by_sums, self.plain)
        by_cut = np.einsum("nkcd,ke->nced", by_sums, self.cut)
        own = by_cut * inside[:, None]
        own += (by_cut.sum(axis=3) - own.sum(axis=3))[..., None] * first[:, None]  # those cut follow the best
        return (found + own)[..., -scores.shape[2] :]

    def _cut(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which score is the best of each model, that score, and which scores are not cut."""
        best = scores.max(axis=2, keepdims=True)
        first = np.arange(scores.shape[2]) == scores.argmax(axis=2)[..., None]
        return first, best, scores > best - self.end

    def _chances(self, scores: np.ndarray, cut: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return probabilities (n, k, K), their logarithms, and the logarithms of their mean (n, K)."""
        sums = self.plain @ scores + self.cut @ cut
        sums -= sums.max(axis=2, keepdims=True)
        chances = np.exp(sums)
        total = chances.sum(axis=2, keepdims=True)
        chances /= total
        logs = sums - np.log(total)
        most = logs.max(axis=1, keepdims=True)
        mean = (self.shares[:, None] * np.exp(logs - most)).sum(axis=1)
        return chances, logs, np.log(np.maximum(mean, LEAST)) + most[:, 0]


class Numbers(NamedTuple):
    """Numbers to predict, or their logarithms, of scores (n, E); slopes are differences."""

    of_scores: Callable[[np.ndarray], np.ndarray]
    unit: float

    def value(self, scores: np.ndarray) -> np.ndarray:
        """Return the margins (n, 1)."""
        return self.of_scores(scores[..., 0])[:, None]

    def slopes(self, scores: np.ndarray) -> np.ndarray:
        """Return the derivatives (n, 1, E, 1)."""
        count, step = scores.shape[1], STEP * self.unit
        ends = scores[:, None, :, 0] + step * np.concatenate([np.eye(count), -np.eye(count)])
        found = self.of_scores(ends.reshape(-1, count)).reshape(len(scores), 2, count)
        return ((found[:, 0] - found[:, 1]) / (2.0 * step))[:, None, :, None]


def linear_models(state: Any, settings: Any, combined: np.ndarray) -> LinearModels | None:
    """Return the linear models of a state of the default learner; None of one whose scores are linear, to rank by.

    Where there are too many weights, the models are one, with their `combined` weights (K, d).
    """
    if isinstance(state, (two_classes.TwoClasses, several_classes.SeveralClasses)):
        return _of_classes(state) if combined.size * len(state.shares.scales) <= MOST_WEIGHTS else None
    if isinstance(state, (regression.State, other_numbers.State)):
        return _of_numbers(state, settings)
    return None


def with_effects(effects: Effects, kind: type, unit: float) -> Function:
    """Return margins as a function of three scores: that of the lines, what columns add to it, and what pairs add."""
    believed = np.append(effects.beliefs, effects.pooled)
    sums, pool = np.tri(SCORES), effects.pool.weights @ np.tri(SCORES)  # scores are sums of what is added
    if kind is Numbers:
        low, high, weights = effects.totals[LOW], effects.totals[HIGH], effects.pool.weights

        def of_scores(scores: np.ndarray) -> np.ndarray:
            line = scores[:, :1]
            parts = np.hstack([line, np.clip(scores @ sums.T[:, 1:], low, high)])
            pooled = np.clip(line[:, 0] + (parts - line) @ weights, low, high)
            return parts @ believed[:SCORES] + believed[SCORES] * pooled

        return Numbers(of_scores, unit)
    return _Pooled(Classes(np.vstack([np.eye(SCORES), 0.0 * pool]), _pool_of(effects), believed, END), sums)


class _Pooled(NamedTuple):
    """Classes as a function of what is added to the score of the lines."""

    classes: Classes
    sums: np.ndarray  # (3, 3)

    def value(self, scores: np.ndarray) -> np.ndarray:
        return self.classes.value(self.sums @ scores)

    def slopes(self, scores: np.ndarray) -> np.ndarray:
        by_sums = self.classes.slopes(self.sums @ scores)
        found: np.ndarray = np.einsum("ncfd,fe->nced", by_sums, self.sums)
        return found


def _pool_of(effects: Effects) -> np.ndarray:
    found = np.zeros((SCORES + 1, SCORES))
    found[SCORES] = effects.pool.weights
    return found


def _both(scores: np.ndarray) -> np.ndarray:
    """Return scores (n, E, K) of all classes: of two, the first has the score 0."""
    return scores if scores.shape[2] > 1 else np.concatenate([np.zeros_like(scores), scores], axis=2)


def _of_classes(state: Any) -> LinearModels:
    rule = classification.rule_of(state)
    slopes, shifts = standardisation.units(state.features, reaching=True)
    slopes[0] = 1.0
    parts = classification.weights_by_class(state)
    weights = np.stack(parts[1:] if rule is two_classes else parts).transpose(2, 0, 1)  # (E, K, d)
    constants = weights[..., 0] - weights @ shifts
    weights *= slopes
    count = len(state.shares.scales)
    cut = np.vstack([np.diag(state.shares.scales), state.mixture.weights])
    function = Classes(np.zeros((count + 1, count)), cut, state.shares.weights, rule.END)
    return LinearModels(weights, constants, function)


def _of_numbers(state: Any, settings: Any) -> LinearModels:
    slopes, shifts = standardisation.units(state.features, reaching=True)
    slopes[0] = 1.0
    others, weights = isinstance(state, other_numbers.State), regression.weights_by_model(state).T
    if others:
        near = state.table[:, [other_numbers.FROM_CONSTANT, other_numbers.FROM_SQUARED]].T
        weights = np.concatenate([weights, near])
    constants = weights[:, 0] - weights @ shifts
    of_scores = _of_other_numbers(state, settings.loss) if others else _of_squared(state)
    low, high = state.labels[LOWEST], state.labels[HIGHEST]
    unit = float(high - low) if np.isfinite(high - low) and high > low else 1.0
    return LinearModels((weights * slopes)[:, None], constants[:, None], Numbers(of_scores, unit))


def _of_squared(state: Any) -> Callable[[np.ndarray], np.ndarray]:
    """Return the prediction by the squared loss as a function of scores (n, 3)."""
    centred = state.features.moments[0, standardisation.COUNT] > 0.0
    middle, low, high = float(state.labels[MEAN]) * centred, state.labels[LOWEST], state.labels[HIGHEST]
    weights = state.mixture.weights

    def of_scores(scores: np.ndarray) -> np.ndarray:
        cut = np.clip(scores[:, : regression.MODELS], low - middle, high - middle)
        found: np.ndarray = np.clip(middle + cut @ weights, low, high)
        return found

    return of_scores


def _of_other_numbers(state: Any, loss: Any) -> Callable[[np.ndarray], np.ndarray]:
    """Return the margin by another loss as a function of scores (n, 5), as `other_numbers._experts` has it."""
    labels, squared = state.labels, _of_squared(state)
    centred, logarithms = state.features.moments[0, standardisation.COUNT] > 0.0, of_logarithms(loss)
    middle, mean = float(labels[MEAN]) * centred, float(other_numbers.mean_for_logarithms(labels))
    believed, numbers = weights_of(state.regrets, lead_of(loss)), state.constants.numbers

    def margin(number: Any, floor: float) -> np.ndarray:
        number = np.asarray(number, float)
        return np.minimum(np.log(np.maximum(number, floor * mean)), MOST_LOGARITHM) if logarithms else number

    constant = float(margin(mean, 1.0) if logarithms else numbers[LEVEL]) * centred
    low, high = margin(labels[LOWEST], other_numbers.FARTHEST), margin(labels[HIGHEST], 1.0)

    def of_scores(scores: np.ndarray) -> np.ndarray:
        found, floors = squared(scores), other_numbers.FLOORS
        first = margin(found, floors[0])
        cut = np.clip(scores[:, : regression.MODELS], labels[LOWEST] - middle, labels[HIGHEST] - middle)
        experts = np.column_stack(
            [
                np.full(len(scores), constant),
                first,
                margin(found, floors[1]) + numbers[SHIFT],
                constant + scores[:, 3],
                first + scores[:, 4],
                margin(middle + cut, floors[0]),
            ]
        )
        mixed: np.ndarray = np.clip(experts, low, high) @ believed
        return mixed

    return of_scores


def factor_of(state: Any, loss: Any) -> float:
    """Return what log odds are multiplied by, to be margins."""
    return float(margin_factor(loss, state.scale)) if "scale" in state._fields else 1.0
