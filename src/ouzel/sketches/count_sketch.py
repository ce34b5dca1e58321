"""CountSketch: a vector too long to keep, as a few rows of signed counters.

Charikar, Chen & Farach-Colton (2002), "Finding Frequent Items in Data Streams". Row r adds s_r(i) v to its counter
h_r(i) for an update of coordinate i by v; the median over rows of s_r(i) z[r, h_r(i)] estimates the coordinate, within
||tail||_2 / sqrt(width) with a probability that depth brings close to one. Sketches of one seed add up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline
from ouzel.layout import allocate, float32, uint32
from ouzel.ranges import Seed, Size, ranged
from ouzel.sketches.hashing import tabulate, tabulation

SIGNS = np.array([1.0, -1.0], np.float32)


class State(NamedTuple):
    counters: np.ndarray  # (depth, width) float32  z
    tables: np.ndarray  # (depth, 4, 256) uint32, of the hash functions: a constant of the seed
    sorted: np.ndarray  # (depth,) float32, what the rows say, for `query`


def layout(width: int, depth: int) -> State:
    """What a sketch is made of."""
    return State(counters=float32(depth, width), tables=uint32(depth, 4, 256), sorted=float32(depth, scratch=True))


@ranged
def init(width: Size, depth: Size = 5, seed: Seed = 0) -> State:
    """An empty sketch.

    >>> sketch = init(width=64)
    >>> update(sketch, 17, 2.5)
    >>> float(query(sketch, 17))
    2.5
    """
    state: State = allocate(layout(width, depth))
    begin(state, seed)
    return state


def begin(state: Any, seed: int) -> None:
    """Hash as the seed says."""
    state.tables[...] = tabulation(len(state.tables), seed)


@force_inline
def cell(tables, key, width):
    """The counter of a key in one row, and its sign there."""
    word = tabulate(tables, key)
    column = (np.uint64(word >> np.uint32(1)) * np.uint64(width)) >> np.uint64(31)
    return column, SIGNS[word & np.uint32(1)]


@force_inline
def update(state, key, change):
    """Move a coordinate, and its estimate, by `change`."""
    for r in range(state.counters.shape[0]):
        column, sign = cell(state.tables[r], key, state.counters.shape[1])
        state.counters[r, column] += sign * np.float32(change)


@force_inline
def median(numbers):
    """The median (the mean of the middle two if their number is even).

    By ranks: all pairs are compared, eight at a time, which beats a sort, whose every comparison is a branch.
    """
    count = len(numbers)
    low, high = (count - 1) // 2, count // 2
    low_number = high_number = np.float32(0.0)
    for r in range(count):
        number = numbers[r]
        less = equal = 0
        for other in numbers:
            less += other < number
            equal += other == number
        if less <= low < less + equal:
            low_number = number
        if less <= high < less + equal:
            high_number = number
    return np.float32(0.5) * (low_number + high_number)


@force_inline
def query(state, key):
    """The estimate of a coordinate: the median over rows."""
    for r in range(len(state.sorted)):
        column, sign = cell(state.tables[r], key, state.counters.shape[1])
        state.sorted[r] = sign * state.counters[r, column]
    return median(state.sorted)


def require_alike(states: list[Any]) -> None:
    """Raise an error unless the sketches are of one seed and shape."""
    for state in states[1:]:
        if state.counters.shape != states[0].counters.shape or not np.array_equal(state.tables, states[0].tables):
            raise OuzelError("sketches merge only if they have one seed, width and depth")


def merge(states: list[Any]) -> Any:
    """The sketch of all the streams together; a sketch of another seed or shape is an error."""
    require_alike(states)
    return states[0]._replace(counters=np.sum(np.stack([state.counters for state in states]), axis=0))
