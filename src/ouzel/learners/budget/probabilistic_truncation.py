"""Probabilistic truncation: features are kept as by weighted reservoir sampling, heavy ones more likely.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, Algorithm 4, after
Efraimidis & Spirakis (2006). A feature has the key r^(1/|w|), r uniform; when its weight changes from w to w' the key
becomes key^(|w|/|w'|); the smallest key is dropped. Kept here is the priority -1 / log(key) = |w| / -log(r): it has the
order of the keys, does not underflow, and changes by |w'| / |w|. A weight that was 0 draws r anew. The features of an
example that are kept are moved first; then the others enter, each in the place of the lowest priority if its own is
above, which leaves what one cut after all updates leaves. An entry is an id, a weight and a priority: 12 bytes.
"""

from __future__ import annotations

from math import log
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import float32, made_from, uint64
from ouzel.learners.budget import kept_features as kept
from ouzel.learners.budget.gains import kept as kept_slots
from ouzel.learners.budget.gains import learnt, unless_idle
from ouzel.learners.budget.kept_rows import learning_kept_first, predicting
from ouzel.learners.budget.settings import fields
from ouzel.learners.gains.parts import Best, First, Gains
from ouzel.learners.loops import learning_in, predicting_margins
from ouzel.learners.shared_settings import byte_budget
from ouzel.sketches import reservoir, top_k
from ouzel.sketches.reservoir import random_word
from ouzel.sketches.top_k import find, insert, replace, rescale, set_weight, smallest

BUDGETED = True
check, estimates, members, swap_classes, top = kept.ALIKE
HIGHEST = 1e38  # priority


class State(NamedTuple):
    heap: top_k.State  # slots and their priorities of the sampling, over the scale
    values: np.ndarray  # (k,) float32  weights over the scale
    random: np.ndarray  # (2,) uint64  nothing; state of the random numbers
    scale: np.ndarray  # (2,) float64  the global scale; t


FIELDS: Any = fields("width", "depth", budget=byte_budget(12.0, each=12))


class Settings(FIELDS):
    """Settings of probabilistic truncation."""


def layout(dimension: int, settings: Settings) -> State:
    """What a state is made of; it takes any slot, whatever the dimension."""
    size = int(settings.heap_size) or int(settings.budget) // 12
    heap = top_k.layout(size)
    priorities = float32(size, least=0.0, finite=False)
    return State(heap._replace(weights=priorities), float32(size), uint64(2), kept.SCALE)


def begin(state: State, settings: Settings) -> None:
    """Let whatever comes enter, and random numbers begin as the seed says."""
    top_k.begin(state.heap)
    reservoir.begin(state.random, int(settings.sketch_seed))


init, grow = made_from(layout, begin)


predict_row = predicting(kept.value_of)


@force_inline
def _fold(state):
    """Multiply the scale into the weights and their priorities."""
    rescale(state.heap, np.float32(state.scale[0]))
    kept.fold_values(state)


@force_inline
def _priority(state, size):
    """A new priority for a weight of this size."""
    uniform = (np.float64(random_word(state.random) >> np.uint64(11)) + 0.5) / 9007199254740992.0
    return np.float32(min(size / -log(uniform), HIGHEST))


@force_inline
def _move(state, entry, change):
    """Move the weight of an entry by `change`, and its priority in proportion."""
    before, priority = abs(state.values[entry]), state.heap.weights[entry]
    state.values[entry] += change
    after = abs(state.values[entry])
    if before > 0.0 and priority > 0.0:
        set_weight(state.heap, entry, np.float32(min(priority * (after / before), HIGHEST)))
    else:
        set_weight(state.heap, entry, _priority(state, after))


@force_inline
def _learn_feature(state, slot, change):
    """Move the weight of a slot by `change`; one not kept draws a priority and may take the place of the lowest."""
    heap = state.heap
    entry = find(heap, slot)
    if entry >= 0:
        _move(state, entry, change)
    elif change != 0.0:
        priority = _priority(state, abs(change))
        if heap.taken[0] < len(heap.keys):
            insert(heap, slot, priority)
            state.values[heap.taken[0] - 1] = change
        elif priority > heap.bounds[-1]:
            entry = smallest(heap)
            if priority > heap.weights[entry]:
                replace(heap, entry, slot, priority)
                state.values[entry] = change


_learn = learning_kept_first(kept.value_of, _fold, _move, _learn_feature)
learn_row, learn_rows = learning_in(kept.entries_for, _learn)
predict_rows = predicting_margins(predict_row)


def bytes_used(state: State) -> int:
    """4 bytes for each id, weight and priority."""
    return 12 * len(state.heap.keys)


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base: its weights, times its examples, and what it has drawn, 1 / -log(r)."""
    examples, held = learnt(base, state), slice(0, state.heap.taken[0])
    size = np.abs(state.values[held].astype(float))
    drawn = np.divide(state.heap.weights[held], size, out=np.zeros(len(size)), where=size > 0.0)
    slots = top_k.keys(state.heap)
    parts = examples * estimates(state, slots, settings)
    return {
        "examples": examples,
        "kept": kept_slots(slots, parts),
        "drawn": Best(*kept_slots(slots, np.abs(parts), drawn)),
        "random": First((examples, int(state.random[1])), state.random),
    }


@unless_idle
def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The average model, by the examples each worker has learnt, cut to the features of highest priority.

    A feature keeps the r of the worker with the largest part in its weight, and its priority is |w| / -log(r) again;
    random numbers go on as with the worker that has learnt most.
    """
    merged, (slots, parts) = init(0, settings), gains["kept"]
    merged.scale[1] = base.scale[1] + gains["examples"]
    merged.random[:] = gains["random"].content
    weights = (parts[:, 0] / gains["examples"]).astype(np.float32)
    drawn = np.minimum(gains["drawn"].values[:, 1], HIGHEST).astype(np.float32)
    priorities = np.minimum(np.abs(weights) * drawn, np.float32(HIGHEST))
    for k in np.argsort(-priorities, kind="stable")[: len(merged.heap.keys)]:
        insert(merged.heap, np.uint32(slots[k]), priorities[k])
        merged.values[merged.heap.taken[0] - 1] = weights[k]
    return merged
