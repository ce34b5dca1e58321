"""SpaceSaving: the most frequent keys of a stream, with counts that are never too low.

Metwally, Agrawal & El Abbadi (2005), "Efficient Computation of Frequent and Top-k Elements in Data Streams". A key that
has no counter takes over the smallest one and adds to it. With k counters and N occurrences every key that has occurred
more than N / k times is among them, and no count is more than N / k too high. Counters stop at 2^32 - 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.ranges import Size, ranged
from ouzel.sketches import top_k
from ouzel.sketches.counters import MOST, raised
from ouzel.sketches.top_k import State, find, heaviest, insert, replace, set_weight, smallest

__all__ = ["State", "heaviest", "init", "merge", "update"]


@ranged
def init(capacity: Size) -> State:
    """Room for `capacity` counters.

    >>> counters = init(2)
    >>> for key in [5, 7, 5, 9, 5]:
    ...     _ = update(counters, np.uint32(key), 1)
    >>> heaviest(counters, 1)[0].tolist()
    [5]
    """
    return top_k.init(capacity, counting=True)


@force_inline
def update(state, key, count):
    """Count a key so many times more, a whole number; return its entry, and whether it took the entry over just now."""
    entry = find(state, key)
    if entry >= 0:
        set_weight(state, entry, raised(state.weights[entry], count))
        return entry, False
    if state.taken[0] < len(state.keys):
        insert(state, key, np.uint32(count))
        return state.taken[0] - 1, True
    entry = smallest(state)
    replace(state, entry, key, raised(state.weights[entry], count))
    return entry, True


def merge(states: Sequence[Any]) -> State:
    """Counters of all the streams together: counts add, a key without a counter having the smallest one's count.

    As Agarwal et al. (2012), "Mergeable Summaries", show, the error bound stays that of the joint stream.
    """
    k = len(states[0].keys)
    floors = [int(s.weights.min()) if s.taken[0] == k else 0 for s in states]
    counts: dict[int, int] = {}
    for state in states:
        for key in state.keys[: state.taken[0]].tolist():
            counts.setdefault(key, 0)
    for state, floor in zip(states, floors, strict=True):
        own = dict(zip(state.keys[: state.taken[0]].tolist(), state.weights.tolist(), strict=False))
        for key in counts:
            counts[key] += own.get(key, floor)
    merged = init(k)
    for key in sorted(counts, key=lambda key: (-counts[key], key))[:k]:
        insert(merged, np.uint32(key), np.uint32(min(counts[key], MOST)))
    return merged
