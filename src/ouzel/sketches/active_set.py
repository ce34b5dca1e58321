"""An active set over a CountSketch: the heaviest weights exactly, the others in the sketch.

What the AWM-Sketch of Tai, Sharan, Bailis & Valiant (2018), Algorithm 2, keeps. The active set S is a heap by magnitude
with an index of its ids (`top_k`); a slot that leaves it moves the sketch's estimate to its last weight. With one
row, slots of S and cells of z lie in one array, so that a slot is found without branches that depend on where it is.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float32, float64, uint32
from ouzel.sketches import top_k
from ouzel.sketches.count_sketch import SIGNS, median
from ouzel.sketches.hashing import tabulate, tabulation
from ouzel.sketches.top_k import RUN, find, insert, locate, replace, rescale, set_weight, smallest

NOTED = 1024  # features of a row whose cells can be noted
SMALLEST_SCALE = 1e-4  # of the global scale; below it, it is multiplied into the weights


class State(NamedTuple):
    keys: np.ndarray  # (k,) uint32  slots in S
    weights: np.ndarray  # (64 ceil(k / 64) + depth width,) float32  weights in S, then the rows of z; over the scale
    bounds: np.ndarray  # (ceil(k / 64) + 1,) float32  see top_k
    places: np.ndarray  # (2^p,) uint16, see top_k
    taken: np.ndarray  # (1,) int64
    tables: np.ndarray  # (depth, 4, 256) uint32, a constant of the seed
    rows: np.ndarray  # (depth,) float32, where the median is found
    cells: np.ndarray  # (1024,) uint32, of the features of one row; empty if depth > 1
    signed: np.ndarray  # (1024,) float32, their values times the sign of the cell
    scale: np.ndarray  # (2,) float64  the global scale; t


def layout(heap_size: int, width: int, depth: int) -> State:
    """What a set of up to `heap_size` slots over a sketch of `depth` rows of `width` counters is made of."""
    active = top_k.layout(heap_size)
    noted = NOTED if depth == 1 else 0
    return State(
        *active._replace(weights=float32(RUN * -(-heap_size // RUN) + depth * width)),
        tables=uint32(depth, 4, 256),
        rows=float32(depth, scratch=True),
        cells=uint32(noted, scratch=True),
        signed=float32(noted, scratch=True),
        scale=float64(2, fill=(1.0, 0.0), least=(SMALLEST_SCALE, 0.0), most=(1.0, inf)),
    )


def begin(state: Any, seed: int) -> None:
    """Let whatever comes enter, and hash as the seed says."""
    top_k.begin(state)
    state.tables[...] = tabulation(len(state.tables), seed)


check = top_k.check


def counters(state: State) -> np.ndarray:
    """The sketch's rows, one behind the other, as a view."""
    return state.weights[RUN * (len(state.bounds) - 1) :]


@force_inline
def width_of(state):
    """Counters in a row of the sketch."""
    counters = np.uint64(len(state.weights) - RUN * (len(state.bounds) - 1))
    return counters if len(state.rows) == 1 else counters // np.uint64(len(state.rows))


@force_inline
def _cell(state, slot, r, width):
    """Where row r of the sketch keeps a slot, and the sign it has there."""
    word = tabulate(state.tables[r], slot)
    column = (np.uint64(word >> np.uint32(1)) * width) >> np.uint64(31)
    return np.uint64(RUN * (len(state.bounds) - 1)) + np.uint64(r) * width + column, SIGNS[word & np.uint32(1)]


@force_inline
def place(state, slot, width):
    """The cell of a slot, in S or in a sketch of one row, and its sign there."""
    cell, sign = _cell(state, slot, 0, width)
    here, entry = locate(state, slot)
    return entry if here else cell, np.float32(1.0) if here else sign


@force_inline
def query(state, slot):
    """The sketch's estimate of a slot: the median over its rows."""
    width = width_of(state)
    for r in range(len(state.rows)):
        cell, sign = _cell(state, slot, r, width)
        state.rows[r] = sign * state.weights[cell]
    return median(state.rows)


@kernel
def _write_means(state, slots, out):
    width = width_of(state)
    for k in range(len(slots)):
        total = np.float32(0.0)
        for r in range(len(state.rows)):
            cell, sign = _cell(state, slots[k], r, width)
            total += sign * state.weights[cell]
        out[k] = total / np.float32(len(state.rows))


def sketched(state: State, slots: np.ndarray) -> np.ndarray:
    """The mean (n,) over the sketch's rows of slots (n,) uint32, in S or not; over the scale."""
    out = np.empty(len(slots), np.float32)
    _write_means(state, slots, out)
    return out


@force_inline
def update(state, slot, change):
    """Move the sketch's estimate of a slot by `change`."""
    width = width_of(state)
    for r in range(len(state.rows)):
        cell, sign = _cell(state, slot, r, width)
        state.weights[cell] += sign * change


@force_inline
def value(state, slot):
    """The weight of a slot as predictions use it: from S, or the mean over the sketch's rows; over the scale."""
    entry = find(state, slot)
    if entry >= 0:
        return state.weights[entry]
    width = width_of(state)
    total = np.float32(0.0)
    for r in range(len(state.rows)):
        cell, sign = _cell(state, slot, r, width)
        total += sign * state.weights[cell]
    return total / np.float32(len(state.rows))


@force_inline
def change_weight(state, slot, change):
    """Move the weight of a slot by `change`; return the entry of S that it took from another slot, -1 if none."""
    entry = find(state, slot)
    if entry >= 0:
        set_weight(state, entry, state.weights[entry] + change)
        return -1
    weight = query(state, slot) + change
    if state.taken[0] < len(state.keys):
        insert(state, slot, weight)
        return -1
    if abs(weight) > state.bounds[-1]:
        entry = smallest(state)
        if abs(weight) > abs(state.weights[entry]):
            evicted = state.keys[entry]
            last = state.weights[entry]
            replace(state, entry, slot, weight)
            update(state, evicted, last - query(state, evicted))
            return entry
    update(state, slot, change)
    return -1


@force_inline
def fold(state):
    """Multiply the scale into what it scales."""
    rescale(state, np.float32(state.scale[0]))
    state.scale[0] = 1.0


@kernel
def put_back(state, slots, weights):
    """Let the sketch estimate slots (n,) by their weights (n,), those it is told last without error."""
    for k in range(len(slots)):
        update(state, slots[k], weights[k] - query(state, slots[k]))
