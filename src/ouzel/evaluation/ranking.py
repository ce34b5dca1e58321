"""How well scores rank a group: average precision and precision at k, as Duchi, Hazan & Singer (2011), section 6.2.

Examples of equal score count as ranked in the worst order, so that a constant score earns nothing.
"""

from __future__ import annotations

import numpy as np


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
