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

SIGNS = np.array([1.0, -1.0], np.float32)


class State(NamedTuple):
    counters: np.ndarray  # (depth, width) float32  z
    tables: np.ndarray  # (depth, 4, 256) uint32, of the hash functions: a constant of the seed
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
    column = (np.uint64(word >> np.uint32(1)) * np.uint64(width)) >> np.uint64(31)
    return column, SIGNS[word & np.uint32(1)]


@inlined
def update(state, key, change):
    """Move a coordinate, and its estimate, by `change`."""
    for r in range(state.counters.shape[0]):
        column, sign = cell(state.tables[r], key, state.counters.shape[1])
        state.counters[r, column] += sign * np.float32(change)


@inlined
def median(numbers):
    """The median (the mean of the middle two if their number is even); puts them in order."""
    count = len(numbers)
    for r in range(1, count):
        number = numbers[r]
        k = r
        while k > 0 and numbers[k - 1] > number:
            numbers[k] = numbers[k - 1]
            k -= 1
        numbers[k] = number
    return np.float32(0.5) * (numbers[(count - 1) // 2] + numbers[count // 2])


@inlined
def query(state, key):
    """The estimate of a coordinate: the median over rows."""
    for r in range(len(state.sorted)):
        column, sign = cell(state.tables[r], key, state.counters.shape[1])
        state.sorted[r] = sign * state.counters[r, column]
    return median(state.sorted)


def merge(states: list[State]) -> State:
    """The sketch of all the streams together; their seeds must agree."""
    return states[0]._replace(counters=np.sum(np.stack([state.counters for state in states]), axis=0))
