"""Relative deltoids: the items whose counts in two streams differ by the largest ratio.

Cormode & Muthukrishnan (2005), "What's New: Finding Significant Differences in Network Data Streams", posed the
problem; Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, section 8.2,
solve it as a classification: an occurrence in the first stream is a positive example, one in the second a negative one,
and the weight of an item tends to log(n1 / n2). So items are found here; those in the active set are counted as well,
so that the ratio returned is one of counts (see `active_counts`, where we depart from the paper).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ouzel.analytics import active_counts
from ouzel.analytics.exact import log_ratios, ratio_intervals
from ouzel.analytics.sketch import Analysis, Bytes, HeapSize, Width, arguments, slots_of_items
from ouzel.errors import OuzelError
from ouzel.kernels.jit import kernel
from ouzel.layout import int64
from ouzel.learners.shared_settings import L2, Rate
from ouzel.ranges import Seed, ranged


class Deltoid(NamedTuple):
    """An item of `RelativeDeltoids.top`."""

    item: str
    ratio: float  # of the first stream's occurrences to the second's, an absent item counting as once
    weight: float  # its logarithm


class Counts(NamedTuple):
    """Arrays next to the sketch."""

    seen: np.ndarray  # (2,) int64  items of either stream
    held: active_counts.ItemCounts


@kernel
def learn_occurrences(state, slots, which, shares, side, settings):
    """Learn occurrences of items in the first (0) or second (1) stream; `shares` balances streams of unequal length."""
    for k in range(len(slots)):
        side.seen[which[k]] += 1
        if shares:
            active_counts.balance(state, side.held, side.seen[0], side.seen[1], settings)
        active_counts.learn_counted(state, slots[k], which[k] == 0, side.held, settings)


class RelativeDeltoids(Analysis):
    """Items whose frequency ratio between two streams is largest, found in one pass within a byte budget.

    Parameters
    ----------
    budget : bytes, a number or a size such as "32KB"
    learning_rate, schedule, l2 : of the AWM-Sketch, for items outside of the active set; see `AWMSketchClassifier`. The
        step is larger than the paper's 0.1: an item needs some ratio / step occurrences before it is heavy enough
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
        learning_rate: Rate = 0.25,
        l2: L2 = 0.0,
        schedule: Any = "inverse-time",
        shares: bool = False,
        heap_size: HeapSize = 0,
        width: Width = 0,
        seed: Seed = 0,
    ) -> None:
        super().__init__(arguments(locals()))

    @classmethod
    def sizes(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the sizes of the sketch: a quarter of the budget for its counters, the rest for the active set."""
        size = parameters["budget"]
        entries = parameters["heap_size"] or size // (active_counts.ENTRY + 4)
        counters = parameters["width"] or (size - active_counts.ENTRY * entries) // 4
        if entries < 1 or counters < 1:
            raise OuzelError(f"a budget of {size} bytes is too small; give at least {2 * active_counts.ENTRY} bytes")
        return {"heap_size": entries, "width": counters}

    @classmethod
    def layout(cls, parameters: dict[str, Any]) -> Counts:
        """Return the layout of the arrays next to the sketch."""
        return Counts(seen=int64(2), held=active_counts.layout(cls.sizes(parameters)["heap_size"]))

    @property
    def bytes_used(self) -> int:
        """Memory in bytes: 4 for each id, weight, counter, and count of an item in the active set."""
        return self.model.bytes_used + 4 * len(self.side.held.often)

    @property
    def seen(self) -> np.ndarray:
        """Number of items (2,) of each stream."""
        return self.side.seen

    def partial_fit(self, items: Sequence[Any] | np.ndarray, stream: Any) -> RelativeDeltoids:
        """Learn items (n,), in the order of their arrival; `stream` is 0 for the first stream, 1 for the second.

        `stream` is one number, or one an item. Items of both streams must come mixed: a weight forgets.
        """
        which = np.broadcast_to(np.asarray(stream), len(items))
        if not np.isin(which, (0, 1)).all():
            raise OuzelError("stream is 0 for items of the first stream and 1 for those of the second")
        return self.learn_slots(slots_of_items(items, self.seed), which.astype(np.uint8), lambda k: str(items[k]))

    def learn_slots(
        self, slots: np.ndarray, which: np.ndarray, name_of: Callable[[int], str | None]
    ) -> RelativeDeltoids:
        """Learn items by slot (n,) uint32 and stream (n,) 0 or 1; `name_of(k)` is the name of position k."""
        learn_occurrences(self.state, slots, which, self.parameters["shares"], self.side, self.model.settings)
        self.model.examples += len(slots)
        self.name_members(slots, name_of)
        return self

    def top(self, k: int = 20) -> list[Deltoid]:
        """Return the k items with the largest ratio or reciprocal."""
        slots, weights = self.heaviest(k)
        ratios = np.exp(weights)
        return [Deltoid(self.name(slots[i]), float(ratios[i]), float(weights[i])) for i in range(len(slots))]

    def ratio(self, item: Any) -> float:
        """Return the ratio of one item: of its counts if it is in the active set, else the sketch's; 1 if new."""
        slots = slots_of_items([item], self.seed)
        return float(np.exp(self.log_ratios(slots)[0]))

    def intervals(self, k: int = 20, level: float = 0.95) -> list[tuple[float, float]]:
        """Return for each item of `top` an interval of its ratio, of the counts of its occurrences.

        It is that of the item alone, for independent occurrences: of many items those with the largest ratios were
        lucky as well. An end is 0 or inf where an item is absent from one stream. See `exact.ratio_intervals`.

        >>> found = RelativeDeltoids("2KB").partial_fit(["a", "b", "a"] * 100, [0, 1, 0] * 100)
        >>> [round(low) for low, high in found.intervals(1)]
        [52]
        """
        low, high = ratio_intervals(self.counts_of(self.heaviest(k)[0]), level)
        scale = np.exp(log_ratios(self.seen[None])[0]) if self.parameters["shares"] else 1.0
        return [(float(one / scale), float(other / scale)) for one, other in zip(low, high, strict=True)]

    def heaviest(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return slots and log ratios of the k items of `top`; of equal ratios, the more frequent item first."""
        slots = self.state.keys[: self.state.taken[0]]
        found = self.log_ratios(slots)
        often = self.counts_of(slots).sum(axis=1)
        order = np.lexsort((slots, -often, -np.abs(found)))[: max(k, 0)]
        return slots[order], found[order]

    def counts_of(self, slots: np.ndarray) -> np.ndarray:
        """Return counts (n, 2) in each stream of slots (n,) uint32, zeros outside the active set."""
        return active_counts.counts_of(self.state, slots, self.side.held, self.model.settings)

    def log_ratios(self, slots: np.ndarray) -> np.ndarray:
        """Return log ratios of slots (n,) uint32: of relative frequencies with `shares`, else of counts."""
        counts = self.counts_of(slots)
        found = log_ratios(counts)
        if self.parameters["shares"]:
            found -= log_ratios(self.seen[None])
        return np.where(counts.any(axis=1), found, self.weights_of(slots))
