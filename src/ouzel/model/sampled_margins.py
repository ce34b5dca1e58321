"""Margins of examples like those learnt, with the values of a column exchanged among them.

The default learner keeps up to 256 examples, with the numbers of the columns that have effects. The other features of
an example are drawn by their means: one word of a column where an example has one at most, others each by itself. What
exchanging the values of a column does to the margins is what permutation importance looks at (Breiman, 2001, "Random
Forests", Machine Learning 45), with no data but these.

So few examples are off by chance: their columns have not quite the means and standard deviations of all examples, which
are known. Examples are given weights that make up for that: calibration estimators (Deville & Sarndal, 1992, Journal of
the American Statistical Association 87).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ouzel.learners.auto.attribution import Numbers
from ouzel.learners.auto.effect_terms import Added, added_by_terms, intervals_of, pairs_with, sample_of
from ouzel.model.average_example import means_and_spreads

if TYPE_CHECKING:
    from ouzel.model.explainer import Explainer

COPIES = 4  # of an example kept, with other words drawn
EXCHANGES, MOST_EXCHANGES = 1 << 15, 8  # examples whose margins are looked at, of all columns; times a column
MOST_SCORES = 1 << 22  # of all examples
LOOKED_AT = 64  # examples of which slopes are averaged
FEW = 0.5  # of the examples have a number of which most are 0
CHANCE = 3.0  # standard errors that a mean of examples kept is off by chance
LEAST_WEIGHT = 0.1  # of an example kept
LEAST = 1e-30  # of what is divided by
LEAST_CHANCE = 1e-12  # of other classes
SEED = 0


class SampledMargins:
    """Examples like those learnt, for an explainer of a model with effects of columns."""

    def __init__(self, known: Explainer) -> None:
        self.known, self.random = known, np.random.default_rng(SEED)
        kept = np.zeros(len(known.ids), bool)
        kept[known.effect_features] = True
        self.rare = np.flatnonzero(~kept & (known.means != 0.0))
        self.owners, self.place = np.unique(known.owner, return_inverse=True)  # those that have features
        assert known.effects is not None
        sample, shape = sample_of(known.effects)[:, : len(known.effect_features)], known.absent.shape[1:]
        fits = COPIES * len(sample) * len(self.owners) * np.prod(shape) <= MOST_SCORES
        copies = COPIES if len(self.rare) and fits else 1
        self.numbers, self.weights = np.tile(sample, (copies, 1)), np.tile(self._weights(sample), copies)  # (n,)
        self.scores = np.zeros((len(self.numbers), len(self.owners), *shape))  # (n, owners, E, K)  beyond the average
        self.own = self._scores_of_kept()  # (n, C', E, K)
        for k, place in enumerate(self.place[known.effect_features].tolist()):
            self.scores[:, place] += self.own[:, k]
        self._draw_words(len(self.numbers))
        self.intervals = intervals_of(known.terms, self.numbers)
        self.added = added_by_terms(known.terms, self.numbers)
        self.total = self.scores.sum(axis=1)
        self.margins = known.margins(self.total, self.added.curves.sum(axis=1), self._by_pairs())

    def _weights(self, sample: np.ndarray) -> np.ndarray:
        """Return the weights (n,) by which numbers and their squares have the means that they have in all examples."""
        known, rows = self.known, len(sample)
        spreads = means_and_spreads(known.model)[1][known.slots][known.effect_features]
        beyond = (sample - known.means[known.effect_features]) / np.maximum(spreads, LEAST)
        beyond = np.hstack([beyond, beyond**2 - 1.0])[:, np.tile(spreads > 0.0, 2)]  # of mean 0 in all examples
        beyond /= np.maximum(beyond.std(axis=0), LEAST) if rows else 1.0
        size = beyond.shape[1]
        if not size or not rows:
            return np.ones(rows)
        means, most = beyond.mean(axis=0), CHANCE / np.sqrt(rows)
        beyond -= means
        ridge = (size / rows) ** 2  # many means are off by chance, too
        found = np.linalg.solve(beyond.T @ beyond / rows + ridge * np.eye(size), np.clip(-means, -most, most))
        weights: np.ndarray = np.maximum(1.0 + beyond @ found, LEAST_WEIGHT)
        return weights / weights.mean()

    def variances(self, added: np.ndarray) -> np.ndarray:
        """Return the variances (..., K) of what is added to margins (n, ..., K)."""
        weights = self.weights / max(self.weights.sum(), LEAST)
        found: np.ndarray = np.tensordot(weights, (added - np.tensordot(weights, added, 1)) ** 2, 1)
        return found

    def _scores_of_kept(self) -> np.ndarray:
        known = self.known
        found = np.zeros((len(self.numbers), len(known.effect_features), *known.weights.shape[1:]))
        for k, feature in enumerate(known.effect_features.tolist()):
            values = self.numbers[:, k].astype(np.float64)
            cut = values if known.cuts is None else known.cuts.of(np.full(len(values), feature), values)
            found[:, k] = (cut - known.means[feature])[:, None, None] * known.weights[feature]
        return found

    def _draw_words(self, rows: int) -> None:
        """Draw the features that are not kept."""
        known = self.known
        weights, means = known.weights[self.rare], known.means[self.rare]
        places = self.place[self.rare]
        values, shares = self._usual_values()
        usual = np.zeros(self.scores.shape[1:])
        np.add.at(usual, places, weights * means[:, None, None])
        self.scores -= usual
        exclusive = known.is_exclusive()[self.owners]
        for place in np.unique(places).tolist():
            words = np.flatnonzero(places == place)
            often = words[np.isnan(values[words])]
            if len(often):
                self._draw_numbers(place, often, rows)
                words = words[~np.isnan(values[words])]
            if exclusive[place]:
                free = self.random.permutation(np.flatnonzero(~self._has_kept(place)))
                ends = np.cumsum(means[words]) * rows
                drawn = np.searchsorted(ends, np.arange(len(free)) + 0.5)
                free, drawn = free[drawn < len(words)], words[drawn[drawn < len(words)]]
            else:
                counts = np.floor(shares[words] * rows + self.random.random(len(words))).astype(np.int64)
                drawn = np.repeat(words, np.minimum(counts, rows))
                free = self.random.integers(0, rows, len(drawn))
            np.add.at(self.scores, (free, place), weights[drawn] * values[drawn, None, None])

    def _usual_values(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the value (r,) of each feature drawn where it is not 0, and the share (r,) of examples that have it.

        These give it its mean and variance; a word is 1. The value is NaN where more than half have a number.
        """
        known, means = self.known, self.known.means[self.rare]
        spreads = means_and_spreads(known.model)[1][known.slots][self.rare]
        squares = means**2 + spreads**2
        is_word, shares = known.is_word()[self.rare], means**2 / squares
        values = np.where(shares <= FEW, squares / means, np.nan)
        return np.where(is_word, 1.0, values), np.where(is_word, means, shares)

    def _draw_numbers(self, place: int, features: np.ndarray, rows: int) -> None:
        """Draw numbers that most examples have: half of the examples a deviation above the mean, the others below."""
        known, features = self.known, self.rare[features]
        spreads = means_and_spreads(known.model)[1][known.slots][features]
        for feature, mean, spread in zip(features.tolist(), known.means[features], spreads, strict=True):
            sides = self.random.permutation(rows) % 2 * 2.0 - 1.0
            self.scores[:, place] += (mean + spread * sides)[:, None, None] * known.weights[feature]

    def _has_kept(self, place: int) -> np.ndarray:
        """Whether each example has one of an owner's features that are kept."""
        kept = np.flatnonzero(self.place[self.known.effect_features] == place)
        found: np.ndarray = (self.numbers[:, kept] != 0.0).any(axis=1)
        return found

    def _by_pairs(self) -> np.ndarray:
        total: np.ndarray = self.added.mains.sum(axis=1) + self.added.pairs.sum(axis=1)
        return total

    def exchanged(self) -> np.ndarray:
        """Return how far margins move where the values of a column are exchanged (C, K).

        Of numbers it is the root of half the mean square: the standard deviation of what a column adds, where others do
        not matter to that. Of classes a move counts by what it costs in log loss if the model is right: the
        Kullback-Leibler divergence in place of half the square, in units of its mean curvature. So moves of margins
        that are far from 0 hardly count.
        """
        known, rows = self.known, len(self.numbers)
        times = int(np.clip(EXCHANGES // max(rows * len(known.columns), 1), 1, MOST_EXCHANGES))
        found, total = np.zeros((2, len(known.columns), self.margins.shape[1]))
        curves, pairs = self.added.curves.sum(axis=1), self._by_pairs()
        orders = [self.random.permutation(rows) for _ in range(times)]
        for place, column in enumerate(known.columns):
            owners = np.flatnonzero([column in known.owners[owner] for owner in self.owners.tolist()])
            moved = np.flatnonzero(np.isin(self.place[known.effect_features], owners))
            touched = np.flatnonzero(np.isin(known.terms.pairs, moved).any(axis=1))
            own = self.scores[:, owners].sum(axis=1)
            by_one, by_pair = self.added.curves[:, moved].sum(axis=1), self.added.mains[:, moved].sum(axis=1)
            for order in orders:
                by_pairs = pairs + by_pair[order] - by_pair
                if len(touched):
                    intervals = self.intervals.copy()
                    intervals[:, moved] = self.intervals[order][:, moved]
                    by_pairs += pairs_with(known.terms, intervals, touched).sum(axis=1)
                    by_pairs -= self.added.pairs[:, touched].sum(axis=1)
                new = known.margins(self.total + own[order] - own, curves + by_one[order] - by_one, by_pairs)
                weights = self.weights * self.weights[order]
                found[place] += weights @ self._costs(new)
                total[place] += weights.sum()
        return np.sqrt(found / np.maximum(total, LEAST))

    def _costs(self, new: np.ndarray) -> np.ndarray:
        """Return what the move of the margins to new ones (n, K) costs, in the unit of their squares."""
        known = self.known
        if known.function is None or isinstance(known.function, Numbers):
            squares: np.ndarray = 0.5 * (new - self.margins) ** 2
            return squares
        odds, moved = (log_odds(margins / known.factor) for margins in (self.margins, new))
        chances = 1.0 / (1.0 + np.exp(-np.abs(odds)))
        unit = self.weights @ (chances * (1.0 - chances)) / self.weights.sum()
        chances = np.where(odds > 0.0, chances, 1.0 - chances)
        cost = chances * (odds - moved) + np.logaddexp(0.0, moved) - np.logaddexp(0.0, odds)
        found: np.ndarray = known.factor**2 * np.maximum(cost, 0.0) / np.maximum(unit, LEAST)
        return found

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return what features that are kept, and pairs, add to margins, and how much scores count on average.

        (n, C', K), (n, P, K), (K, E, K) and (K, 2, K).
        """
        step = max(len(self.numbers) // LOOKED_AT, 1)
        slopes, by_effects = (
            np.mean(part, axis=0)
            for part in zip(
                *(
                    self.known.slopes(self.total[row], Added(*(part[row : row + 1] for part in self.added)))
                    for row in range(0, len(self.numbers), step)
                ),
                strict=True,
            )
        )
        own = np.einsum("nfek,cek->nfc", self.own, slopes, optimize=True)
        own += self.added.curves @ by_effects[:, 0].T + self.added.mains @ by_effects[:, 1].T
        return own, self.added.pairs @ by_effects[:, 1].T, slopes, by_effects


def log_odds(margins: np.ndarray) -> np.ndarray:
    """Return the log odds (n, K) of each class against the rest, of margins (n, K), or those of two classes (n, 1)."""
    if margins.shape[1] == 1:
        return margins
    logs = margins - np.logaddexp.reduce(margins, axis=1, keepdims=True)
    rest = -np.expm1(np.minimum(logs, -LEAST_CHANCE))
    found: np.ndarray = logs - np.log(rest)
    return found
