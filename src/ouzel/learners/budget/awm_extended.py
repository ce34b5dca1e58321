"""AWM-Sketch with l1, learning rates per feature, or cells of 8 or 16 bits: see `extensions`, and `awm` without.

With rates per feature, one that enters the active set brings the sum of squares that its cells say, and one that is
evicted leaves its own there, where that is more. The byte count is the paper's: 4 bytes for each id, weight and sum of
squares of the active set, and those of the cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float32, float64, made_from
from ouzel.learners.budget.awm import Settings, configure
from ouzel.learners.budget.decaying_weights import SMALLEST_SCALE
from ouzel.learners.budget.extensions import (
    ALIKE,
    change_of,
    gains_of_cells,
    learning,
    settle_cells,
)
from ouzel.learners.budget.gains import kept, unless_idle
from ouzel.learners.budget.kept_rows import estimating
from ouzel.learners.budget.sketch_loop import predicting
from ouzel.learners.gains.parts import Gains
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.sketches import cells, top_k
from ouzel.sketches.cells import add_square, harden, mean, query, raise_squares, soften, update
from ouzel.sketches.top_k import find, insert, replace, set_weight, smallest

__all__ = ["Settings"]

BUDGETED = True
begin, check, members, swap_classes, fade = ALIKE


class State(NamedTuple):
    heap: top_k.State  # S: slots and their weights over the scale, written as the cells are
    sums: np.ndarray  # (k,) float32  sums of squared gradients; empty without rates per feature
    cells: cells.State  # z, over the scale
    scale: np.ndarray  # (2,) float64  the global scale; t


def layout(dimension: int, settings: Settings) -> State:
    """What a state is made of; it takes any slot, whatever the dimension."""
    heap_size, width, depth = configure(settings)
    sketch = cells.layout(width, depth, int(settings.cell_bits), settings.per_feature)
    return State(
        heap=top_k.layout(heap_size),
        sums=float32(heap_size if settings.per_feature else 0, least=0.0),
        cells=sketch,
        scale=float64(2, fill=(1.0, 0.0), least=(SMALLEST_SCALE, 0.0), most=(1.0, np.inf)),
    )


init, grow = made_from(layout, begin)


@force_inline
def _held(state, entry):
    """The weight of an entry of S."""
    return soften(state.heap.weights[entry], np.float32(state.cells.grid[1]))


@force_inline
def value_of(state, slot):
    """The weight from S, or the mean over the sketch's rows."""
    entry = find(state.heap, slot)
    return _held(state, entry) if entry >= 0 else mean(state.cells, slot)


@force_inline
def learn_feature(state, slot, gradient, change, settings):
    """Move the weight of a slot; one outside of S enters if it is heavy enough."""
    owed = np.float32(state.cells.grid[1])
    entry = find(state.heap, slot)
    if entry >= 0:
        known = np.float32(0.0)
        if settings.per_feature:
            state.sums[entry] += np.float32(gradient * gradient)
            known = state.sums[entry]
        weight = _held(state, entry) + change_of(state, known, gradient, change, settings)
        set_weight(state.heap, entry, harden(weight, owed))
        return
    known = add_square(state.cells, slot, gradient * gradient) if settings.per_feature else np.float32(0.0)
    change = change_of(state, known, gradient, change, settings)
    weight = harden(query(state.cells, slot) + change, owed)
    heap = state.heap
    if heap.taken[0] < len(heap.keys):
        insert(heap, slot, weight)
        entry = heap.taken[0] - 1
    elif abs(weight) > heap.bounds[-1]:
        entry = smallest(heap)
        entry = _take(state, entry, slot, weight, settings) if abs(weight) > abs(heap.weights[entry]) else -1
    if entry < 0:
        update(state.cells, slot, change)
    elif settings.per_feature:
        state.sums[entry] = known


@force_inline
def _take(state, entry, slot, weight, settings):
    """Give a slot an entry of S; the sketch estimates what was there by its last weight."""
    evicted, last = state.heap.keys[entry], _held(state, entry)
    replace(state.heap, entry, slot, weight)
    update(state.cells, evicted, last - query(state.cells, evicted))
    if settings.per_feature:
        raise_squares(state.cells, evicted, state.sums[entry])
    return entry


learn_row, predict_row = learning(value_of, learn_feature), predicting(value_of)
learn_rows, predict_rows = learning_margins(learn_row), predicting_margins(predict_row)


@force_inline
def _weight_of(state, slot):
    """Exact in the active set, the sketch's median elsewhere."""
    entry = find(state.heap, slot)
    return _held(state, entry) if entry >= 0 else query(state.cells, slot)


estimates = estimating(_weight_of)


def top(state: State, n: int, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Slots and weights of the n heaviest."""
    slots = top_k.heaviest(state.heap, n)[0]
    return slots.astype(np.int64), estimates(state, slots, settings)


def bytes_used(state: State) -> int:
    """4 bytes for each id, weight and sum of squares of the active set, and those of the cells."""
    return 8 * len(state.heap.keys) + 4 * len(state.sums) + cells.bytes_used(state.cells)


@kernel
def _put_back(state, slots, weights):
    """Let the sketch estimate slots (n,) by their weights (n,), those it is told last without error."""
    for k in range(len(slots)):
        update(state.cells, slots[k], weights[k] - query(state.cells, slots[k]))


@kernel
def _add_sums(state, slots, sums):
    """Add what a state knows of the squares of slots (n,)."""
    for k in range(len(slots)):
        entry = find(state.heap, slots[k])
        sums[k] += state.sums[entry] if entry >= 0 else add_square(state.cells, slots[k], 0.0)


@kernel
def _raise_sums(state, slots, sums):
    for k in range(len(slots)):
        raise_squares(state.cells, slots[k], sums[k])


@force_inline
def _mean_of(state, slot):
    """The mean over the sketch's rows, whatever is in the active set."""
    return mean(state.cells, slot)


_sketched = estimating(_mean_of)


def _squares(state: State, slots: np.ndarray, settings: Settings) -> np.ndarray:
    """What a state knows of the squares of slots (n,)."""
    sums = np.zeros(len(slots), np.float32)
    if settings.per_feature:
        _add_sums(state, slots, sums)
    return sums.astype(np.float64)


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base, as of `awm`; sums of squares add up."""
    found, slots = gains_of_cells(base, state), top_k.keys(state.heap)
    apart = found["examples"] * (estimates(state, slots, settings) - _sketched(state, slots, settings))
    more = _squares(state, slots, settings) - _squares(base, slots, settings)
    return {**found, "kept": kept(slots, apart, more)}


@unless_idle
def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The average model, as that of `awm`."""
    merged, (places, columns) = init(0, settings), gains["kept"]
    slots = places.astype(np.uint32)
    settle_cells(merged, base, gains)
    weights = _sketched(merged, slots, settings) + columns[:, 0] / gains["examples"]
    order = np.argsort(-np.abs(weights), kind="stable")
    size = len(merged.heap.keys)
    heavy, light = order[:size], order[size:][::-1]
    for k in heavy:
        insert(merged.heap, slots[k], np.float32(weights[k]))
    _put_back(merged, slots[light], weights[light].astype(np.float32))
    if settings.per_feature:
        sums = np.maximum(_squares(base, slots, settings) + columns[:, 1], 0.0).astype(np.float32)
        merged.sums[: len(heavy)] = sums[heavy]
        _raise_sums(merged, slots[light], sums[light])
    return merged
