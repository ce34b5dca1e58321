"""WM-Sketch: a linear classifier learnt in a CountSketch.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, Algorithm 1. With R the
CountSketch matrix over the root of its depth, eta_t the step size and tau = z'Rx the margin, the mean over rows,
    z <- (1 - l2 eta_t) z - eta_t y l'(y tau) R x;
a weight is the median over rows of what they say of it. A heap keeps the ids of the features whose median is largest.

The byte count is the paper's: 4 bytes for each id and each weight. A budget is split as its Table 2: 128 ids, and rows
of 128 weights, of 256 from 32 KB.
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np

from ouzel._jit import inlined, kernel
from ouzel.errors import OuzelError
from ouzel.sketches import count_sketch, top_weights
from ouzel.sketches.count_sketch import cell, query, update
from ouzel.sketches.top_weights import find, insert, replace, rescale, set_weight, smallest
from ouzel.terms.losses import Logistic, derivative
from ouzel.terms.rates import InverseTime, rate

BUDGETED = True
SMALLEST_SCALE = 1e-4


class State(NamedTuple):
    keys: np.ndarray  # (k,) uint32  slots
    weights: np.ndarray  # (k,) float32  medians over the scale
    bounds: np.ndarray  # (ceil(k / 64) + 1,) float32  see top_weights
    places: np.ndarray  # (2^p,) uint64
    taken: np.ndarray  # (1,) int64
    counters: np.ndarray  # (depth, width) float32  z times the root of the depth, over the scale
    tables: np.ndarray  # (depth, 4, 256) uint32, a constant of the seed
    sorted: np.ndarray  # (depth,) float32
    scale: np.ndarray  # (2,) float64  the global scale; t


class Settings(NamedTuple):
    loss: NamedTuple = Logistic()
    budget: float = 8192.0  # bytes
    heap_size: float = 0.0  # these instead of what the budget gives
    width: float = 0.0
    depth: float = 0.0
    learning_rate: float = 0.1
    l2: float = 1e-6
    schedule: NamedTuple = InverseTime()
    sketch_seed: float = 0.0  # of the hash functions


def configure(settings: Settings) -> tuple[int, int, int]:
    """Size of the heap, width and depth of the sketch.

    >>> configure(Settings(budget=8192.0))
    (128, 128, 14)
    """
    budget = int(settings.budget)
    heap_size = int(settings.heap_size) or min(128, budget // 16)
    width = int(settings.width) or min(256 if budget >= 32768 else 128, (budget - 8 * heap_size) // 4)
    depth = int(settings.depth) or max(1, (budget - 8 * heap_size) // max(4 * width, 1))
    if heap_size < 1 or width < 1:
        raise OuzelError(f"a budget of {settings.budget:.0f} bytes is too small; give at least 16 bytes")
    return heap_size, width, depth


def init(dimension: int, settings: Settings) -> State:
    """A state that has seen nothing; it takes any slot, whatever the dimension."""
    heap_size, width, depth = configure(settings)
    sketch = count_sketch.init(width, depth, int(settings.sketch_seed))
    return State(*top_weights.init(heap_size), *sketch, np.array([1.0, 0.0]))


@inlined
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    margin = 0.0
    for k in range(len(indices)):
        total = np.float32(0.0)
        for r in range(state.counters.shape[0]):
            column, sign = cell(state.tables[r], indices[k], state.counters.shape[1])
            total += sign * state.counters[r, column]
        margin += values[k] * total / state.counters.shape[0]
    return margin * state.scale[0]


@inlined
def _learn_feature(state, slot, change):
    """Move the weight of a slot by `change`, and give it its place in the heap."""
    update(state, slot, change)
    weight = query(state, slot)
    entry = find(state, slot)
    if entry >= 0:
        set_weight(state, entry, weight)
    elif state.taken[0] < len(state.keys):
        insert(state, slot, weight)
    elif abs(weight) > state.bounds[-1]:
        entry = smallest(state)
        if abs(weight) > abs(state.weights[entry]):
            replace(state, entry, slot, weight)


@inlined
def _fold(state):
    """Multiply the scale into what it scales."""
    scale = np.float32(state.scale[0])
    rescale(state, scale)
    for r in range(state.counters.shape[0]):
        for column in range(state.counters.shape[1]):
            state.counters[r, column] *= scale
    state.scale[0] = 1.0


@inlined
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    margin = predict_row(state, indices, values, settings)
    slope = importance * derivative(settings.loss, margin, target)
    step = rate(settings.schedule, settings.learning_rate, settings.l2, state.scale[1])
    state.scale[1] += 1.0
    if not isfinite(slope):
        return margin
    state.scale[0] *= 1.0 - settings.l2 * step
    if state.scale[0] < SMALLEST_SCALE:
        _fold(state)
    factor = np.float32(step * slope / state.scale[0])
    for k in range(len(indices)):
        change = -factor * values[k]
        if isfinite(change):
            _learn_feature(state, indices[k], change)
    return margin


@kernel
def learn_rows(state, rows, targets, importances, settings, margins):
    """Learn a block; `margins` (n,) takes the predictions made before learning each example."""
    for i in range(len(targets)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        margins[i] = learn_row(state, rows.indices[here], rows.values[here], targets[i], importances[i], settings)


@kernel
def predict_rows(state, rows, settings, margins):
    """Write the margins of a block to `margins` (n,)."""
    for i in range(len(margins)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        margins[i] = predict_row(state, rows.indices[here], rows.values[here], settings)


def grow(state: State, dimension: int, settings: Settings) -> State:
    """The same state: its size is its budget."""
    return state


@kernel
def _estimates(state, slots, out):
    for k in range(len(slots)):
        out[k] = state.scale[0] * query(state, slots[k])


def estimates(state: State, slots: np.ndarray, settings: Settings) -> np.ndarray:
    """Weights of the given slots (uint32): the sketch's medians."""
    out = np.empty(len(slots))
    _estimates(state, slots, out)
    return out


def top(state: State, n: int, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Slots and weights of the n heaviest in the heap, by the sketch as it is now."""
    slots = state.keys[: state.taken[0]]
    weights = estimates(state, slots, settings)
    order = np.lexsort((slots, -np.abs(weights)))[:n]
    return slots[order].astype(np.int64), weights[order]


def members(state: State) -> np.ndarray:
    """Slots in the heap."""
    return state.keys[: state.taken[0]].astype(np.int64)


def bytes_used(state: State) -> int:
    """4 bytes for each id and each weight."""
    return 8 * len(state.keys) + 4 * state.counters.size


def mirror(state: State) -> State:
    """The state that exchanged classes would have led to."""
    copies = State(*(array.copy() for array in state))
    return copies._replace(weights=-copies.weights, counters=-copies.counters)


def merge(states: list[State], settings: Settings) -> State:
    """The average model: sketches are linear, so their mean is the sketch of the mean weights; heaps are joined."""
    merged = init(0, settings)
    seen = np.array([state.scale[1] for state in states])
    counters = np.stack([state.counters * state.scale[0] for state in states])
    merged.counters[:] = np.tensordot(seen / max(seen.sum(), 1.0), counters, 1)
    merged.scale[1] = seen.sum()
    slots = np.unique(np.concatenate([state.keys[: state.taken[0]] for state in states]))
    weights = estimates(merged, slots, settings)
    for k in np.argsort(-np.abs(weights), kind="stable")[: len(merged.keys)]:
        insert(merged, slots[k], np.float32(weights[k]))
    return merged
