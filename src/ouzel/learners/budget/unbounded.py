"""Online logistic regression without a budget, its heaviest weights in a heap: what budgeted learners are measured by.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, section 7: w* of the
recovery error, LR of Figures 6 and 7. With eta_t the step size,
    w <- (1 - l2 eta_t) w - eta_t l'(w.x, y) x        (a global scale, folded before it underflows).
A weight is looked for in the heap only where it was or is heavy enough to be there. A feature that others sink below
enters when it is next met, as with any heap that follows a stream.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import float32, made_from, require
from ouzel.learners.budget.decaying_weights import product, pushing
from ouzel.learners.budget.gains import learnt, unless_idle
from ouzel.learners.budget.kept_features import SCALE, begin
from ouzel.learners.budget.settings import fields
from ouzel.learners.gains.parts import Gains, dense, rows_of
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.states import negating
from ouzel.ranges import Range
from ouzel.sketches import top_k
from ouzel.sketches.top_k import find, offer, rescale, set_weight


class State(NamedTuple):
    weight: np.ndarray  # (d,) float32  w over the scale
    heap: top_k.State  # the heaviest slots and their weights, over the scale
    scale: np.ndarray  # (2,) float64  the global scale; t


HEAP_SIZE = Annotated[float, Range(1.0, whole=True, each=136), "heaviest features known by name"]
FIELDS: Any = fields("budget", "width", "depth", "sketch_seed", heap_size=(HEAP_SIZE, 128.0))


class Settings(FIELDS):
    """Settings without a budget."""


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    return State(float32(dimension), top_k.layout(max(1, int(settings.heap_size))), SCALE)


init, grow = made_from(layout, begin)


def check(state: State, settings: Settings) -> None:
    """Refuse a heap whose slots could not be found, or of which there are no weights."""
    top_k.check(state.heap)
    require((state.heap.keys < len(state.weight)).all(), "keys lie beyond the weights")


@force_inline
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    margin = 0.0
    for k in range(len(indices)):
        margin += product(values[k], state.weight[indices[k]])
    return margin * state.scale[0]


@force_inline
def _fold(state):
    """Multiply the scale into the weights."""
    scale = np.float32(state.scale[0])
    rescale(state.heap, scale)
    for slot in range(len(state.weight)):
        state.weight[slot] *= scale
    state.scale[0] = 1.0


push = pushing(_fold)


@force_inline
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    margin = 0.0
    largest = np.float32(0.0)
    for k in range(len(indices)):
        margin += product(values[k], state.weight[indices[k]])
        largest = max(largest, abs(values[k]))
    margin *= state.scale[0]
    learnt, factor, _, _ = push(state, settings, settings.loss, margin, target, importance, largest)
    if not learnt:
        return margin
    for k in range(len(indices)):
        before = state.weight[indices[k]]
        after = before - factor * values[k]
        state.weight[indices[k]] = after
        if max(abs(before), abs(after)) >= state.heap.bounds[-1]:
            _follow(state.heap, indices[k], after)
    return margin


@force_inline
def _follow(heap, slot, weight):
    """Let the heap know of a new weight."""
    entry = find(heap, slot)
    if entry >= 0:
        set_weight(heap, entry, weight)
    else:
        offer(heap, slot, weight)


learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot."""
    return state.weight * state.scale[0]


def heaviest(state: State, n: int, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Slots and weights of the n heaviest in the heap."""
    slots, weights = top_k.heaviest(state.heap, n)
    return slots.astype(np.int64), weights * state.scale[0]


swap_classes = negating("weight", "heap.weights")


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base: its weights, times its examples."""
    examples = learnt(base, state)
    return {"examples": examples, "weights": rows_of(examples * weights(state, settings))}


@unless_idle
def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The average model, by the examples each worker has learnt."""
    merged = init(len(base.weight), settings)
    mean = dense(gains["weights"], len(base.weight)) / gains["examples"]
    merged.weight[:] = mean
    top_k.fill(merged.heap, np.arange(len(mean), dtype=np.uint32), mean)
    merged.scale[1] = base.scale[1] + gains["examples"]
    return merged
