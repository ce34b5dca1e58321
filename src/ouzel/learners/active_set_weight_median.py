"""AWM-Sketch: a linear classifier within a byte budget, its heavy weights exact.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, Algorithm 2. The active
set S keeps the features of largest |weight| exactly; the CountSketch z keeps all others. With tau the margin, from S
where it holds a feature and from the mean over z's rows elsewhere, and eta_t the step size,
    S, z <- (1 - l2 eta_t) S, z        (a global scale, folded before it underflows)
    S_i  <- S_i - eta_t y l'(y tau) x_i                                  for i in S
    w~   <- query(z, i) - eta_t y l'(y tau) x_i                          for i outside:
            if |w~| is above the smallest in S, i takes its place and the evicted j is put back, so that
            query(z, j) is its last weight;  otherwise z takes the update.
While S is not full, features enter it directly. The constant feature competes for a place like any other.

The byte count is the paper's (section 7.1): 4 bytes for each id and each weight. A budget is split as its Table 2: half
to S, half to one row of z.
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
    keys: np.ndarray  # (k,) uint32  S: slots ...
    weights: np.ndarray  # (k,) float32  ... and their weights, over the scale
    bounds: np.ndarray  # (ceil(k / 64),) float32  see top_weights
    lowest: np.ndarray  # (1,) float32
    places: np.ndarray  # (2^p,) uint32
    taken: np.ndarray  # (1,) int64
    counters: np.ndarray  # (depth, width) float32  z, over the scale
    tables: np.ndarray  # (depth, 4, 256) uint64, a constant of the seed
    sorted: np.ndarray  # (depth,) float32
    scale: np.ndarray  # (2,) float64  the global scale; t


class Settings(NamedTuple):
    loss: NamedTuple = Logistic()
    budget: float = 8192.0  # bytes; heap_size, width and depth follow from it where they are 0
    heap_size: float = 0.0
    width: float = 0.0
    depth: float = 0.0
    learning_rate: float = 0.1
    l2: float = 1e-6
    schedule: NamedTuple = InverseTime()
    sketch_seed: float = 0.0  # of the hash functions


def configure(settings: Settings) -> tuple[int, int, int]:
    """Size of the active set, width and depth of the sketch.

    >>> configure(Settings(budget=8192.0))
    (512, 1024, 1)
    """
    depth = int(settings.depth) or 1
    heap_size = int(settings.heap_size) or int(settings.budget) // 16
    width = int(settings.width) or (int(settings.budget) - 8 * heap_size) // (4 * depth)
    if heap_size < 1 or width < 1:
        raise OuzelError(
            f"a budget of {settings.budget:.0f} bytes is too small for a heap of {heap_size} features "
            f"and {depth} rows; give at least {8 * max(heap_size, 1) + 4 * depth} bytes"
        )
    return heap_size, width, depth


def init(dimension: int, settings: Settings) -> State:
    """A state that has seen nothing; it takes any slot, whatever the dimension."""
    heap_size, width, depth = configure(settings)
    sketch = count_sketch.init(width, depth, int(settings.sketch_seed))
    return State(*top_weights.init(heap_size), *sketch, np.array([1.0, 0.0]))


def grow(state: State, dimension: int, settings: Settings) -> State:
    """The same state: its size is its budget."""
    return state


@inlined
def _mean(state, slot):
    """The mean over the sketch's rows of what each says of a slot: what predictions use."""
    total = np.float32(0.0)
    for r in range(state.counters.shape[0]):
        column, sign = cell(state.tables[r], slot, state.counters.shape[1])
        total += sign * state.counters[r, column]
    return total / np.float32(state.counters.shape[0])


@inlined
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    margin = 0.0
    for k in range(len(indices)):
        entry = find(state, indices[k])
        margin += values[k] * (state.weights[entry] if entry >= 0 else _mean(state, indices[k]))
    return margin * state.scale[0]


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
    if slope != 0.0:
        factor = np.float32(step * slope / state.scale[0])
        for k in range(len(indices)):
            change = -factor * values[k]
            if isfinite(change):
                _learn_feature(state, indices[k], change)
    if state.scale[0] < SMALLEST_SCALE:
        _fold(state)
    return margin


@inlined
def _learn_feature(state, slot, change):
    """Move the weight of a slot by `change`, in the active set or in the sketch."""
    entry = find(state, slot)
    if entry >= 0:
        set_weight(state, entry, state.weights[entry] + change)
        return
    weight = query(state, slot) + change
    if state.taken[0] < len(state.keys):
        insert(state, slot, weight)
        return
    if abs(weight) > state.lowest[0]:
        least = smallest(state)
        if abs(weight) > abs(state.weights[least]):
            evicted = state.keys[least]
            last = state.weights[least]
            replace(state, least, slot, weight)
            update(state, evicted, last - query(state, evicted))
            return
    update(state, slot, change)


@inlined
def _fold(state):
    """Multiply the scale into what it scales."""
    scale = np.float32(state.scale[0])
    rescale(state, scale)
    for r in range(state.counters.shape[0]):
        for column in range(state.counters.shape[1]):
            state.counters[r, column] *= scale
    state.scale[0] = 1.0


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


@kernel
def _estimates(state, slots, out):
    for k in range(len(slots)):
        entry = find(state, slots[k])
        out[k] = state.scale[0] * (state.weights[entry] if entry >= 0 else query(state, slots[k]))


def estimates(state: State, slots: np.ndarray, settings: Settings) -> np.ndarray:
    """Weights of the given slots (uint32): exact in the active set, the sketch's median elsewhere."""
    out = np.empty(len(slots))
    _estimates(state, slots, out)
    return out


def top(state: State, n: int, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Slots and weights of the n heaviest, from the active set."""
    slots, weights = top_weights.heaviest(top_weights.State(*state[:6]), n)
    return slots, weights * state.scale[0]


def members(state: State) -> np.ndarray:
    """Slots in the active set."""
    return state.keys[: state.taken[0]].astype(np.int64)


def bytes_used(state: State) -> int:
    """4 bytes for each id and each weight."""
    return 8 * len(state.keys) + 4 * state.counters.size


def mirror(state: State) -> State:
    """The state that exchanged classes would have led to."""
    copies = State(*(array.copy() for array in state))
    return copies._replace(weights=-copies.weights, counters=-copies.counters)


def merge(states: list[State], settings: Settings) -> State:
    """The average model: each feature of any active set by the mean of all estimates, the heaviest of them active.

    Not the state of one pass over both streams, which no sketch of this kind has: workers' weights are averaged.
    """
    merged = init(0, settings)
    scales = np.array([state.scale[0] for state in states])
    merged.counters[:] = np.mean([s.counters * scale for s, scale in zip(states, scales, strict=True)], axis=0)
    slots = np.unique(np.concatenate([state.keys[: state.taken[0]] for state in states]))
    mean = np.mean([estimates(state, slots, settings) for state in states], axis=0)
    merged.scale[1] = sum(state.scale[1] for state in states)
    for k in np.argsort(-np.abs(mean), kind="stable"):
        slot, weight = slots[k], np.float32(mean[k])
        if merged.taken[0] < len(merged.keys):
            insert(merged, slot, weight)
        else:
            update(merged, slot, weight - query(merged, slot))
    return merged
