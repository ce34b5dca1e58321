"""MISSION: gradients in a CountSketch, predictions from its heavy hitters.

Aghazadeh, Spring, LeJeune, Dasarathy, Shrivastava & Baraniuk (2018), "MISSION: Ultra Large-Scale Feature Selection
using Count-Sketches", ICML, Algorithm 1, an example at a time. With S the CountSketch and beta the weights that it
estimates for the k features in a heap, 0 for all others,
    tau  = beta'x,
    S   <- (1 - l2 eta_t) S - eta_t y l'(y tau) sketch(x)         (a global scale, folded before it underflows)
    beta <- the k features of largest |median over the rows of S|.
`wm` differs in what predicts: there the mean over rows, of all features. The paper has no penalty (l2 = 0).

The byte count is that of `wm`: 4 bytes for each id and each weight. Half of a budget is the heap's (an id and a weight:
8 bytes an entry), half the sketch's, in three rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline
from ouzel.layout import made_from
from ouzel.learners.budget.decaying_weights import pushing
from ouzel.learners.budget.gains import kept, learnt, unless_idle
from ouzel.learners.budget.kept_features import SCALE, check, members
from ouzel.learners.budget.kept_rows import estimating, heaviest_by
from ouzel.learners.budget.settings import fields
from ouzel.learners.budget.sketch_loop import learning, learning_row, predicting
from ouzel.learners.gains.parts import Gains
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.shared_settings import byte_budget
from ouzel.learners.states import negating
from ouzel.sketches import count_sketch, top_k
from ouzel.sketches.count_sketch import query, update
from ouzel.sketches.top_k import find, offer, rescale, set_weight

__all__ = ["check", "members"]

BUDGETED = True
ROWS = 3


class State(NamedTuple):
    heap: top_k.State  # slots and their medians over the scale, of when they were last moved
    sketch: count_sketch.State  # S over the scale
    scale: np.ndarray  # (2,) float64  the global scale; t


FIELDS: Any = fields(budget=byte_budget(16.0, each=9))


class Settings(FIELDS):
    """Settings of MISSION."""


def shape(settings: Settings, heap_size: int, room: int, least: int) -> tuple[int, int, int]:
    """Size of the heap, width and depth of the sketch, of `room` bytes for both; `least` bytes are too few.

    >>> shape(Settings(), 512, 8192, 20)
    (512, 341, 3)
    """
    heap_size = int(settings.heap_size) or heap_size
    depth = int(settings.depth) or min(ROWS, max(1, (room - 8 * heap_size) // 4))
    width = int(settings.width) or (room - 8 * heap_size) // (4 * depth)
    if heap_size < 1 or width < 1:
        raise OuzelError(
            f"a budget of {settings.budget:.0f} bytes is too small for a heap of {heap_size} features "
            f"and {depth} rows; give at least {least + 8 * max(heap_size, 1) + 4 * depth} bytes"
        )
    return heap_size, width, depth


def layout(dimension: int, settings: Settings) -> State:
    """What a state is made of; it takes any slot, whatever the dimension."""
    budget = int(settings.budget)
    heap_size, width, depth = shape(settings, budget // 16, budget, 0)
    return State(heap=top_k.layout(heap_size), sketch=count_sketch.layout(width, depth), scale=SCALE)


def begin(state: Any, settings: Any) -> None:
    """Let whatever comes enter, and hash as the seed says."""
    top_k.begin(state.heap)
    count_sketch.begin(state.sketch, int(settings.sketch_seed))


init, grow = made_from(layout, begin)


@force_inline
def value_of(state, slot):
    """The weight of a slot over the scale: beta's, 0 outside of the heap."""
    return query(state.sketch, slot) if find(state.heap, slot) >= 0 else np.float32(0.0)


@force_inline
def fold(state):
    """Multiply the scale into what it scales."""
    counters, scale = state.sketch.counters, np.float32(state.scale[0])
    rescale(state.heap, scale)
    for r in range(counters.shape[0]):
        for column in range(counters.shape[1]):
            counters[r, column] *= scale
    state.scale[0] = 1.0


@force_inline
def follow(state, slot):
    """Give a slot that has moved its place in the heap."""
    weight = query(state.sketch, slot)
    entry = find(state.heap, slot)
    if entry >= 0:
        set_weight(state.heap, entry, weight)
    else:
        offer(state.heap, slot, weight)


@force_inline
def _move(state, slot, value, slope, factor, settings):
    """Add the gradient of a feature to the sketch."""
    if factor != 0.0:
        update(state.sketch, slot, -factor * value)
        follow(state, slot)


predict_row = predicting(value_of)
learn_row = learning_row(learning(__name__, pushing(fold), value_of, _move))
learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)
estimates = estimating(value_of)
top = heaviest_by(estimates)


def bytes_used(state: State) -> int:
    """4 bytes for each id and each weight."""
    return 8 * len(state.heap.keys) + 4 * state.sketch.counters.size


swap_classes = negating("heap.weights", "sketch.counters")


def gains(base: Any, state: Any, settings: Any) -> Gains:
    """What a worker has learnt beyond its base: its counters, times its examples, and the slots in its heap."""
    examples, slots = learnt(base, state), top_k.keys(state.heap)
    counters = examples * state.scale[0] * state.sketch.counters.astype(np.float64)
    return {"examples": examples, "counters": counters, "kept": kept(slots, np.ones(len(slots)))}


def settle(merged: Any, base: Any, gains: Gains) -> Any:
    """A fresh state that is the average model: the mean of sketches, and the heaviest slots of all heaps by it."""
    slots = gains["kept"].places.astype(np.uint32)
    merged.sketch.counters[:] = gains["counters"] / gains["examples"]
    merged.scale[1] = base.scale[1] + gains["examples"]
    top_k.fill(merged.heap, slots, _sketched(merged, slots, None))
    return merged


@force_inline
def _sketched_value(state, slot):
    return query(state.sketch, slot)


_sketched = estimating(_sketched_value)


@unless_idle
def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The average model, by the examples each worker has learnt."""
    return settle(init(0, settings), base, gains)
