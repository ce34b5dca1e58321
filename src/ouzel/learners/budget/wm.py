"""WM-Sketch: a linear classifier learnt in a CountSketch.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, Algorithm 1. With R the
CountSketch matrix over the root of its depth, eta_t the step size and tau = z'Rx the margin, the mean over rows,
    z <- (1 - l2 eta_t) z - eta_t y l'(y tau) R x        (a global scale, folded before it underflows);
a weight is the median over rows of what they say of it. A heap keeps the ids of the features whose median is largest.

Theorem 2 analyses two changes, both options. `radius`: after every step z is projected on the l2 ball, which only
changes the scale. `averaging`: weights are recovered from the mean of the iterates z_1 ... z_T that made predictions
(which stay those of each iterate). It is kept lazily: with a_t the scale, z_t = a_t c_t and A_t = a_1 + ... + a_t,
    sum_t z_t = A_T c_T - sum_t A_t (c_{t+1} - c_t),
so that a second table takes each change times A_t. That table counts: 8 bytes a counter.

The byte count is the paper's: 4 bytes for each id and each weight. A budget is split as its Table 2: 128 ids, and rows
of 128 weights (256 and 256 from 4 KB to 8 KB; 128 and 256 from 32 KB).
"""

from __future__ import annotations

from math import inf, isfinite, sqrt
from typing import Annotated, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float32, float64, made_from, uint32
from ouzel.learners.budget.decaying_weights import SMALLEST_SCALE, factor_of, next_step, product, shares
from ouzel.learners.budget.extensions import CellBits, CellL1, PerFeature, cell_bytes, checked_extensions, choosing
from ouzel.learners.budget.guarantee import Delta, Epsilon, Features, sized
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.shared_settings import L2, Depth, HeapSize, Loss, Rate, Schedule, SketchSeed, Width, byte_budget
from ouzel.ranges import STRENGTH, SWITCH
from ouzel.sketches import count_sketch, top_k
from ouzel.sketches.count_sketch import cell, median, query
from ouzel.sketches.hashing import tabulation
from ouzel.sketches.top_k import find, insert, replace, rescale, set_weight, smallest
from ouzel.terms.losses import Logistic, derivative
from ouzel.terms.schedules import InverseTime

BUDGETED = True
NOTED = 256  # features of a row whose cells are noted; the rest of a longer row is hashed twice


class State(NamedTuple):
    keys: np.ndarray  # (k,) uint32  slots
    weights: np.ndarray  # (k,) float32  medians over the scale
    bounds: np.ndarray  # (ceil(k / 64) + 1,) float32  see top_k
    places: np.ndarray  # (2^p,) uint16, see top_k
    taken: np.ndarray  # (1,) int64
    counters: np.ndarray  # (depth, width) float32  z times the root of the depth, over the scale
    tables: np.ndarray  # (depth, 4, 256) uint32, a constant of the seed
    sorted: np.ndarray  # (depth,) float32
    lags: np.ndarray  # (depth, width) float32, changes of the counters times A; empty without averaging
    columns: np.ndarray  # (256, depth) uint32, of the features of one row
    signs: np.ndarray  # (256, depth) float32
    scale: np.ndarray  # (4,) float64  the global scale; t; sum of the squared counters, with a radius; A


class Settings(NamedTuple):
    loss: Loss = Logistic()
    budget: Annotated[float, byte_budget(16.0), "bytes to keep"] = 8192.0
    heap_size: HeapSize = 0.0
    width: Width = 0.0
    depth: Depth = 0.0
    learning_rate: Rate = 0.1
    l2: L2 = 1e-6
    schedule: Schedule = InverseTime()
    sketch_seed: SketchSeed = 0.0
    averaging: Annotated[bool, SWITCH, "weights are those of the mean iterate"] = False
    radius: Annotated[float, STRENGTH, "of the l2 ball that the sketch is kept in; 0 for none"] = 0.0
    epsilon: Epsilon = 0.0
    delta: Delta = 0.05
    features: Features = 2.0**18
    l1: CellL1 = 0.0
    per_feature: PerFeature = False
    cell_bits: CellBits = 32.0

    def completed(self) -> Settings:
        """Of the size that `epsilon` asks for."""
        sized_settings: Settings = sized(checked_extensions(self, "averaging", "radius"))
        return sized_settings


