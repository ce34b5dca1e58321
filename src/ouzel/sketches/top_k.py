"""The k keys of largest |weight|: exact weights, or counts, the smallest found fast.

Keys lie in an open-addressing table. Entries stand in runs of 64, each with a lower bound of its smallest |weight|: a
weight that changes at most lowers a bound, and only when the smallest entry is asked for are bounds made exact, the
lowest first. (A binary heap would sink or raise an entry at every change: ten times the work on the path of a feature
that stays.)
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import allocate, check_places, float32, int64, require, uint16, uint32
from ouzel.ranges import Size, ranged

RUN = 64  # entries that share a bound
HIGHEST = int(np.iinfo(np.int64).max)  # the bound of a run of counts that holds none


class State(NamedTuple):
    keys: np.ndarray  # (k,) uint32
    weights: np.ndarray  # (k,) float32, or uint32 for counts; a learner may keep more behind them
    bounds: (
        np.ndarray
    )  # (ceil(k / 64) + 1,) float32, int64 for counts, at most the smallest |weight| of a run; last, of all when full
    places: np.ndarray  # (2^p,) uint16 or uint32, the entry + 1 of the key that has this place; 0 where empty
    taken: np.ndarray  # (1,) int64, entries in use


def layout(capacity: int, counting: bool = False) -> State:
    """What room for `capacity` keys is made of; `counting`, their weights are whole numbers (uint32)."""
    size = 1 << max(4, int(16 * capacity - 1).bit_length())
    runs = -(-capacity // RUN) + 1
    counts, sizes = int64(runs, fill=HIGHEST, least=-1, most=HIGHEST), float32(runs, fill=inf, least=-1.0, finite=False)
    return State(
        keys=uint32(capacity),
        weights=(uint32 if counting else float32)(capacity),
        bounds=counts if counting else sizes,
        places=(uint16 if capacity < 2**16 else uint32)(size),  # the smaller, the nearer to the processor
        taken=int64(1, most=capacity),
    )


def begin(state: Any) -> None:
    """Let whatever comes enter, as long as there is room."""
    state.bounds[..., -1] = -1


@ranged
def init(capacity: Size, counting: bool = False) -> State:
    """Room for `capacity` keys, none taken; `counting`, their weights are whole numbers (uint32).

    >>> state = init(2)
    >>> insert(state, np.uint32(7), np.float32(-0.5))
    >>> int(find(state, np.uint32(7))), int(find(state, np.uint32(8)))
    (0, -1)
    """
    state: State = allocate(layout(capacity, counting))
    begin(state)
    return state


def check(state: Any) -> None:
    """Refuse keys that could not be found, or not once each, and bounds above what they bound."""
    taken, places = int(state.taken[0]), state.places
    keys = state.keys[:taken]
    require(len(np.unique(keys)) == taken, "keys are not different")
    check_places(places, taken, "places of keys")
    held = np.flatnonzero(places)
    homes = (keys[places[held] - 1].astype(np.uint64) * np.uint64(2654435769) & np.uint64(0xFFFFFFFF)) * np.uint64(
        len(places)
    ) >> np.uint64(32)
    free = np.flatnonzero(places == 0)  # a search ends at the first: there is one, as most places are free
    before = free[np.searchsorted(free, held) - 1]  # the last free place before each, around the end
    mask = len(places) - 1
    require(((held - homes.astype(np.int64)) & mask < (held - before) & mask).all(), "places of keys cannot be found")
    sizes = np.abs(state.weights[:taken])
    least = np.minimum.reduceat(sizes, np.arange(0, taken, RUN)) if taken else sizes
    require((state.bounds[: len(least)] <= least).all(), "bounds exceed the weights they bound")
    full = taken == len(state.keys)
    require(0.0 <= state.bounds[-1] <= least.min() if full else state.bounds[-1] < 0.0, "the bound of all is wrong")


@force_inline
def home(state, key):
    """Where the search for a key begins."""
    mixed = (np.uint64(key) * np.uint64(2654435769)) & np.uint64(0xFFFFFFFF)
    return (mixed * np.uint64(len(state.places))) >> np.uint64(32)


@force_inline
def locate(state, key):
    """Whether a key is here, and its entry if so: without a branch but for the rare key that is not in its home.

    Which keys are here is nothing a processor could foresee, and a wrong guess costs more than the whole look-up.
    """
    place = np.uint32(state.places[home(state, key)])
    taken = place != 0
    same = state.keys[max(place, np.uint32(1)) - np.uint32(1)] == np.uint32(key)
    if taken & (not same):
        found = find(state, key)
        return found >= 0, np.uint64(found)
    return taken & same, np.uint64(place) - np.uint64(1)


@force_inline
def find(state, key):
    """The entry of a key, -1 if it has none."""
    at = home(state, key)
    mask = np.uint64(len(state.places) - 1)
    while True:
        place = np.uint32(state.places[at])
        if place == 0:
            return np.int64(-1)
        if state.keys[place - np.uint32(1)] == np.uint32(key):
            return np.int64(place) - 1
        at = (at + np.uint64(1)) & mask


@force_inline
def set_weight(state, entry, weight):
    """Give an entry a weight."""
    state.weights[entry] = weight
    size = abs(weight)
    if size < state.bounds[entry // RUN]:
        state.bounds[entry // RUN] = size
        if size < state.bounds[-1]:
            state.bounds[-1] = size


@force_inline
def smallest(state):
    """The entry of smallest |weight|."""
    count = state.taken[0]
    runs = len(state.bounds) - 1
    while True:
        run = 0
        for other in range(1, runs):
            if state.bounds[other] < state.bounds[run]:
                run = other
        bound = state.bounds[run]
        start, stop = run * RUN, min(run * RUN + RUN, count)
        entry = _first_of(state.weights[start:stop], bound)
        if start + entry < stop:
            if count == len(state.keys):
                state.bounds[-1] = bound
            return start + entry
        state.bounds[run] = _least(state.weights[start:stop])


@force_inline
def _first_of(weights, size):
    """The first place of a |weight|, `RUN` if it is nowhere; all are compared, for no branch could be foreseen."""
    first = np.uint32(RUN)
    for k in range(len(weights)):
        first = min(first, np.uint32(k) if abs(weights[k]) == size else np.uint32(RUN))
    return np.int64(first)


@force_inline
def _least(weights):
    """The smallest |weight|: eight at a time, for no processor takes the least of a sequence faster than one by one."""
    a = b = c = d = abs(weights[0])
    k = 0
    while k + 4 <= len(weights):
        a = min(a, abs(weights[k]))
        b = min(b, abs(weights[k + 1]))
        c = min(c, abs(weights[k + 2]))
        d = min(d, abs(weights[k + 3]))
        k += 4
    while k < len(weights):
        a = min(a, abs(weights[k]))
        k += 1
    return min(min(a, b), min(c, d))


@force_inline
def insert(state, key, weight):
    """Take a new key; there must be room."""
    entry = state.taken[0]
    state.taken[0] += 1
    if state.taken[0] == len(state.keys):
        state.bounds[-1] = 0.0
    state.keys[entry] = key
    _enter(state, key, entry)
    set_weight(state, entry, weight)


@force_inline
def _enter(state, key, entry):
    at = home(state, key)
    mask = np.uint64(len(state.places) - 1)
    while state.places[at] != 0:
        at = (at + np.uint64(1)) & mask
    state.places[at] = np.uint32(entry + 1)


@force_inline
def replace(state, entry, key, weight):
    """Let a new key take the place of an entry."""
    mask = np.uint64(len(state.places) - 1)
    one = np.uint64(1)
    hole = home(state, state.keys[entry])
    while np.int64(state.places[hole]) - 1 != entry:
        hole = (hole + one) & mask
    at = hole
    while True:  # close the hole: move back whatever would no longer be found across it
        at = (at + one) & mask
        if state.places[at] == 0:
            break
        start = home(state, state.keys[np.uint32(state.places[at]) - np.uint32(1)])
        if ((at - start) & mask) >= ((at - hole) & mask):
            state.places[hole] = state.places[at]
            hole = at
    state.places[hole] = 0
    state.keys[entry] = key
    _enter(state, key, entry)
    set_weight(state, entry, weight)


@force_inline
def offer(state, key, weight):
    """Take a key that is not here if there is room, or if it is heavier than the lightest, which goes."""
    if state.taken[0] < len(state.keys):
        insert(state, key, weight)
    elif abs(weight) > state.bounds[-1]:
        entry = smallest(state)
        if abs(weight) > abs(state.weights[entry]):
            replace(state, entry, key, weight)


@force_inline
def rescale(state, factor):
    """Multiply every weight by a positive factor."""
    for entry in range(len(state.weights)):
        state.weights[entry] *= factor
    for run in range(len(state.bounds) - 1):
        state.bounds[run] = 0.0
    if state.bounds[-1] >= 0.0:
        state.bounds[-1] = 0.0


def fill(state: Any, keys: np.ndarray, weights: np.ndarray) -> None:
    """Take the heaviest of some keys (n,), as many as there is room for, heaviest first."""
    for k in np.argsort(-np.abs(weights), kind="stable")[: len(state.keys) - state.taken[0]]:
        insert(state, keys[k], state.weights.dtype.type(weights[k]))


def keys(state: Any) -> np.ndarray:
    """The keys (n,) uint32 that are here, in the order of their entries."""
    found: np.ndarray = state.keys[: state.taken[0]]
    return found


def heaviest(state: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Keys and weights of the n largest magnitudes, largest first, ties by key; of any state with these fields."""
    here, weights = keys(state), state.weights[: state.taken[0]]
    order = np.lexsort((here, -np.abs(weights.astype(np.float64))))[:n]
    return here[order], weights[order]
