"""Relative deltoids by two Count-Min sketches: the baseline of Tai et al. (2018), section 8.2.

Cormode & Muthukrishnan (2005), "What's New: Finding Significant Differences in Network Data Streams": each stream has a
CountMin sketch, and an item's ratio is that of its two estimated counts. A heap keeps the items whose ratio, or its
reciprocal, was estimated largest when they last occurred. An item estimated absent counts as one occurrence.

A budget is split in halves: one for the heap (an id and a ratio: 8 bytes an item), one for the sketches.
"""

from __future__ import annotations

from math import log

import numpy as np

from ouzel.analytics.sketch import Bytes, HeapSize
from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline, kernel
from ouzel.ranges import Seed, Size, ranged
from ouzel.sketches import count_min, top_k
from ouzel.sketches.top_k import find, offer, set_weight


@force_inline
def log_ratio(first, second, slot):
    """Return the logarithm of the ratio of an item's estimated counts."""
    return log(max(count_min.query(first, slot), 1.0)) - log(max(count_min.query(second, slot), 1.0))


@kernel
def count_items(first, second, heap, slots, which):
    """Count items of the first (0) or second (1) stream, and keep those of the largest ratio in the heap."""
    for k in range(len(slots)):
        slot = slots[k]
        if which[k] == 0:
            count_min.update(first, slot, 1)
        else:
            count_min.update(second, slot, 1)
        weight = np.float32(log_ratio(first, second, slot))
        entry = find(heap, slot)
        if entry >= 0:
            set_weight(heap, entry, weight)
        else:
            offer(heap, slot, weight)


@kernel
def log_ratios(first, second, slots, out):
    """Write the estimated log ratio of each slot to `out` (n,)."""
    for k in range(len(slots)):
        out[k] = log_ratio(first, second, slots[k])


class PairedCountMin:
    """Two CountMin sketches and a heap of items with large ratios.

    >>> pair = PairedCountMin("2KB")
    >>> pair.learn_slots(np.array([7, 7, 7, 8], np.uint32), np.array([0, 0, 0, 1], np.uint8))
    >>> pair.bytes_used, int(pair.top(1)[0][0])
    (2048, 7)
    """

    @ranged
    def __init__(
        self, budget: Bytes | str = "32KB", *, heap_size: HeapSize = 0, depth: Size = 2, seed: Seed = 0
    ) -> None:
        size = int(budget)
        items = heap_size or size // 16
        width = (size - 8 * items) // (8 * depth)
        if items < 1 or width < 1:
            raise OuzelError(f"a budget of {size} bytes is too small for a pair of CountMin sketches")
        self.heap = top_k.init(items)
        self.first, self.second = count_min.init(width, depth, seed), count_min.init(width, depth, seed + 1)

    @property
    def bytes_used(self) -> int:
        """Memory in bytes: 4 for each id, ratio and counter."""
        return 8 * len(self.heap.keys) + 4 * (self.first.counters.size + self.second.counters.size)

    def learn_slots(self, slots: np.ndarray, which: np.ndarray) -> None:
        """Count items by slot (n,) uint32 and stream (n,) 0 or 1."""
        count_items(self.first, self.second, self.heap, slots, which)

    def top(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return slots and estimated log ratios of the k items with the largest ratio or reciprocal."""
        slots = self.heap.keys[: self.heap.taken[0]]
        weights = np.empty(len(slots))
        log_ratios(self.first, self.second, slots, weights)
        order = np.lexsort((slots, -np.abs(weights)))[:k]
        return slots[order], weights[order]
