"""The k keys of largest |weight|: exact weights, the smallest found fast.

Keys lie in an open-addressing table. Entries stand in runs of 64, each with a lower bound of its smallest |weight|: a
weight that changes at most lowers a bound, and only when the smallest entry is asked for are bounds made exact, the
lowest first. (A binary heap would sink or raise an entry at every change: ten times the work on the path of a feature
that stays.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel._jit import inlined

RUN = 64  # entries that share a bound


class State(NamedTuple):
    keys: np.ndarray  # (k,) uint32
    weights: np.ndarray  # (k,) float32
    bounds: np.ndarray  # (ceil(k / 64),) float32, at most the smallest |weight| of a run
    lowest: np.ndarray  # (1,) float32, at most the smallest |weight| of all
    places: np.ndarray  # (2^p,) uint32, entry + 1 of a key, 0 where empty
    taken: np.ndarray  # (1,) int64, entries in use


def init(capacity: int) -> State:
    """Room for `capacity` keys, none taken."""
    size = 1 << max(4, int(4 * capacity - 1).bit_length())
    return State(
        np.zeros(capacity, np.uint32),
        np.zeros(capacity, np.float32),
        np.full(-(-capacity // RUN), np.inf, np.float32),
        np.full(1, np.inf, np.float32),
        np.zeros(size, np.uint32),
        np.zeros(1, np.int64),
    )


@inlined
def _home(state, key):
    """Where the search for a key begins."""
    mixed = np.uint32(np.uint32(key) * np.uint32(2654435769))
    return np.int64(np.uint64(mixed) * np.uint64(len(state.places)) >> np.uint64(32))


@inlined
def find(state, key):
    """The entry of a key, -1 if it has none."""
    at = _home(state, key)
    mask = len(state.places) - 1
    while True:
        entry = np.int64(state.places[at]) - 1
        if entry < 0 or state.keys[entry] == key:
            return entry
        at = (at + 1) & mask


@inlined
def set_weight(state, entry, weight):
    """Give an entry a weight."""
    state.weights[entry] = weight
    size = abs(weight)
    if size < state.bounds[entry // RUN]:
        state.bounds[entry // RUN] = size
        if size < state.lowest[0]:
            state.lowest[0] = size


@inlined
def smallest(state):
    """The entry of smallest |weight|."""
    count = state.taken[0]
    while True:
        run = 0
        for other in range(1, len(state.bounds)):
            if state.bounds[other] < state.bounds[run]:
                run = other
        size = np.float32(np.inf)
        for entry in range(run * RUN, min(run * RUN + RUN, count)):
            size = min(size, abs(state.weights[entry]))
        best = run * RUN
        while abs(state.weights[best]) != size:
            best += 1
        if size <= state.bounds[run]:
            state.lowest[0] = size
            return best
        state.bounds[run] = size


@inlined
def insert(state, key, weight):
    """Take a new key; there must be room."""
    entry = state.taken[0]
    state.taken[0] += 1
    state.keys[entry] = key
    _enter(state, key, entry)
    set_weight(state, entry, weight)


@inlined
def _enter(state, key, entry):
    at = _home(state, key)
    mask = len(state.places) - 1
    while state.places[at] != 0:
        at = (at + 1) & mask
    state.places[at] = entry + 1


@inlined
def replace(state, entry, key, weight):
    """Let a new key take the place of an entry."""
    mask = len(state.places) - 1
    hole = _home(state, state.keys[entry])
    while np.int64(state.places[hole]) - 1 != entry:
        hole = (hole + 1) & mask
    at = hole
    while True:  # close the hole: move back whatever would no longer be found across it
        at = (at + 1) & mask
        if state.places[at] == 0:
            break
        home = _home(state, state.keys[np.int64(state.places[at]) - 1])
        if ((at - home) & mask) >= ((at - hole) & mask):
            state.places[hole] = state.places[at]
            hole = at
    state.places[hole] = 0
    state.keys[entry] = key
    _enter(state, key, entry)
    set_weight(state, entry, weight)


@inlined
def rescale(state, factor):
    """Multiply every weight by a positive factor."""
    for entry in range(len(state.weights)):
        state.weights[entry] *= factor
    for run in range(len(state.bounds)):
        state.bounds[run] = 0.0
    state.lowest[0] = 0.0


def heaviest(state: State, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Keys and weights of the n largest magnitudes, largest first, ties by key."""
    keys, weights = state.keys[: state.taken[0]], state.weights[: state.taken[0]]
    order = np.lexsort((keys, -np.abs(weights)))[:n]
    return keys[order], weights[order]
