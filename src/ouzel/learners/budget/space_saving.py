"""Weights of the most frequent features, found by SpaceSaving.

The baseline of Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, section
7.1: online gradient descent on the features that a SpaceSaving summary holds; a feature that takes over an entry starts
from the weight 0. Every occurrence counts once, whatever the example's importance; counts stop at 2^32 - 1. An entry is
an id, a count and a weight: 12 bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import float32, made_from
from ouzel.learners.budget import kept_features as kept
from ouzel.learners.budget.gains import kept as kept_slots
from ouzel.learners.budget.gains import learnt, unless_idle
from ouzel.learners.budget.kept_features import State
from ouzel.learners.budget.kept_rows import learning_each, predicting
from ouzel.learners.budget.settings import fields
from ouzel.learners.gains.parts import Gains
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.shared_settings import byte_budget
from ouzel.sketches import space_saving, top_k
from ouzel.sketches.counters import MOST

BUDGETED = True
check, estimates, members, swap_classes, top = kept.ALIKE


FIELDS: Any = fields("width", "depth", "sketch_seed", budget=byte_budget(12.0, each=12))


class Settings(FIELDS):
    """Settings of SpaceSaving."""


def layout(dimension: int, settings: Settings) -> State:
    """What a state is made of; it takes any slot, whatever the dimension."""
    size = int(settings.heap_size) or int(settings.budget) // 12
    return State(top_k.layout(size, counting=True), float32(size), kept.SCALE)


init, grow = made_from(layout, kept.begin)


predict_row = predicting(kept.value_of)


count = space_saving.update


@force_inline
def _learn_feature(state, slot, change):
    """Count a slot, and move its weight by `change`."""
    entry, new = count(state.heap, slot, 1)
    state.values[entry] = change if new else state.values[entry] + change


learn_row = learning_each(kept.value_of, kept.fold_values, _learn_feature)
learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)


def bytes_used(state: State) -> int:
    """4 bytes for each id, weight and count."""
    return 12 * len(state.heap.keys)


def _counts(state: State, slots: np.ndarray) -> tuple[np.ndarray, float]:
    """How often slots (n,) were counted above the least count of a full summary, and that count."""
    heap, held = state.heap, slice(0, state.heap.taken[0])
    least = float(heap.weights.min()) if heap.taken[0] == len(heap.keys) else 0.0
    known = dict(zip(heap.keys[held].tolist(), heap.weights[held].tolist(), strict=True))
    return np.array([known.get(int(slot), least) - least for slot in slots]), least


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base: counts, and its weights, times its examples."""
    examples, slots = learnt(base, state), kept.slots_of_any([base, state])
    (before, less), (after, least) = _counts(base, slots), _counts(state, slots)
    weights = examples * estimates(state, slots, settings)
    return {"examples": examples, "least": least - less, "kept": kept_slots(slots, weights, after - before)}


@unless_idle
def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The average model, by the examples each worker has learnt, of the features most frequent in all streams together.

    Counts add up as summaries of SpaceSaving do, where a feature not held has the least count; the base's count once.
    """
    merged, (slots, columns) = init(0, settings), gains["kept"]
    merged.scale[1] = base.scale[1] + gains["examples"]
    before, least = _counts(base, slots)
    counts = np.minimum(before + least + columns[:, 1] + gains["least"], MOST)
    for k in np.lexsort((slots, -counts))[: len(merged.heap.keys)]:
        if counts[k] > 0.0:
            top_k.insert(merged.heap, np.uint32(slots[k]), np.uint32(counts[k]))
            merged.values[merged.heap.taken[0] - 1] = columns[k, 0] / gains["examples"]
    return merged
