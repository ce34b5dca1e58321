"""A reservoir: a uniform sample of a stream of unknown length.

Vitter (1985), "Random Sampling with a Reservoir", Algorithm R: the t-th item takes the place of a random one of k with
probability k / t.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import MOST_COUNT, allocate, uint32, uint64
from ouzel.ranges import Seed, Size, ranged


class State(NamedTuple):
    items: np.ndarray  # (k,) uint32
    counts: np.ndarray  # (2,) uint64  items seen, state of the random numbers


def layout(capacity: int) -> State:
    """What room for `capacity` items is made of."""
    return State(items=uint32(capacity), counts=uint64(2, most=(MOST_COUNT, inf)))


@ranged
def init(capacity: Size, seed: Seed = 0) -> State:
    """Room for `capacity` items.

    >>> sample = init(3)
    >>> for item in range(100):
    ...     update(sample, np.uint32(item))
    >>> len(set(sample.items.tolist()))
    3
    """
    state: State = allocate(layout(capacity))
    begin(state.counts, seed)
    return state


def begin(counts: np.ndarray, seed: int) -> None:
    """Let random numbers begin as a seed says."""
    counts[:] = 0, 2 * seed + 1


@force_inline
def random_word(counts):
    """The next of splitmix64's random words (Steele, Lea & Flood 2014); its state is `counts[1]`."""
    counts[1] += np.uint64(0x9E3779B97F4A7C15)
    word = counts[1]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@force_inline
def random_below(counts, limit):
    """A random whole number below `limit` (less than 2^32)."""
    return ((random_word(counts) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32)


@force_inline
def update(state, item):
    """Offer the next item."""
    seen = state.counts[0]
    state.counts[0] += np.uint64(1)
    if seen < np.uint64(len(state.items)):
        state.items[seen] = item
        return
    place = random_word(state.counts) % (seen + np.uint64(1))
    if place < np.uint64(len(state.items)):
        state.items[place] = item


@force_inline
def draw(state):
    """A random item of the sample, which must not be empty."""
    held = min(state.counts[0], np.uint64(len(state.items)))
    return state.items[random_below(state.counts, held)]


@force_inline
def renew(state, item, share):
    """Offer the next item, which enters with probability k / t or `share`, whichever is more.

    Aggarwal (2006), "On Biased Reservoir Sampling in the Presence of Stream Evolution": with a share the sample is one
    of some k / share recent items, renewed as long as the stream lasts, where that of Algorithm R hardly changes.
    """
    seen = state.counts[0] + np.uint64(1)
    capacity = np.uint64(len(state.items))
    if seen <= capacity or np.float64(capacity) / np.float64(seen) >= share:
        update(state, item)
        return
    state.counts[0] = seen
    if np.float64(random_word(state.counts) >> np.uint64(11)) * 2.0**-53 < share:
        state.items[random_below(state.counts, capacity)] = item


def merge(states: list[State]) -> State:
    """A uniform sample of all the streams together; reservoirs of workers need seeds of their own.

    Each place is filled from a stream in proportion to its items not yet considered, by a random item of its sample.
    """
    merged = init(len(states[0].items))
    for state in states:
        merged.counts[1] ^= np.uint64(random_word(state.counts.copy()))
    left = [int(state.counts[0]) for state in states]
    held = [state.items[: min(seen, len(state.items))].tolist() for state, seen in zip(states, left, strict=True)]
    merged.counts[0] = sum(left)
    for place in range(min(sum(left), len(merged.items))):
        among = int(random_word(merged.counts)) % sum(left)
        which = 0
        while among >= left[which]:
            among -= left[which]
            which += 1
        left[which] -= 1
        merged.items[place] = held[which].pop(int(random_word(merged.counts)) % len(held[which]))
    return merged
