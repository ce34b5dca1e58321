"""CountMin: how often each of very many keys has occurred, never too low.

Cormode & Muthukrishnan (2005), "An Improved Data Stream Summary: The Count-Min Sketch and its Applications". Each row
adds the count to one counter; the least of a key's counters exceeds its count by at most e N / width with probability
1 - e^-depth, N the total. Sketches of one seed add up. Counters are exact up to 2^32 - 1, where they stop.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import allocate, uint32
from ouzel.ranges import Seed, Size, ranged
from ouzel.sketches.count_sketch import begin, cell, require_alike
from ouzel.sketches.counters import MOST, added_up, raised


class State(NamedTuple):
    counters: np.ndarray  # (depth, width) uint32
    tables: np.ndarray  # (depth, 4, 256) uint32, of the hash functions: a constant of the seed


def layout(width: int, depth: int) -> State:
    """What a sketch is made of."""
    return State(counters=uint32(depth, width), tables=uint32(depth, 4, 256))


@ranged
def init(width: Size, depth: Size = 4, seed: Seed = 0) -> State:
    """An empty sketch.

    >>> sketch = init(width=64)
    >>> update(sketch, 17, 3)
    >>> int(query(sketch, 17))
    3
    """
    state: State = allocate(layout(width, depth))
    begin(state, seed)
    return state


@force_inline
def update(state, key, count):
    """Count a key so many times more, a whole number."""
    for r in range(state.counters.shape[0]):
        column, _ = cell(state.tables[r], key, state.counters.shape[1])
        state.counters[r, column] = raised(state.counters[r, column], count)


@force_inline
def query(state, key):
    """At least how often a key has occurred."""
    least = np.uint32(MOST)
    for r in range(state.counters.shape[0]):
        column, _ = cell(state.tables[r], key, state.counters.shape[1])
        least = min(least, state.counters[r, column])
    return least


def merge(states: list[Any]) -> State:
    """The sketch of all the streams together; a sketch of another seed or shape is an error."""
    require_alike(states)
    return State(added_up([state.counters for state in states]), states[0].tables)
