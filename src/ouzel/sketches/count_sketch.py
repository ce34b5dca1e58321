"""CountSketch: a vector too long to keep, as a few rows of signed counters.

Charikar, Chen & Farach-Colton (2002), "Finding Frequent Items in Data Streams". Row r adds s_r(i) v to its counter
h_r(i) for an update of coordinate i by v; the median over rows of s_r(i) z[r, h_r(i)] estimates the coordinate, within
||tail||_2 / sqrt(width) with a probability that depth brings close to one. Sketches of one seed add up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel._jit import inlined
from ouzel.sketches.hashing import tabulate, tabulation


class State(NamedTuple):
    counters: np.ndarray  # (depth, width) float32  z
    tables: np.ndarray  # (depth, 4, 256) uint64, of the hash functions: a constant of the seed
    sorted: np.ndarray  # (depth,) float32, where `query` sorts what the rows say


def init(width: int, depth: int = 5, seed: int = 0) -> State:
    """An empty sketch.

    >>> sketch = init(width=64)
    >>> update(sketch, 17, 2.5)
    >>> float(query(sketch, 17))
    2.5
    """
    return State(np.zeros((depth, width), np.float32), tabulation(depth, seed), np.zeros(depth, np.float32))


@inlined
def cell(tables, key, width):
    """The counter of a key in one row, and its sign there."""
    word = tabulate(tables, key)
    column = ((word >> np.uint64(32)) * np.uint64(width)) >> np.uint64(32)
    return column, np.float32(1.0) - np.float32(2.0) * np.float32(word & np.uint64(1))


@inlined
def update(state, key, change):
    """Move a coordinate, and its estimate, by `change`."""
    for r in range(state.counters.shape[0]):
        column, sign = cell(state.tables[r], key, state.counters.shape[1])
        state.counters[r, column] += sign * np.float32(change)


@inlined
def query(state, key):
    """The estimate of a coordinate: the median over rows, the mean of the middle two if their number is even."""
    depth = state.counters.shape[0]
    if depth == 1:
        column, sign = cell(state.tables[0], key, state.counters.shape[1])
        return sign * state.counters[0, column]
    estimates = state.sorted
    for r in range(depth):
        column, sign = cell(state.tables[r], key, state.counters.shape[1])
        value = sign * state.counters[r, column]
        k = r
        while k > 0 and estimates[k - 1] > value:
            estimates[k] = estimates[k - 1]
            k -= 1
        estimates[k] = value
    return np.float32(0.5) * (estimates[(depth - 1) // 2] + estimates[depth // 2])


def merge(states: list[State]) -> State:
    """The sketch of all the streams together; their seeds must agree."""
    return states[0]._replace(counters=np.sum(np.stack([state.counters for state in states]), axis=0))
