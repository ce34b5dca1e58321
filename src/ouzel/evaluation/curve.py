"""Curve of the error over examples: points at powers of two, and at regular distances that widen as needed."""

from __future__ import annotations

from typing import Any, NamedTuple

from ouzel.evaluation.metrics import LOSS, MISTAKES, WEIGHT, Scores
from ouzel.model.tasks.task import Outcome

CLOSEST = 64  # examples between regular points at first
MOST_POINTS = 512  # regular points; beyond, every second is dropped


class Point(NamedTuple):
    """The state of the sums after some examples."""

    examples: int
    weight: float
    mistakes: float
    loss: float

    @property
    def error_rate(self) -> float:
        """Share of mistakes so far."""
        return self.mistakes / self.weight if self.weight else 0.0

    @property
    def mean_loss(self) -> float:
        """Mean loss so far."""
        return self.loss / self.weight if self.weight else 0.0

    def since(self, earlier: Point) -> Point:
        """The sums of the examples between two points."""
        return Point(
            self.examples - earlier.examples,
            self.weight - earlier.weight,
            self.mistakes - earlier.mistakes,
            self.loss - earlier.loss,
        )


ORIGIN = Point(0, 0.0, 0.0, 0.0)


class Curve:
    """Points of the sums of a `Scores`, taken at the same examples however the stream was cut."""

    def __init__(self, scores: Scores) -> None:
        self.scores = scores
        self.spacing = CLOSEST
        self._points: dict[int, Point] = {}

    @property
    def points(self) -> list[Point]:
        """All points in order, the present state last."""
        points = [self._points[k] for k in sorted(self._points)]
        if self.scores.examples and self.scores.examples not in self._points:
            points.append(self._now())
        return points

    def powers_of_two(self) -> list[Point]:
        """The points of Vowpal Wabbit's table, the present state last."""
        points = self.points
        return [point for point in points if _is_power(point.examples) or point is points[-1]]

    def add(self, learnt: Outcome) -> None:
        """Count a block, stopping at every point on the way."""
        self.scores.of_block(learnt)
        for part in self.scores.task.parts(learnt):
            self._add(part)

    def _add(self, learnt: Outcome) -> None:
        self.scores.follow(learnt)
        start, rows = 0, len(learnt.targets)
        while start < rows:
            stop = min(rows, start + self._next() - self.scores.examples)
            self.scores.score(*(part[start:stop] for part in learnt[:4]))
            if self._due(self.scores.examples):
                self._take()
            start = stop

    def to_json(self) -> dict[str, Any]:
        """The points as JSON values."""
        return {"spacing": self.spacing, "points": [list(self._points[k]) for k in sorted(self._points)]}

    def restore(self, stored: dict[str, Any]) -> None:
        """Go on from what `to_json` gave."""
        self.spacing = int(stored["spacing"])
        if self.spacing < 1:
            raise ValueError("points of a curve at no distance")
        self._points = {int(point[0]): Point(int(point[0]), *map(float, point[1:])) for point in stored["points"]}

    def _next(self) -> int:
        done = self.scores.examples
        return min(1 << done.bit_length(), (done // self.spacing + 1) * self.spacing)

    def _due(self, examples: int) -> bool:
        return examples > 0 and (_is_power(examples) or examples % self.spacing == 0)

    def _now(self) -> Point:
        sums = self.scores.sums
        return Point(self.scores.examples, float(sums[WEIGHT]), float(sums[MISTAKES]), float(sums[LOSS]))

    def _take(self) -> None:
        point = self._now()
        self._points[point.examples] = point
        if point.examples >= self.spacing * MOST_POINTS:
            self.spacing *= 2
            self._points = {k: kept for k, kept in self._points.items() if self._due(k)}


def _is_power(number: int) -> bool:
    return number & (number - 1) == 0
