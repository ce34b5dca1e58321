"""Weights of the most frequent features, found by a CountMin sketch and a heap.

The baseline of Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, section
7.1: online gradient descent on the features in a heap by estimated count. Every occurrence counts once, whatever the
example's importance. A feature enters the heap where its estimate is above (not equal to) the least count there, and
begins with the weight 0; a count in the heap is the estimate of when its feature last occurred, at most today's. Counts
stop at 2^32 - 1. Half of the budget is the heap's (an id, a count and a weight: 12 bytes an entry), half the sketch's,
in two rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline
from ouzel.layout import float32, made_from
from ouzel.learners.budget import kept_features as kept
from ouzel.learners.budget.gains import kept as kept_slots
from ouzel.learners.budget.gains import learnt, unless_idle
from ouzel.learners.budget.kept_rows import learning_each, predicting
from ouzel.learners.budget.settings import fields
from ouzel.learners.gains.parts import Gains
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.shared_settings import byte_budget
from ouzel.sketches import count_min, count_sketch, top_k
from ouzel.sketches.counters import MOST
from ouzel.sketches.top_k import find, insert, replace, set_weight, smallest

BUDGETED = True
check, estimates, members, swap_classes, top = kept.ALIKE


class State(NamedTuple):
    heap: top_k.State  # slots and their counts
    values: np.ndarray  # (k,) float32  weights over the scale
    sketch: count_min.State  # of all counts
    scale: np.ndarray  # (2,) float64  the global scale; t


FIELDS: Any = fields(budget=byte_budget(24.0, each=7))


class Settings(FIELDS):
    """Settings of the CountMin sketch."""


def layout(dimension: int, settings: Settings) -> State:
    """What a state is made of; it takes any slot, whatever the dimension."""
    size = int(settings.heap_size) or int(settings.budget) // 24
    depth = int(settings.depth) or 2
    width = int(settings.width) or (int(settings.budget) - 12 * size) // (4 * depth)
    if size < 1 or width < 1:
        raise OuzelError(f"a budget of {settings.budget:.0f} bytes is too small; give at least 40 bytes")
    return State(top_k.layout(size, counting=True), float32(size), count_min.layout(width, depth), kept.SCALE)


def begin(state: State, settings: Settings) -> None:
    """Let whatever comes enter, and hash as the seed says."""
    top_k.begin(state.heap)
    count_sketch.begin(state.sketch, int(settings.sketch_seed))


init, grow = made_from(layout, begin)


count = count_min.update
occurrences = count_min.query


predict_row = predicting(kept.value_of)


@force_inline
def _learn_feature(state, slot, change):
    """Count a slot, and move its weight by `change` if it is, or gets, in the heap."""
    heap = state.heap
    count(state.sketch, slot, 1)
    often = occurrences(state.sketch, slot)
    entry = find(heap, slot)
    if entry >= 0:
        set_weight(heap, entry, often)
        state.values[entry] += change
    elif heap.taken[0] < len(heap.keys):
        insert(heap, slot, often)
        state.values[heap.taken[0] - 1] = change
    elif often > heap.bounds[-1]:
        entry = smallest(heap)
        if often > heap.weights[entry]:
            replace(heap, entry, slot, often)
            state.values[entry] = change


learn_row = learning_each(kept.value_of, kept.fold_values, _learn_feature)
learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)


def bytes_used(state: State) -> int:
    """4 bytes for each id, weight and count, and each counter."""
    return 12 * len(state.heap.keys) + 4 * state.sketch.counters.size


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base: counts, and its weights, times its examples."""
    examples, slots = learnt(base, state), top_k.keys(state.heap)
    counted = state.sketch.counters.astype(np.int64) - base.sketch.counters
    weights = kept_slots(slots, examples * estimates(state, slots, settings))
    return {"examples": examples, "counted": counted, "kept": weights}


@unless_idle
def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The average model, by the examples each worker has learnt, of the features most frequent in all streams together.

    Sketches add up, the base's once, and say which of the workers' features those are.
    """
    merged, (slots, weights) = init(0, settings), gains["kept"]
    merged.scale[1] = base.scale[1] + gains["examples"]
    merged.sketch.counters[...] = np.minimum(base.sketch.counters + gains["counted"], MOST)
    slots = slots.astype(np.uint32)
    counts = np.array([occurrences(merged.sketch, slot) for slot in slots], np.int64)
    for k in np.argsort(-counts, kind="stable")[: len(merged.heap.keys)]:
        insert(merged.heap, slots[k], np.uint32(counts[k]))
        merged.values[merged.heap.taken[0] - 1] = weights[k, 0] / gains["examples"]
    return merged
