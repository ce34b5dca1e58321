"""WM-Sketch with l1, learning rates per feature, or cells of 8 or 16 bits: see `extensions`, and `wm` without.

The byte count is the paper's: 4 bytes for each id and each weight in the heap, and those of the cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float64, made_from
from ouzel.learners.budget.decaying_weights import shares
from ouzel.learners.budget.extensions import (
    alone,
    change_of,
    learning,
    members,
    merge_cells,
    predicting,
    swap_classes,
)
from ouzel.learners.budget.wm import Settings, configure
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.sketches import cells, top_k
from ouzel.sketches.cells import add_square, harden, mean, query, update
from ouzel.sketches.top_k import find, insert, offer, set_weight

__all__ = ["Settings", "members", "swap_classes"]

BUDGETED = True


class State(NamedTuple):
    keys: np.ndarray  # (k,) uint32  slots
    weights: np.ndarray  # (k,) float32  medians over the scale, written as the cells are
    bounds: np.ndarray  # (ceil(k / 64) + 1,) float32  see top_k
    places: np.ndarray  # (2^p,) uint16, see top_k
    taken: np.ndarray  # (1,) int64
    cells: cells.State  # z times the root of the depth, over the scale
    scale: np.ndarray  # (2,) float64  the global scale; t


def layout(dimension: int, settings: Settings) -> State:
    """What a state is made of; it takes any slot, whatever the dimension."""
    heap_size, width, depth = configure(settings)
    sketch = cells.layout(width, depth, int(settings.cell_bits), settings.per_feature)
    scale = float64(2, fill=(1.0, 0.0), least=0.0, most=(1.0, np.inf))
    return State(*top_k.layout(heap_size), cells=sketch, scale=scale)


def begin(state: State, settings: Settings) -> None:
    """Let whatever comes enter, and hash as the seed says."""
    top_k.begin(state)
    cells.begin(state.cells, int(settings.sketch_seed))


init, grow = made_from(layout, begin)


def check(state: State, settings: Settings) -> None:
    """Refuse entries that could not be found."""
    top_k.check(state)


@force_inline
def value_of(state, slot):
    """The mean over rows."""
    return mean(state.cells, slot)


@force_inline
def learn_feature(state, slot, gradient, change, settings):
    """Move the weight of a slot, and give it its place in the heap."""
    known = add_square(state.cells, slot, gradient * gradient) if settings.per_feature else np.float32(0.0)
    update(state.cells, slot, change_of(state, known, gradient, change, settings))
    weight = harden(query(state.cells, slot), np.float32(state.cells.grid[1]))
    entry = find(state, slot)
    if entry >= 0:
        set_weight(state, entry, weight)
    else:
        offer(state, slot, weight)


learn_row, predict_row = learning(value_of, learn_feature), predicting(value_of)
learn_rows, predict_rows = learning_margins(learn_row), predicting_margins(predict_row)


@kernel
def _estimates(state, slots, out):
    for k in range(len(slots)):
        out[k] = state.scale[0] * query(state.cells, slots[k])


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


def bytes_used(state: State) -> int:
    """4 bytes for each id and each weight in the heap, and those of the cells."""
    return 8 * len(state.keys) + cells.bytes_used(state.cells)


def merge(states: list[State], settings: Settings) -> State:
    """The average model, as that of `wm`; sums of squares add up."""
    single = alone(states)
    if single is not None:
        return single
    merged = init(0, settings)
    merge_cells(merged, states, shares(states))
    slots = np.unique(np.concatenate([state.keys[: state.taken[0]] for state in states]))
    weights = estimates(merged, slots, settings)
    for k in np.argsort(-np.abs(weights), kind="stable")[: len(merged.keys)]:
        insert(merged, slots[k], np.float32(weights[k]))
    return merged
