"""Metrics of ranking a group: average precision and precision at k (Duchi, Hazan & Singer 2011, section 6.2).

Examples of equal score count as ranked in the worst order, so that a constant score earns nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

PLACES = (1, 5, 10)


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
