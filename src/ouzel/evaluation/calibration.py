"""Calibration of probabilities: of the examples predicted .8, some 80 % should have the class.

Naeini, Cooper & Hauskrecht (2015), "Obtaining Well Calibrated Probabilities Using Bayesian Binning", AAAI: predictions
are put into bins by their probability, of the second of two classes, or of the class predicted where there are more.
The expected calibration error is the mean distance, weighed by examples, between what a bin promised and what came.

Of intervals and sets, how often they hold the truth and how large they are, in all and over time: at points that are
taken at the same examples however the stream is cut, at regular distances that widen as needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.model.answers import probabilities
from ouzel.terms.losses import link

if TYPE_CHECKING:
    from ouzel.model.coverage import Covered

BINS = 20
WEIGHT, PROMISED, CAME = range(3)
CLOSEST = 500  # examples between points at first
MOST_POINTS = 256  # beyond, every second is dropped
STRETCH = 2_000  # examples, at least, of which the worst coverage is reported
EXAMPLES, HITS, SIZES, UNBOUNDED, SUMS = range(5)  # places of the sums of a level; how many


@force_inline
def _fill(promised, came, importance, bins):
    """Add a prediction to `bins` (3, BINS); one that was not made promises nothing: NaN."""
    if 0.0 <= promised <= 1.0:
        place = min(int(promised * BINS), BINS - 1)
        bins[WEIGHT, place] += importance
        bins[PROMISED, place] += importance * promised
        bins[CAME, place] += importance * came


@kernel
def fill_two(loss, margins, targets, importances, bins):
    """Add the second of two classes, of margins (n,), one after the other: the sums do not depend on the blocks."""
    for i in range(len(margins)):
        _fill(link(loss, margins[i]), targets[i] == 1, float(importances[i]), bins)


@kernel
def fill_many(promised, came, importances, bins):
    """Add the class predicted (n,), by its probability and whether it came."""
    for i in range(len(promised)):
        _fill(promised[i], came[i], float(importances[i]), bins)


class Calibration:
    """Probabilities and what came of them, in bins.

    >>> from ouzel.terms.losses import Logistic
    >>> calibration = Calibration()
    >>> calibration.add(Logistic(), np.zeros(4), np.array([1, 1, 1, 0]), np.ones(4, np.float32))
    >>> calibration.error, calibration.points
    (0.25, [(0.5, 0.75)])
    """

    def __init__(self) -> None:
        self.bins = np.zeros((3, BINS))

    def add(
        self, loss: Any, margins: np.ndarray, targets: np.ndarray, importances: np.ndarray, joint: bool = False
    ) -> None:
        """Count a block's margins (n,) or (n, classes) and targets (n,), positions of classes."""
        if margins.ndim == 1:
            fill_two(loss, margins, targets, importances, self.bins)
        else:
            found = probabilities(loss, margins, joint)
            fill_many(found.max(axis=1), found.argmax(axis=1) == targets, importances, self.bins)

    def fill(self, promised: np.ndarray, came: np.ndarray, importances: np.ndarray) -> None:
        """Count probabilities (n,) of events, and whether each came (n,)."""
        fill_many(np.ascontiguousarray(promised), np.ascontiguousarray(came), importances, self.bins)

    @property
    def error(self) -> float | None:
        """Expected calibration error, from 0 (true) to 1; None before any example."""
        weight, promised, came = self.bins
        return float(np.abs(promised - came).sum() / weight.sum()) if weight.sum() > 0.0 else None

    @property
    def points(self) -> list[tuple[float, float]]:
        """(mean probability, share that came true) of each bin that has examples."""
        weight, promised, came = self.bins[:, self.bins[WEIGHT] > 0.0]
        return list(zip((promised / weight).tolist(), (came / weight).tolist(), strict=True))

    @property
    def weights(self) -> list[float]:
        """Examples in each of those bins, by importance."""
        found: list[float] = self.bins[WEIGHT, self.bins[WEIGHT] > 0.0].tolist()
        return found


class Stretch(NamedTuple):
    """Predictions between two points, of one level."""

    examples: int  # the last one's number
    coverage: float  # share of examples that were held
    size: float | None  # mean width, or number of labels, of those that are bounded


@kernel
def add_up(hits, sizes, start, stop, sums):
    """Add predictions (n, levels) to `sums` (levels, SUMS), one after the other, but for those of size NaN."""
    for i in range(start, stop):
        for level in range(len(sums)):
            size = sizes[i, level]
            if size == size:
                sums[level, EXAMPLES] += 1.0
                sums[level, HITS] += hits[i, level]
                if size < np.inf:
                    sums[level, SIZES] += size
                else:
                    sums[level, UNBOUNDED] += 1.0


