"""Relative deltoids: the items whose numbers of occurrences in two streams differ by the largest factor.

Cormode & Muthukrishnan (2005), "What's New: Finding Significant Differences in Network Data Streams", posed the
problem; Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, section 8.2,
solve it as a classification: an occurrence in the first stream is a positive example, one in the second a negative one,
and the weight of an item tends to log(n1 / n2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ouzel.analytics.sketch import ONE, Analysis, Bytes, HeapSize, Width, learn_items, slots_of_items
from ouzel.errors import OuzelError
from ouzel.layout import int64
from ouzel.learners.shared_settings import L2, Rate
from ouzel.ranges import Seed, ranged


class Deltoid(NamedTuple):
    """An item of `RelativeDeltoids.top`."""

    item: str
    ratio: float  # estimated, of the first stream's occurrences to the second's
    weight: float  # its logarithm


class Counts(NamedTuple):
    """What is kept beside the sketch."""

    seen: np.ndarray  # (2,) int64  items of either stream


class RelativeDeltoids(Analysis):
    """Items whose frequency ratio between two streams is largest, found in one pass within a byte budget.

    Parameters
    ----------
    budget : bytes, a number or a size such as "32KB"
    learning_rate, schedule, l2 : of the AWM-Sketch; see `AWMSketchClassifier`. The step is larger than the paper's 0.1:
        an item needs some ratio / step occurrences before its weight tells the ratio
    shares : compare shares of the streams instead of numbers of occurrences; those in the longer stream count less
    heap_size, width : of the active set and the sketch, instead of what the budget gives
    seed : of the hash functions

    Examples
    --------
    >>> found = RelativeDeltoids(budget="2KB").partial_fit(["a", "b", "a"] * 100, [0, 1, 0] * 100)
    >>> [(item, ratio > 1) for item, ratio, _ in found.top(2)]
    [('a', True), ('b', False)]
    """

    kind = "relative deltoids"

    @ranged
    def __init__(
        self,
        budget: Bytes | str = "32KB",
        *,
        learning_rate: Rate = 0.5,
        l2: L2 = 1e-6,
        schedule: Any = "inverse-time",
        shares: bool = False,
        heap_size: HeapSize = 0,
        width: Width = 0,
        seed: Seed = 0,
    ) -> None:
        parameters = {
            "budget": budget,
            "learning_rate": learning_rate,
            "l2": l2,
            "schedule": schedule,
            "shares": shares,
            "heap_size": heap_size,
            "width": width,
            "seed": seed,
        }
        super().__init__(parameters)

    @classmethod
    def sizes(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """The sizes of the sketch."""
        return {name: parameters[name] for name in ("budget", "heap_size", "width")}

    @classmethod
    def layout(cls, parameters: dict[str, Any]) -> Counts:
        """What the arrays beside the sketch are made of."""
        return Counts(seen=int64(2))

    @property
    def seen(self) -> np.ndarray:
        """Items (2,) of either stream."""
        return self.beside.seen

    def partial_fit(self, items: Sequence[Any] | np.ndarray, stream: Any) -> RelativeDeltoids:
        """Learn items (n,), in the order of their arrival; `stream` says which are of the first (0) or second (1).

        `stream` is one number, or one an item. Items of both streams must come mixed: a weight forgets.
        """
        which = np.broadcast_to(np.asarray(stream), len(items))
        if not np.isin(which, (0, 1)).all():
            raise OuzelError("stream is 0 for items of the first stream and 1 for those of the second")
        return self.learn_slots(slots_of_items(items, self.seed), which.astype(np.uint8), lambda k: str(items[k]))

    def learn_slots(
        self, slots: np.ndarray, which: np.ndarray, name_of: Callable[[int], str | None]
    ) -> RelativeDeltoids:
        """Learn items by slot (n,) uint32 and stream (n,) 0 or 1; `name_of` tells the name of position k."""
        targets = np.where(which == 0, 1.0, -1.0)
        learn_items(self.state, slots, targets, self._importances(which), ONE, self.model.settings)
        self.beside.seen[:] += np.bincount(which, minlength=2)
        self.model.examples += len(slots)
        self.name_members(slots, name_of)
        return self

    def top(self, k: int = 20) -> list[Deltoid]:
        """The k items whose ratio, or its reciprocal, is estimated largest."""
        slots, weights = self.heaviest(k)
        ratios = np.exp(weights)
        return [Deltoid(self.name(slots[i]), float(ratios[i]), float(weights[i])) for i in range(len(slots))]

    def ratio(self, item: Any) -> float:
        """The estimated ratio of one item, 1 if it has not been seen."""
        return float(np.exp(self.weight(item)))

    def heaviest(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Slots and weights of the k items of `top`."""
        slots, weights = self.active()
        return slots[: max(k, 0)], weights[: max(k, 0)]

    def _importances(self, which: np.ndarray) -> np.ndarray:
        """1, or with `shares` less for the stream that has had more items so far."""
        if not self.parameters["shares"]:
            return np.ones(len(which), np.float32)
        second = self.seen[1] + np.cumsum(which)
        first = self.seen.sum() + np.arange(1, len(which) + 1) - second
        own, other = np.where(which == 0, first, second), np.where(which == 0, second, first)
        return np.minimum(1.0, np.maximum(other, 1) / own).astype(np.float32)
