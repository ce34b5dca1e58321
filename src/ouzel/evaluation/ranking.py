"""Metrics of ranks: of groups of examples, and of the margins of two classes.

Groups have average precision and precision at k (Duchi, Hazan & Singer 2011, section 6.2). Examples of equal score
count as ranked in the worst order, so that a constant score earns nothing.

Two classes have areas under curves, from a histogram of fixed size. Its bins are the leading 16 bits of the float32
margins (sign, exponent and 7 bits of mantissa: less than 1 % wide at any scale), so that memory is bounded, and
histograms of parts of a stream add up. Margins within a bin count as equal:

- The area under the ROC curve counts pairs within a bin one half, and is off by at most half their share of all pairs.
- The average precision of the rarer class is scikit-learn's sum of precision times step of recall, of the bins' ranks.
  It is least where the examples of the rarer class come last within each bin, and largest where they come first; what
  is between these two and the figure is the largest possible error.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline

PLACES = (1, 5, 10)
BINS = 1 << 16
HALF, LAST_BIT, FIRST_BIT = np.uint32(16), np.uint32(31), np.uint32(1 << 31)
TINY = 1e-300
OF_TWO_CLASSES = (
    *("auc", "auc_error", "average_precision", "average_precision_error"),
    *("precision", "recall", "f1", "rare_share"),
)
RARE = 0.1  # share of a class below which the figures of the rarer class are shown to people, too


def ranked(scores: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    """Whether each is relevant (n,), best score first; a score that is not a number comes last."""
    known = np.where(np.isnan(scores), -np.inf, scores)
    return relevant[np.lexsort((relevant, -known))]


def average_precision(scores: np.ndarray, relevant: np.ndarray) -> float:
    """The mean, over the relevant examples, of the precision at the place where each stands; NaN if there is none.

    >>> average_precision(np.array([3.0, 2.0, 1.0]), np.array([True, False, True]))
    0.8333333333333333
    """
    hits = ranked(scores, relevant.astype(bool))
    places = np.flatnonzero(hits) + 1
    return float(np.mean(np.arange(1, len(places) + 1) / places)) if len(places) else float("nan")


def precision_at(k: int, scores: np.ndarray, relevant: np.ndarray) -> float:
    """The share of relevant examples among the k of highest score; places that a small group lacks count as misses.

    >>> precision_at(2, np.array([3.0, 2.0, 1.0]), np.array([True, False, True]))
    0.5
    """
    return float(ranked(scores, relevant.astype(bool))[:k].sum() / k)


class Ranks:
    """The means, over groups that have a relevant example (a grade above 0), of average precision and precision at k.

    >>> ranks = Ranks()
    >>> ranks.add([(np.array([3.0, 2.0, 1.0]), np.array([1.0, 0.0, 2.0]))])
    >>> ranks.figures()["average_precision"]
    0.8333333333333333
    """

    def __init__(self) -> None:
        self.sums = np.zeros(2 + len(PLACES))  # groups, average precision, precision at each place

    def add(self, groups: Iterable[tuple[np.ndarray, np.ndarray]]) -> None:
        """Count groups by the scores and the grades of their examples."""
        for scores, grades in groups:
            relevant = grades > 0.0
            if relevant.any():
                precisions = [precision_at(k, scores, relevant) for k in PLACES]
                self.sums += [1.0, average_precision(scores, relevant), *precisions]

    def figures(self) -> dict[str, float | None]:
        """Every figure by name; None without groups."""
        names = ("average_precision", *(f"precision_at_{k}" for k in PLACES))
        count = self.sums[0]
        return {name: float(total / count) if count else None for name, total in zip(names, self.sums[1:], strict=True)}

    def restore(self, sums: list[float]) -> None:
        """Go on from sums; a ValueError if they are not such."""
        found = np.array(sums, np.float64)
        if found.shape != self.sums.shape:
            raise ValueError("sums of ranks of another shape")
        self.sums = found


@force_inline
def bin_of(margin):
    """The histogram bin of a margin: the leading 16 bits of its float32, arranged to grow with the margin."""
    bits = np.float32(margin).view(np.uint32)
    ordered = ~bits if bits >> LAST_BIT else bits | FIRST_BIT
    return ordered >> HALF


class RankedBins(NamedTuple):
    """The margins of two classes in bins that hold anything, from the least margin to the largest."""

    negative: np.ndarray  # (bins,) importances of the first class
    positive: np.ndarray  # (bins,) of the second

    @classmethod
    def of(cls, histogram: np.ndarray) -> RankedBins:
        """Those of a histogram (2, BINS)."""
        return cls(*histogram[:, histogram.any(axis=0)])

    @property
    def complete(self) -> bool:
        """Whether there are examples of both classes."""
        return bool(self.negative.sum() * self.positive.sum() > 0.0)

    def rarer(self) -> int:
        """The class of the smaller importance, 0 or 1; the second of two alike."""
        return int(self.positive.sum() <= self.negative.sum())

    def area(self) -> tuple[float, float]:
        """Area under the ROC curve, and the largest possible error of it.

        >>> RankedBins(np.array([3.0, 1.0, 0.0]), np.array([0.0, 1.0, 1.0])).area()
        (0.9375, 0.0625)
        """
        negative, positive = self
        pairs = negative.sum() * positive.sum()
        within = float((negative * positive).sum() / 2)
        below = np.cumsum(negative) - negative
        return float((positive @ below + within) / pairs), float(within / pairs)

    def average_precision(self, smallest: float = 0.0) -> tuple[float, float]:
        """Average precision of the rarer class, and the largest possible error of it.

        Every example has an importance of `smallest` or more, which bounds how many there are in a bin; NaN if unknown.

        >>> precision, error = RankedBins(np.array([3.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0])).average_precision(1.0)
        >>> round(precision, 4), round(error, 4)
        (0.5833, 0.25)
        """
        ranked = (self.positive, self.negative) if self.rarer() else (self.negative[::-1], self.positive[::-1])
        own, others = (part[::-1] for part in ranked)  # best first
        some, total = own > 0.0, own.sum()
        found, above = np.cumsum(own)[some], np.cumsum(others)[some]  # up to a bin, and within it
        own, within = own[some], others[some]
        figure = float(own @ (found / (found + above)) / total)
        best = float(own @ (found / (found + above - within)) / total)
        before = found - own + (smallest / 2 if smallest > 0.0 else 0.0)
        # a right sum of x / (x + above), which rises and is concave, is not below the integral half a step further on
        worst = float((own - above * np.log1p(own / np.maximum(before + above, TINY))).sum() / total)
        return figure, max(best - figure, figure - worst, 0.0)

    def at_threshold(self, *wrong: float) -> tuple[float | None, float | None, float | None, float]:
        """Precision, recall and F1 of the rarer class, and its share, by the importance of the mistakes on each class.

        There is no precision where nothing was taken for the rarer class, and none of the three of mistakes that are
        not known (NaN).

        >>> RankedBins(np.array([3.0, 3.0]), np.array([1.0, 1.0])).at_threshold(2.0, 1.0)
        (0.3333333333333333, 0.5, 0.4, 0.25)
        """
        sizes, rare = (float(self.negative.sum()), float(self.positive.sum())), self.rarer()
        share, missed, alarms = sizes[rare] / sum(sizes), wrong[rare], wrong[1 - rare]
        if missed != missed:
            return None, None, None, share
        hits = max(sizes[rare] - missed, 0.0)
        precision = hits / (hits + alarms) if hits + alarms > 0.0 else None
        return precision, hits / sizes[rare], 2.0 * hits / (2.0 * hits + missed + alarms), share
