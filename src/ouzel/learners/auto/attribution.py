"""Scores of the models inside the default learner, and what each adds to the margin: Aumann-Shapley values of scores.

Each model's score is a sum over features, but the margin is not: it is the logarithm of a mean of probabilities, of
scores that are cut (`sharing.py`, `effects.py`). With the scores s0 of the average example and s1 of an example, the
margin G, and c_j the part of a feature j in s1 - s0, that feature is given
    c_j . integral over t from 0 to 1 of dG/ds at s0 + t (s1 - s0),
so that what all features are given adds up to G(s1) - G(s0) (Aumann & Shapley, 1974, "Values of Non-Atomic Games";
along features instead of scores: Sundararajan, Taly & Yan, 2017, "Axiomatic Attribution for Deep Networks", ICML). A
model whose probability the mean hardly depends on hardly counts. The integral is a sum over 16 Gauss-Legendre nodes;
where scores are cut, the small rest goes to scores in proportion to their parts.

Here is the arithmetic of the kernels again in NumPy, over many examples: nothing is compiled for an explanation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ouzel.deferred import deferred
from ouzel.learners.auto import classification, standardisation, two_classes
from ouzel.learners.auto.effect_slopes import HIGH, LOW, MOST_LOGARITHM, of_logarithms
from ouzel.learners.auto.effects import END, SCORES, Effects
from ouzel.learners.auto.sharing import LEAST, margin_factor

if TYPE_CHECKING:
    from ouzel.learners.auto import constants, number_gains, other_numbers, regression, regrets
else:
    constants = deferred("ouzel.learners.auto.constants")  # of numbers
    number_gains = deferred("ouzel.learners.auto.number_gains")
    other_numbers = deferred("ouzel.learners.auto.other_numbers")
    regression = deferred("ouzel.learners.auto.regression")
    regrets = deferred("ouzel.learners.auto.regrets")

NODES = 16
MOST_WEIGHTS = 1 << 26  # of all models; beyond, the models are one
STEP = 1e-6  # of the range of margins, in differences that stand for slopes
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(NODES)
_POINTS = np.concatenate([[0.0], 0.5 * (_POINTS + 1.0), [1.0]])[:, None, None]  # both ends are looked at as well
_WEIGHTS = np.concatenate([[0.0], 0.5 * _WEIGHTS, [0.0]])


class Function(Protocol):
    """Margins as a function of scores."""

    def margins(self, scores: np.ndarray) -> np.ndarray:
        """Return the margins (n, K) of scores (n, E, K)."""

    def slopes(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the margins (n, K), and their derivatives (n, K, E, K)."""


class LinearModels(NamedTuple):
    """Several linear models of the features as they are, and the margin as a function of their scores."""

    slots: np.ndarray  # (d,) int64  rising, that of the constant feature left out
    weights: np.ndarray  # (d, E, K)
    constants: np.ndarray  # (E, K)  the scores where all features are 0
    function: Function


