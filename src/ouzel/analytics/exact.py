"""Exact counts, and recall and correlation of estimates with them; memory grows with the number of distinct items."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

PENDING = 1 << 22  # items counted at a time


class ExactCounts:
    """Exact number of occurrences of each slot in two classes.

    >>> counts = ExactCounts()
    >>> counts.add(np.array([7, 9, 7], np.uint32), np.array([0, 1, 1]))
    >>> counts.of(np.array([7, 8], np.uint32)).tolist()
    [[1, 1], [0, 0]]
    """

    def __init__(self) -> None:
        self._slots = np.empty(0, np.uint32)
        self._counts = np.empty((0, 2), np.int64)
        self._pending: list[tuple[np.ndarray, np.ndarray]] = []
        self._waiting = 0

    def add(self, slots: np.ndarray, which: np.ndarray) -> None:
        """Count slots (n,) of class (n,) 0 or 1."""
        self._pending.append((slots, which))
        self._waiting += len(slots)
        if self._waiting >= PENDING:
            self._join()

    @property
    def slots(self) -> np.ndarray:
        """All distinct slots, ascending."""
        self._join()
        return self._slots

    @property
    def counts(self) -> np.ndarray:
        """Occurrences (slots, 2) in each class."""
        self._join()
        return self._counts

    def of(self, slots: np.ndarray) -> np.ndarray:
        """Return occurrences (n, 2) of the given slots."""
        known = self.slots
        if not len(known):
            return np.zeros((len(slots), 2), np.int64)
        at = np.minimum(np.searchsorted(known, slots), len(known) - 1)
        return np.where((known[at] == slots)[:, None], self._counts[at], 0)

    def _join(self) -> None:
        if not self._pending:
            return
        slots = np.concatenate([some for some, _ in self._pending])
        which = np.concatenate([some for _, some in self._pending])
        self._pending, self._waiting = [], 0
        found, inverse = np.unique(slots, return_inverse=True)
        counts = np.stack([np.bincount(inverse[which == k], minlength=len(found)) for k in (0, 1)], axis=1)
        union, place = np.unique(np.concatenate([self._slots, found]), return_inverse=True)
        joined = np.zeros((len(union), 2), np.int64)
        joined[place[: len(self._slots)]] = self._counts
        joined[place[len(self._slots) :]] += counts
        self._slots, self._counts = union, joined


def log_ratios(counts: np.ndarray) -> np.ndarray:
    """Return logarithms of the ratios of counts (n, 2), in which a count of 0 is taken as 1.

    >>> np.exp(log_ratios(np.array([[8, 2], [5, 0]]))).round(6).tolist()
    [4.0, 5.0]
    """
    return np.log(np.maximum(counts[:, 0], 1)) - np.log(np.maximum(counts[:, 1], 1))


def ratio_intervals(counts: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper ends (n,) of intervals for the ratios of counts (n, 2); inf where one has no bound.

    Of an item's occurrences, if they are independent, the share in the first stream is binomial. The interval is that
    of Wilson (1927) for this share p, as ratios p / (1 - p).

    >>> low, high = ratio_intervals(np.array([[70, 0], [30, 10]]))
    >>> low.round(1).tolist(), high.round(1).tolist()
    ([18.2, 1.5], [inf, 6.0])
    """
    first, second = counts[:, 0].astype(np.float64), counts[:, 1].astype(np.float64)
    z = NormalDist().inv_cdf((1.0 + level) / 2.0)
    spread = z * np.sqrt(first * second / np.maximum(first + second, 1.0) + z * z / 4.0)
    middle = (first + z * z / 2.0, second + z * z / 2.0)
    low = np.where(first > 0.0, (middle[0] - spread) / (middle[1] + spread), 0.0)
    high = np.where(second > 0.0, (middle[0] + spread) / np.maximum(middle[1] - spread, 1e-300), np.inf)
    return low, high


def recall(
    found: np.ndarray, counts: ExactCounts, thresholds: tuple[float, ...], offset: float = 0.0
) -> list[tuple[int, float | None]]:
    """Return for each threshold the number of items whose true ratio or reciprocal reaches it, and the share found.

    Ratios are those of counts, divided by e^offset.
    """
    return share_found(found, counts.slots, np.abs(log_ratios(counts.counts) - offset), thresholds)


def share_found(
    found: np.ndarray, slots: np.ndarray, sizes: np.ndarray, thresholds: tuple[float, ...]
) -> list[tuple[int, float | None]]:
    """Return for each threshold the number of slots (n,) whose size (n,), a logarithm, reaches it, and the share found.

    >>> share_found(np.array([7]), np.array([7, 8, 9]), np.log([4.0, 2.0, 1.0]), (2.0, 4.0, 8.0))
    [(2, 0.5), (1, 1.0), (0, None)]
    """
    wanted = [slots[sizes + 1e-9 >= np.log(threshold)] for threshold in thresholds]
    return [(len(some), float(np.isin(some, found).mean()) if len(some) else None) for some in wanted]


def correlation(estimated: np.ndarray, exact: np.ndarray) -> float:
    """Return Pearson's correlation of two arrays (n,); NaN if n is below 2 or either is constant.

    >>> round(correlation(np.array([1.0, 2.0, 4.0]), np.array([2.0, 4.0, 8.0])), 6)
    1.0
    >>> correlation(np.array([1.0, 1.0]), np.array([2.0, 4.0]))
    nan
    """
    if len(estimated) < 2 or np.ptp(estimated) == 0.0 or np.ptp(exact) == 0.0:
        return float("nan")
    return float(np.corrcoef(estimated, exact)[0, 1])


def rank_correlation(estimated: np.ndarray, exact: np.ndarray) -> float:
    """Return Spearman's rank correlation of two arrays (n,); ties share their mean rank.

    >>> rank_correlation(np.array([1.0, 2.0, 30.0]), np.array([0.1, 0.2, 0.3]))
    1.0
    """
    return round(correlation(_ranks(estimated), _ranks(exact)), 12)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return mean ranks (n,) of values (n,)."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2.0)[which])


def known(number: float) -> float | None:
    """Return a number for JSON: None for NaN, or where there is no bound."""
    return number if np.isfinite(number) else None
