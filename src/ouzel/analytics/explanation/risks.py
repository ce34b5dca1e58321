"""Relative risks of counts, with intervals that contain the true ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

DOUBT = 6  # the largest ratio of rows that may have been missed to rows counted, for an attribute to be ranked


def true_risks(counts: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return relative risks of attributes with counts (n, 2) among `rows` (2,) inliers and outliers.

    Half a row is added to each count of outliers and a whole one to each of rows, so that none is 0 or infinite.

    >>> true_risks(np.array([[60, 40]]), np.array([800, 200])).round(2).tolist()
    [2.25]
    """
    inliers, outliers = counts[:, 0], counts[:, 1]
    here = (outliers + 0.5) / (inliers + outliers + 1.0)
    elsewhere = (rows[1] - outliers + 0.5) / (rows.sum() - inliers - outliers + 1.0)
    return np.asarray(here / elsewhere)


class Counted(NamedTuple):
    """Attributes with counts and bounds of their inliers and outliers (columns 0 and 1)."""

    slots: np.ndarray  # (n,) uint32
    weights: np.ndarray  # (n,)
    counts: np.ndarray  # (n, 2) int64  since they entered the active set
    missed: np.ndarray  # (n, 2) int64  at most so many before
    estimated: np.ndarray  # (n, 2) float64  an estimate of those before
    since: np.ndarray  # (n,) int64  the row from which on they are counted
    rows: np.ndarray  # (2,) int64  all inliers and outliers

    @property
    def support(self) -> np.ndarray:
        """Rows (n,) counted exactly."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def mostly_counted(self) -> np.ndarray:
        """Mask (n,) of attributes counted on at least half of their rows by estimate, and on a seventh for certain."""
        missed = np.maximum(self.estimated.sum(axis=1), self.missed.sum(axis=1) / DOUBT)
        return np.asarray(self.support >= missed)

    @property
    def risks(self) -> np.ndarray:
        """Estimated risks (n,), within their intervals."""
        return true_risks(self.counts + np.minimum(self.estimated, self.rows - self.counts), self.rows)

    @property
    def interval(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds (n,) and (n,) of the true risks: all missed rows are inliers, or all are outliers.

        No more rows of a kind were missed than there are besides those counted.
        """
        most = np.minimum(self.missed, self.rows - self.counts)
        low, high = self.counts.copy(), self.counts.copy()
        low[:, 0] += most[:, 0]
        high[:, 1] += most[:, 1]
        return true_risks(low, self.rows), true_risks(high, self.rows)

    def where(self, wanted: np.ndarray) -> Counted:
        """Select attributes by position or mask."""
        parts = {name: part[wanted] for name, part in self._asdict().items() if name != "rows"}
        return self._replace(**parts)