def average_slopes(function: Function, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how much each score counts (K, E, K) from scores `start` to `end` (E, K), and the margins (K,) there.

    The products of slopes and differences of scores add up to the difference of margins.
    """
    change = end - start
    margins, slopes = function.slopes(start + _POINTS * change)
    mean: np.ndarray = (_WEIGHTS @ slopes.reshape(len(slopes), -1)).reshape(slopes.shape[1:])
    gap = margins[-1] - margins[0] - np.add.reduce(mean * change, axis=(1, 2))
    for by_slopes in (True, False):
        if not gap.any():
            break
        parts = np.abs(mean) * change if by_slopes else change
        size = np.add.reduce(parts * change, axis=(-1, -2))
        is_known = size > LEAST
        part = np.where(is_known, gap, 0.0) / np.maximum(size, LEAST)
        mean = mean + part[..., None, None] * parts
        gap = np.where(is_known, 0.0, gap)
    return mean, margins[-1]


class Odds(NamedTuple):
    """Logarithms of the odds of two classes, for the mean of k probabilities.

    Each comes from a sum of scores as they are, and of scores cut at `end`.
    """

    plain: np.ndarray  # (k, E)
    cut: np.ndarray  # (k, E)
    shares: np.ndarray  # (k,)
    end: float

    def margins(self, scores: np.ndarray) -> np.ndarray:
        """Return the margins (n, 1)."""
        return self.slopes(scores)[0]

    def slopes(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the margins (n, 1), and their derivatives (n, 1, E, 1)."""
        own = scores[..., 0]
        sums = own @ self.plain.T + np.minimum(np.maximum(own, -self.end), self.end) @ self.cut.T
        small = np.exp(-np.abs(sums))
        most = 1.0 / (1.0 + small)
        least = small * most
        is_yes = sums > 0.0
        yes, no = np.where(is_yes, most, least), np.where(is_yes, least, most)
        up, down = np.maximum(yes @ self.shares, LEAST), np.maximum(no @ self.shares, LEAST)
        by_sums = self.shares * (most * least) / (up * down)[:, None] * (up + down)[:, None]
        slopes = by_sums @ self.plain + (by_sums @ self.cut) * (np.abs(own) < self.end)
        return (np.log(up) - np.log(down))[:, None], slopes[:, None, :, None]


class Classes(NamedTuple):
    """Logarithms of the mean of k probabilities of several classes.

    Each comes from sums of scores as they are, and of scores cut at `end` below the best of their model.
    """

    plain: np.ndarray  # (k, E)
    cut: np.ndarray  # (k, E)
    shares: np.ndarray  # (k,)
    end: float

    def margins(self, scores: np.ndarray) -> np.ndarray:
        """Return the margins (n, K)."""
        return self._chances(scores)[0]

    def slopes(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the margins (n, K), and their derivatives (n, K, E, K)."""
        margins, chances, logs, inside = self._chances(scores)
        parts = self.shares[:, None] * np.exp(logs - margins[:, None])  # (n, k, K)  of each probability in the mean
        by_sums = -parts[..., None] * chances[:, :, None]  # (n, k, K, K)
        diagonal = np.arange(scores.shape[2])
        by_sums[:, :, diagonal, diagonal] += parts
        by_cut = np.einsum("nkcd,ke->nced", by_sums, self.cut, optimize=True)
        slopes = np.einsum("nkcd,ke->nced", by_sums, self.plain, optimize=True) + by_cut * inside[:, None]
        first = diagonal == scores.argmax(axis=2)[..., None]
        lost = by_cut.sum(axis=3) - (by_cut * inside[:, None]).sum(axis=3)
        return margins, slopes + lost[..., None] * first[:, None]  # scores that are cut follow the best

    def _chances(self, scores: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the margins, each probability (n, k, K) and its logarithm, and which scores are not cut."""
        best = scores.max(axis=2, keepdims=True)
        inside = scores > best - self.end
        sums = self.plain @ scores + self.cut @ np.where(inside, scores, best - self.end)
        sums -= sums.max(axis=2, keepdims=True)
        chances = np.exp(sums)
        total = chances.sum(axis=2, keepdims=True)
        chances /= total
        logs = sums - np.log(total)
        most = logs.max(axis=1, keepdims=True)
        mean = (self.shares[:, None] * np.exp(logs - most)).sum(axis=1)
        return np.log(np.maximum(mean, LEAST)) + most[:, 0], chances, logs, inside


class Numbers(NamedTuple):
    """Numbers to predict, or their logarithms, of scores (n, E); slopes are differences."""

    of_scores: Callable[[np.ndarray], np.ndarray]
    unit: float

    def margins(self, scores: np.ndarray) -> np.ndarray:
        """Return the margins (n, 1)."""
        return self.of_scores(scores[..., 0])[:, None]

    def slopes(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the margins (n, 1), and their derivatives (n, 1, E, 1)."""
        own, step = scores[..., 0], STEP * self.unit
        moves = np.concatenate([np.zeros((1, own.shape[1])), step * np.eye(own.shape[1]), -step * np.eye(own.shape[1])])
        found = self.of_scores((own[:, None] + moves).reshape(-1, own.shape[1])).reshape(len(own), -1)
        up, down = found[:, 1 : own.shape[1] + 1], found[:, own.shape[1] + 1 :]
        return found[:, :1], ((up - down) / (2.0 * step))[:, None, :, None]


def linear_models(state: Any, settings: Any) -> LinearModels | None:
    """Return the linear models of a state of the default learner; None of one whose scores are linear, to rank by.

    None, too, where they have too many weights to look at one by one.
    """
    if "shares" in state._fields:
        return _of_classes(state)
    return _of_numbers(state, settings) if "labels" in state._fields else None


def with_effects(effects: Effects, lines: Function) -> Function:
    """Return margins as a function of three scores: that of the lines, what columns add to it, and what pairs add."""
    believed, pool = np.append(effects.beliefs, effects.pooled), effects.pool.weights
    sums = np.tri(SCORES)  # scores are sums of what is added
    if isinstance(lines, Numbers):
        low, high = effects.totals[LOW], effects.totals[HIGH]

        def of_scores(scores: np.ndarray) -> np.ndarray:
            line = scores[:, :1]
            parts = np.hstack([line, np.clip(scores @ sums.T[:, 1:], low, high)])
            pooled = np.clip(line[:, 0] + (parts - line) @ pool, low, high)
            found: np.ndarray = parts @ believed[:SCORES] + believed[SCORES] * pooled
            return found

        return Numbers(of_scores, lines.unit)
    plain, cut = np.vstack([np.eye(SCORES), np.zeros(SCORES)]), np.vstack([np.zeros((SCORES, SCORES)), pool])
    return _OfSums((Odds if isinstance(lines, Odds) else Classes)(plain, cut, believed, END), sums)


class _OfSums(NamedTuple):
    """A function of scores that are sums of others."""

    function: Function
    sums: np.ndarray  # (E, E)

    def margins(self, scores: np.ndarray) -> np.ndarray:
        """Return the margins (n, K)."""
        return self.function.margins(self.sums @ scores)

    def slopes(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the margins (n, K), and their derivatives (n, K, E, K)."""
        margins, slopes = self.function.slopes(self.sums @ scores)
        return margins, self.sums.T @ slopes


def _of_classes(state: Any) -> LinearModels | None:
    rule, count = classification.rule_of(state), len(state.shares.scales)
    scales, shifts = standardisation.units(state.features, reaching=True)
    slots = _slots_of(state, scales)
    every = np.append(0, slots)
    if len(every) * count * state.block.weights.shape[1] > MOST_WEIGHTS:
        return None
    parts = classification.weights_by_class(state, every)
    weights = np.stack(parts[1:] if rule is two_classes else parts, axis=2)  # (d, E, K)
    cut = np.vstack([np.diag(state.shares.scales), state.mixture.weights])
    kind = Odds if rule is two_classes else Classes
    function = kind(np.zeros((count + 1, count)), cut, state.shares.weights, rule.END)
    return _linear_models(slots, weights, scales, shifts, function)


def _of_numbers(state: Any, settings: Any) -> LinearModels:
    scales, shifts = standardisation.units(state.features, reaching=True)
    slots = _slots_of(state, scales)
    others, weights = "regrets" in state._fields, regression.weights_by_model(state)
    if others:
        weights = np.hstack([weights, state.table[:, [other_numbers.FROM_CONSTANT, other_numbers.FROM_SQUARED]]])
    of_scores = _of_other_numbers(state, settings.loss) if others else _of_squared(state)
    low, high = state.labels[number_gains.LOW], state.labels[number_gains.HIGH]
    unit = float(high - low) if np.isfinite(high - low) and high > low else 1.0
    return _linear_models(slots, weights[np.append(0, slots)][..., None], scales, shifts, Numbers(of_scores, unit))


def _slots_of(state: Any, scales: np.ndarray) -> np.ndarray:
    """Return the slots of features that have a unit, or effects."""
    found: np.ndarray = np.flatnonzero((scales[1:] != 0.0) | (state.effects.column_of[1:] > 0)) + 1
    return found


def _linear_models(
    slots: np.ndarray, weights: np.ndarray, scales: np.ndarray, shifts: np.ndarray, function: Function
) -> LinearModels:
    """Return models of features as they are, of weights (1 + d, E, K) of the constant and of what models see."""
    own = weights[1:]
    constants = weights[0] - np.tensordot(shifts[slots], own, 1)
    return LinearModels(slots, own * scales[slots, None, None], constants, function)


def _of_squared(state: Any) -> Callable[[np.ndarray], np.ndarray]:
    """Return the prediction by the squared loss as a function of scores (n, 3)."""
    centred = state.features.moments[0, standardisation.COUNT] > 0.0
    middle, low, high = (
        float(state.labels[number_gains.MEAN]) * centred,
        state.labels[number_gains.LOW],
        state.labels[number_gains.HIGH],
    )
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
    middle, mean = (
        float(labels[number_gains.MEAN]) * centred,
        max(
            float(labels[number_gains.MEAN]), other_numbers.LEAST / (labels[number_gains.WEIGHT] + other_numbers.LEAST)
        ),
    )
    believed, numbers = regrets.weights_of(state.regrets, constants.lead_of(loss)), state.constants.numbers

    def margin(number: Any, floor: float) -> np.ndarray:
        number = np.asarray(number, float)
        return np.minimum(np.log(np.maximum(number, floor * mean)), MOST_LOGARITHM) if logarithms else number

    constant = float(margin(mean, 1.0) if logarithms else numbers[constants.LEVEL]) * centred
    low, high = margin(labels[number_gains.LOW], other_numbers.FARTHEST), margin(labels[number_gains.HIGH], 1.0)

    def of_scores(scores: np.ndarray) -> np.ndarray:
        found, floors = squared(scores), other_numbers.FLOORS
        first = margin(found, floors[0])
        cut = np.clip(
            scores[:, : regression.MODELS], labels[number_gains.LOW] - middle, labels[number_gains.HIGH] - middle
        )
        experts = np.column_stack(
            [
                np.full(len(scores), constant),
                first,
                margin(found, floors[1]) + numbers[constants.SHIFT],
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
