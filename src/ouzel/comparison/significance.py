"""Whether one learner is better than another, or only was so by chance.

Over random orders the same orders go to all, so differences are taken order by order (a paired t-test), and p-values
are corrected for as many comparisons as are made (Holm 1979, "A Simple Sequentially Rejective Multiple Test
Procedure"). Over sets ranks are compared: Demšar (2006), "Statistical Comparisons of Classifiers over Multiple Data
Sets", JMLR 7.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

LEVEL = 0.05  # of significance


def against_best(errors: np.ndarray) -> np.ndarray:
    """Holm's p-values (k,), that the candidate of least mean error is better than each; its own is 1.

    `errors` (k, orders) are of two orders or more.

    >>> against_best(np.array([[0.10, 0.11, 0.12], [0.20, 0.22, 0.23], [0.10, 0.12, 0.11]])).round(3).tolist()
    [1.0, 0.002, 1.0]
    """
    best = int(errors.mean(axis=1).argmin())
    found = np.ones(len(errors))
    others = [k for k in range(len(errors)) if k != best]
    raw = np.array([_paired(errors[k] - errors[best]) for k in others])
    least = 0.0
    for place, k in enumerate(np.argsort(raw, kind="stable")):
        least = max(least, min(1.0, (len(others) - place) * float(raw[k])))
        found[others[k]] = least
    return found


def _paired(differences: np.ndarray) -> float:
    """The p-value of a paired t-test of two sides."""
    from scipy.stats import t

    spread = float(differences.std(ddof=1)) / sqrt(len(differences))
    if spread == 0.0:
        return 1.0 if differences.mean() == 0.0 else 0.0
    return float(2.0 * t.sf(abs(float(differences.mean())) / spread, len(differences) - 1))


def mean_ranks(errors: np.ndarray) -> np.ndarray:
    """The mean rank (k,) of each candidate over sets, 1 for the least error; equal errors share theirs.

    >>> mean_ranks(np.array([[0.1, 0.2], [0.3, 0.2], [0.2, 0.4]])).tolist()
    [1.25, 2.25, 2.5]
    """
    from scipy.stats import rankdata

    ranks: np.ndarray = rankdata(errors, axis=0).mean(axis=1)
    return ranks


def critical_difference(candidates: int, sets: int) -> float:
    """Return the smallest difference of mean ranks that is significant at 5 % (Nemenyi's test; Demšar's eq. 8).

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(1.0 - LEVEL, candidates, np.inf)) / sqrt(2.0)
    return quantile * sqrt(candidates * (candidates + 1) / (6.0 * sets))