module_for = choosing(__name__)


def configure(settings: Settings) -> tuple[int, int, int]:
    """Size of the heap, width and depth of the sketch.

    >>> configure(Settings(budget=8192.0))
    (128, 128, 14)
    """
    budget, counter = int(settings.budget), cell_bytes(settings) + (4 if settings.averaging else 0)
    middling = 4096 <= budget < 8192
    heap_size = int(settings.heap_size) or min(256 if middling else 128, budget // 16)
    room = (budget - 8 * heap_size) // counter
    usual = (256 if middling or budget >= 32768 else 128) * max(4 // counter, 1)  # smaller cells are more in a row
    width = int(settings.width) or min(usual, room)
    depth = int(settings.depth) or max(1, room // max(width, 1))
    if heap_size < 1 or width < 1:
        raise OuzelError(f"a budget of {settings.budget:.0f} bytes is too small; give at least {16 + counter} bytes")
    return heap_size, width, depth


def layout(dimension: int, settings: Settings) -> State:
    """What a state is made of; it takes any slot, whatever the dimension."""
    heap_size, width, depth = configure(settings)
    return State(
        *top_k.layout(heap_size),
        *count_sketch.layout(width, depth),
        lags=float32(*(depth, width) if settings.averaging else (0, 0)),
        columns=uint32(NOTED, depth, scratch=True),
        signs=float32(NOTED, depth, scratch=True),
        scale=float64(4, fill=(1.0, 0.0, 0.0, 0.0), least=(0.0, 0.0, -inf, 0.0), most=(1.0, inf, inf, inf)),
    )


def begin(state: State, settings: Settings) -> None:
    """Let whatever comes enter, and hash as the seed says."""
    top_k.begin(state)
    state.tables[...] = tabulation(len(state.tables), int(settings.sketch_seed))


init, grow = made_from(layout, begin)


def check(state: State, settings: Settings) -> None:
    """Refuse entries that could not be found."""
    top_k.check(state)


@force_inline
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    margin = 0.0
    for k in range(len(indices)):
        total = np.float32(0.0)
        for r in range(state.counters.shape[0]):
            column, sign = cell(state.tables[r], indices[k], state.counters.shape[1])
            total += sign * state.counters[r, column]
        margin += product(values[k], total) / state.counters.shape[0]
    return margin * state.scale[0]


@force_inline
def _note(state, slot, k):
    """Note where each row keeps a slot; return the sum of what the rows say of it."""
    total = np.float32(0.0)
    for r in range(state.counters.shape[0]):
        column, sign = cell(state.tables[r], slot, state.counters.shape[1])
        state.columns[k, r] = column
        state.signs[k, r] = sign
        total += sign * state.counters[r, column]
    return total


@force_inline
def _learn_feature(state, slot, k, change, settings):
    """Move the weight of the slot noted as the k-th by `change`, and give it its place in the heap."""
    depth = state.counters.shape[0]
    above = below = 0
    for r in range(depth):
        column, sign = state.columns[k, r], state.signs[k, r]
        before = state.counters[r, column]
        after = before + sign * change
        state.counters[r, column] = after
        state.sorted[r] = sign * after
        above += sign * after > state.bounds[-1]
        below += -sign * after > state.bounds[-1]
        if settings.radius > 0.0:
            state.scale[2] += np.float64(after) * after - np.float64(before) * before
        if settings.averaging:
            state.lags[r, column] += sign * change * np.float32(state.scale[3])
    entry = find(state, slot)
    if entry >= 0:
        set_weight(state, entry, median(state.sorted))
    elif state.taken[0] < len(state.keys):
        insert(state, slot, median(state.sorted))
    elif max(above, below) >= (depth + 1) // 2:  # else the median is below all of the heap
        weight = median(state.sorted)
        entry = smallest(state)
        if abs(weight) > abs(state.weights[entry]):
            replace(state, entry, slot, weight)


@force_inline
def _fold(state, settings):
    """Multiply the scale into what it scales."""
    scale = np.float32(state.scale[0])
    rescale(state, scale)
    state.scale[2] = 0.0
    for r in range(state.counters.shape[0]):
        for column in range(state.counters.shape[1]):
            counter = state.counters[r, column]
            if settings.averaging:
                state.lags[r, column] -= counter * np.float32(state.scale[3])
            state.counters[r, column] = counter * scale
            state.scale[2] += np.float64(counter * scale) * (counter * scale)
    state.scale[0] = 1.0
    state.scale[3] = 0.0


@force_inline
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    depth, noted = state.counters.shape[0], len(state.columns)
    margin = 0.0
    largest = np.float32(0.0)
    for k in range(len(indices)):
        margin += product(values[k], _note(state, indices[k], k % noted)) / depth
        largest = max(largest, abs(values[k]))
    margin *= state.scale[0]
    slope = importance * derivative(settings.loss, margin, target)
    if importance == 0.0 or not isfinite(slope):
        return margin
    state.scale[3] += state.scale[0]
    step = next_step(state, settings)
    if state.scale[0] < SMALLEST_SCALE:
        _fold(state, settings)
    factor = factor_of(state, step * slope, largest)
    for k in range(len(indices)):
        if len(indices) > noted:
            _note(state, indices[k], k % noted)
        _learn_feature(state, indices[k], k % noted, -factor * values[k], settings)
    if settings.radius > 0.0:
        size = state.scale[0] * sqrt(max(state.scale[2], 0.0) / depth)
        if size > settings.radius:
            state.scale[0] *= settings.radius / size
    return margin


learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)


@kernel
def _estimates(state, slots, out):
    for k in range(len(slots)):
        out[k] = state.scale[0] * query(state, slots[k])


def estimates(state: State, slots: np.ndarray, settings: Settings) -> np.ndarray:
    """Weights of the given slots (uint32): the sketch's medians, of the mean iterate if iterates are averaged."""
    if settings.averaging:
        mean = _sum_of_iterates(state) / max(state.scale[1], 1.0)
        state = state._replace(counters=mean.astype(np.float32), scale=np.ones(4))
    out = np.empty(len(slots))
    _estimates(state, slots, out)
    return out


def _sum_of_iterates(state: State) -> np.ndarray:
    return state.counters * state.scale[3] - state.lags


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
    """4 bytes for each id and each weight, and for each sum of iterates."""
    return 8 * len(state.keys) + 4 * state.counters.size + 4 * state.lags.size


def swap_classes(state: State) -> State:
    """The state that exchanged classes would have led to."""
    copies = State(*(array.copy() for array in state))
    return copies._replace(weights=-copies.weights, counters=-copies.counters, lags=-copies.lags)


def merge(states: list[State], settings: Settings) -> State:
    """The average model: sketches are linear, so their mean is the sketch of the mean weights; heaps are joined.

    Not the state of one pass over all streams, as learning is not linear. Sums of iterates add up.
    """
    merged = init(0, settings)
    counters = np.stack([state.counters * state.scale[0] for state in states])
    merged.counters[:] = np.tensordot(shares(states), counters, 1)
    merged.scale[1] = sum(state.scale[1] for state in states)
    merged.scale[2] = (merged.counters.astype(np.float64) ** 2).sum()
    if settings.averaging:
        merged.lags[:] = -np.sum([_sum_of_iterates(state) for state in states], axis=0)
    slots = np.unique(np.concatenate([state.keys[: state.taken[0]] for state in states]))
    weights = estimates(merged, slots, settings._replace(averaging=False))
    for k in np.argsort(-np.abs(weights), kind="stable")[: len(merged.keys)]:
        insert(merged, slots[k], np.float32(weights[k]))
    return merged
