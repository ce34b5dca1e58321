"""WM-Sketch with l1, learning rates per feature, or cells of 8 or 16 bits: see `extensions`, and `wm` without.

The byte count is the paper's: 4 bytes for each id and each weight in the heap, and those of the cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import float64, made_from
from ouzel.learners.budget import extensions
from ouzel.learners.budget.gains import kept, unless_idle
from ouzel.learners.budget.kept_rows import estimating, heaviest_by
from ouzel.learners.budget.sketch_loop import predicting
from ouzel.learners.budget.wm import Settings, configure
from ouzel.learners.gains.parts import Gains
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.sketches import cells, top_k
from ouzel.sketches.cells import add_square, harden, mean, query, update
from ouzel.sketches.top_k import find, offer, set_weight

__all__ = ["Settings"]

BUDGETED = True
begin, check, members, swap_classes, fade = extensions.ALIKE


class State(NamedTuple):
    heap: top_k.State  # slots and their medians over the scale, written as the cells are
    cells: cells.State  # z times the root of the depth, over the scale
    scale: np.ndarray  # (2,) float64  the global scale; t


def layout(dimension: int, settings: Settings) -> State:
    """What a state is made of; it takes any slot, whatever the dimension."""
    heap_size, width, depth = configure(settings)
    sketch = cells.layout(width, depth, int(settings.cell_bits), settings.per_feature)
    scale = float64(2, fill=(1.0, 0.0), least=0.0, most=(1.0, np.inf))
    return State(top_k.layout(heap_size), sketch, scale)


init, grow = made_from(layout, begin)


@force_inline
def value_of(state, slot):
    """The mean over rows."""
    return mean(state.cells, slot)


@force_inline
def learn_feature(state, slot, gradient, change, settings):
    """Move the weight of a slot, and give it its place in the heap."""
    known = add_square(state.cells, slot, gradient * gradient) if settings.per_feature else np.float32(0.0)
    update(state.cells, slot, extensions.change_of(state, known, gradient, change, settings))
    weight = harden(query(state.cells, slot), np.float32(state.cells.grid[1]))
    entry = find(state.heap, slot)
    if entry >= 0:
        set_weight(state.heap, entry, weight)
    else:
        offer(state.heap, slot, weight)


learn_row, predict_row = extensions.learning(value_of, learn_feature), predicting(value_of)
learn_rows, predict_rows = learning_margins(learn_row), predicting_margins(predict_row)


@force_inline
def _weight_of(state, slot):
    return query(state.cells, slot)


estimates = estimating(_weight_of)
top = heaviest_by(estimates)


def bytes_used(state: State) -> int:
    """4 bytes for each id and each weight in the heap, and those of the cells."""
    return 8 * len(state.heap.keys) + cells.bytes_used(state.cells)


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base, as of `wm`; sums of squares add up."""
    slots = top_k.keys(state.heap)
    return {**extensions.gains_of_cells(base, state), "kept": kept(slots, np.ones(len(slots)))}


@unless_idle
def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The average model, as that of `wm`."""
    merged, slots = init(0, settings), gains["kept"].places.astype(np.uint32)
    extensions.settle_cells(merged, base, gains)
    top_k.fill(merged.heap, slots, estimates(merged, slots, settings))
    return merged