class Coverage:
    """The figures of intervals or sets, one row a level.

    >>> from ouzel.model.coverage import Covered
    >>> coverage = Coverage()
    >>> coverage.add(Covered(np.array([[True], [False], [True]]), np.array([[1.0], [2.0], [np.inf]])))
    >>> coverage.sums.tolist(), coverage.figures((0.9,))[0]["coverage"]
    ([[3.0, 2.0, 3.0, 1.0]], 0.6666666666666666)
    """

    def __init__(self) -> None:
        self.seen = 0  # examples, counted or not
        self.spacing = CLOSEST
        self.sums = np.zeros((0, SUMS))
        self.groups: dict[int, np.ndarray] = {}  # sums of each group, by key
        self._points: dict[int, np.ndarray] = {}

    def add(self, covered: Covered | None) -> None:
        """Count a block's predictions, None of a model that keeps no intervals."""
        if covered is None:
            return
        if not len(self.sums):
            self.sums = np.zeros((covered.hits.shape[1], SUMS))
        start, rows = 0, len(covered.hits)
        while start < rows:
            stop = min(rows, start + self.spacing - self.seen % self.spacing)
            add_up(covered.hits, covered.sizes, start, stop, self.sums)
            self.seen += stop - start
            if self.seen % self.spacing == 0:
                self._take()
            start = stop
        for key in [] if covered.groups is None else np.unique(covered.groups).tolist():
            here = covered.groups == key
            sums = self.groups.setdefault(key, np.zeros_like(self.sums))
            add_up(covered.hits[here], covered.sizes[here], 0, np.count_nonzero(here), sums)

    def figures(self, levels: tuple[float, ...], name: Callable[[int], str] = str) -> list[dict[str, Any]]:
        """Coverage and sizes of each level: in all, over time, of the worst stretch, and by group, the largest first.

        `name` says what the group of a key is called.
        """
        return [self._figures(level, place, name) for place, level in enumerate(levels)] if len(self.sums) else []

    def stretches(self, place: int, least: int = 1) -> list[Stretch]:
        """Consecutive stretches, of `least` examples or more, of the level at a place."""
        found, before = [], np.zeros(SUMS)
        for examples, point in sorted(self._points.items()):
            more = point[place] - before
            if more[EXAMPLES] >= least:
                bounded = more[EXAMPLES] - more[UNBOUNDED]
                size = float(more[SIZES] / bounded) if bounded else None
                found.append(Stretch(examples, float(more[HITS] / more[EXAMPLES]), size))
                before = point[place]
        return found

    def _figures(self, level: float, place: int, name: Callable[[int], str]) -> dict[str, Any]:
        stretches = self.stretches(place, STRETCH)
        largest = sorted(self.groups, key=lambda key: (-self.groups[key][place, EXAMPLES], key))
        groups = [{"group": name(key), **_in_all(self.groups[key][place])} for key in largest]
        return {
            "level": level,
            **_in_all(self.sums[place]),
            **({"groups": groups} if groups else {}),
            "worst": max((one.coverage for one in stretches), key=lambda share: abs(share - level), default=None),
            "curve": [one._asdict() for one in self.stretches(place)],
        }

    def to_json(self) -> dict[str, Any]:
        """Everything counted so far, exactly, as JSON values."""
        points = {str(examples): point.tolist() for examples, point in sorted(self._points.items())}
        groups = {"groups": [[key, sums.tolist()] for key, sums in sorted(self.groups.items())]} if self.groups else {}
        return {"seen": self.seen, "spacing": self.spacing, "sums": self.sums.tolist(), "points": points, **groups}

    def restore(self, stored: dict[str, Any] | None) -> None:
        """Restore the state that `to_json` gave, None of nothing; raise ValueError if it is not valid."""
        if stored is None:
            return
        sums = np.array(stored["sums"], np.float64).reshape(-1, SUMS)
        points = {int(examples): np.array(point, np.float64) for examples, point in stored["points"].items()}
        groups = {int(key): np.array(own, np.float64) for key, own in stored.get("groups", [])}
        if any(part.shape != sums.shape for part in (*points.values(), *groups.values())):
            raise ValueError("points or groups of another number of levels")
        self.seen, self.spacing = int(stored["seen"]), int(stored["spacing"])
        if self.spacing < 1 or self.seen < 0 or not np.isfinite([sums, *points.values(), *groups.values()]).all():
            raise ValueError("a coverage of no examples")
        self.sums, self._points, self.groups = sums, points, groups

    def _take(self) -> None:
        self._points[self.seen] = self.sums.copy()
        if len(self._points) > MOST_POINTS:
            self.spacing *= 2
            self._points = {k: point for k, point in self._points.items() if k % self.spacing == 0}


def _in_all(sums: np.ndarray) -> dict[str, Any]:
    """The figures of sums (SUMS,) of one level."""
    examples, hits, sizes, unbounded = sums.tolist()
    return {
        "examples": int(examples),
        "coverage": hits / examples if examples else None,
        "size": sizes / (examples - unbounded) if examples > unbounded else None,
        "unbounded": int(unbounded),
    }
