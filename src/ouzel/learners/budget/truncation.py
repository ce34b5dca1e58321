"""Simple truncation: after every example only the K heaviest weights are kept.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, Algorithm 3. A feature
that is not kept has the weight 0. Those of an example that are kept are moved first; then the others enter, each in the
place of the smallest kept if it is above it, which leaves what one cut after all updates leaves. The decay of weights
is a global scale. An entry is an id and a weight: 8 bytes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import made_from
from ouzel.learners.budget import kept_features as kept
from ouzel.learners.budget.gains import kept as kept_slots
from ouzel.learners.budget.gains import learnt, unless_idle
from ouzel.learners.budget.kept_rows import learning_kept_first, predicting
from ouzel.learners.budget.settings import fields
from ouzel.learners.gains.parts import Gains
from ouzel.learners.loops import learning_in, predicting_margins
from ouzel.learners.shared_settings import byte_budget
from ouzel.sketches import top_k
from ouzel.sketches.top_k import find, offer, rescale, set_weight

BUDGETED = True
check, estimates, members, swap_classes, top = kept.ALIKE


class State(NamedTuple):
    heap: top_k.State  # slots and their weights over the scale
    scale: np.ndarray  # (2,) float64  the global scale; t


FIELDS: Any = fields("width", "depth", "sketch_seed", budget=byte_budget(8.0, each=17))


class Settings(FIELDS):
    """Settings of truncation."""


def layout(dimension: int, settings: Settings) -> State:
    """What a state is made of; it takes any slot, whatever the dimension."""
    size = int(settings.heap_size) or int(settings.budget) // 8
    return State(top_k.layout(size), kept.SCALE)


init, grow = made_from(layout, kept.begin)


@force_inline
def _weight_of(state, entry):
    return state.heap.weights[entry]


predict_row = predicting(_weight_of)


@force_inline
def _fold(state):
    """Multiply the scale into the weights."""
    rescale(state.heap, np.float32(state.scale[0]))
    state.scale[0] = 1.0


@force_inline
def _move(state, entry, change):
    set_weight(state.heap, entry, state.heap.weights[entry] + change)


@force_inline
def _learn_feature(state, slot, change):
    """Move the weight of a slot by `change` if it is kept, or is heavy enough to be."""
    entry = find(state.heap, slot)
    if entry >= 0:
        _move(state, entry, change)
    else:
        offer(state.heap, slot, change)


_learn = learning_kept_first(_weight_of, _fold, _move, _learn_feature)
learn_row, learn_rows = learning_in(kept.entries_for, _learn)
predict_rows = predicting_margins(predict_row)


def bytes_used(state: State) -> int:
    """4 bytes for each id, weight."""
    return 8 * len(state.heap.keys)


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base: its weights, times its examples."""
    examples, slots = learnt(base, state), top_k.keys(state.heap)
    return {"examples": examples, "kept": kept_slots(slots, examples * estimates(state, slots, settings))}


@unless_idle
def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The average model, by the examples each worker has learnt, cut to the heaviest that there is room for."""
    merged, (slots, weights) = init(0, settings), gains["kept"]
    merged.scale[1] = base.scale[1] + gains["examples"]
    top_k.fill(merged.heap, slots.astype(np.uint32), weights[:, 0] / gains["examples"])
    return merged
