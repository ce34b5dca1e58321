"""How often intervals and sets held the truth, and how large they were: in all, and over time.

Every prediction is judged before its example is learnt. Points are taken at the same examples however the stream is
cut, at regular distances that widen as needed, so that coverage can be told of each stretch between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import kernel

if TYPE_CHECKING:
    from ouzel.model.coverage import Covered

CLOSEST = 500  # examples between points at first
MOST_POINTS = 256  # beyond, every second is dropped
STRETCH = 2_000  # examples, at least, of which the worst coverage is told
EXAMPLES, HITS, SIZES, UNBOUNDED, SUMS = 0, 1, 2, 3, 4  # places of the sums; how many


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
            add_up(*covered, start, stop, self.sums)
            self.seen += stop - start
            if self.seen % self.spacing == 0:
                self._take()
            start = stop

    def figures(self, levels: tuple[float, ...]) -> list[dict[str, Any]]:
        """For each level: what was asked, what was held, sizes, and the coverage of the worst stretch."""
        return [self._figures(level, place) for place, level in enumerate(levels)] if len(self.sums) else []

    def stretches(self, place: int, least: int = 1) -> list[Stretch]:
        """The stretches, of at least so many examples, one after the other, of the level at a place."""
        found, before = [], np.zeros(SUMS)
        for examples, point in sorted(self._points.items()):
            more = point[place] - before
            if more[EXAMPLES] >= least:
                bounded = more[EXAMPLES] - more[UNBOUNDED]
                size = float(more[SIZES] / bounded) if bounded else None
                found.append(Stretch(examples, float(more[HITS] / more[EXAMPLES]), size))
                before = point[place]
        return found

    def _figures(self, level: float, place: int) -> dict[str, Any]:
        examples, hits, sizes, unbounded = self.sums[place].tolist()
        stretches = self.stretches(place, STRETCH)
        return {
            "level": level,
            "examples": int(examples),
            "coverage": hits / examples if examples else None,
            "size": sizes / (examples - unbounded) if examples > unbounded else None,
            "unbounded": int(unbounded),
            "worst": max((one.coverage for one in stretches), key=lambda held: abs(held - level), default=None),
            "curve": [one._asdict() for one in self.stretches(place)],
        }

    def to_json(self) -> dict[str, Any]:
        """Everything counted so far, exactly, as JSON values."""
        points = {str(examples): point.tolist() for examples, point in sorted(self._points.items())}
        return {"seen": self.seen, "spacing": self.spacing, "sums": self.sums.tolist(), "points": points}

    def restore(self, stored: dict[str, Any] | None) -> None:
        """Restore the state that `to_json` gave, None of nothing; raise ValueError if it is not valid."""
        if stored is None:
            return
        sums = np.array(stored["sums"], np.float64).reshape(-1, SUMS)
        points = {int(examples): np.array(point, np.float64) for examples, point in stored["points"].items()}
        if any(point.shape != sums.shape for point in points.values()):
            raise ValueError("points of another number of levels")
        self.seen, self.spacing = int(stored["seen"]), int(stored["spacing"])
        if self.spacing < 1 or self.seen < 0 or not np.isfinite([sums, *points.values()]).all():
            raise ValueError("a coverage of no examples")
        self.sums, self._points = sums, points

    def _take(self) -> None:
        self._points[self.seen] = self.sums.copy()
        if len(self._points) > MOST_POINTS:
            self.spacing *= 2
            self._points = {k: point for k, point in self._points.items() if k % self.spacing == 0}
