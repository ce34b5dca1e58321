"""AWM-Sketch: a linear classifier within a byte budget, its heavy weights exact.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, Algorithm 2. The active
set S keeps the features of largest |weight| exactly; the CountSketch z keeps all others. With tau the margin, from S
where it holds a feature and from the mean over z's rows elsewhere, and eta_t the step size,
    S, z <- (1 - l2 eta_t) S, z        (a global scale, folded before it underflows)
    S_i  <- S_i - eta_t y l'(y tau) x_i                                  for i in S
    w~   <- query(z, i) - eta_t y l'(y tau) x_i                          for i outside:
            if |w~| is above the smallest in S, i takes its place and the evicted j is put back, so that
            query(z, j) is its last weight;  otherwise z takes the update.
While S is not full, features enter it directly. The constant feature competes for a place like any other. Features are
treated in the order of the row. Where -eta_t y l'(y tau) underflows to 0 in single precision, or the loss is flat, the
example only decays weights: Algorithm 2 would let its features compete for a place in S with their changes of 0.

S and z lie one behind the other in one array, so that with a sketch of one row (the default, and the paper's best)
every feature has one cell, found without branches that depend on where it is: `learn_row` notes the cells when it
predicts, and moves them all alike when it learns.

The byte count is the paper's (section 7.1): 4 bytes for each id and each weight. A budget is split as its Table 2: half
to S, half to one row of z.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline
from ouzel.layout import made_from
from ouzel.learners.budget.decaying_weights import fade, product, pushing
from ouzel.learners.budget.extensions import EXTENSION, cell_bytes, checked_extensions, choosing
from ouzel.learners.budget.gains import kept, learnt, unless_idle
from ouzel.learners.budget.kept_rows import estimating
from ouzel.learners.budget.settings import fields
from ouzel.learners.budget.sketch_loop import learning, learning_row
from ouzel.learners.gains.parts import Gains
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.shared_settings import byte_budget
from ouzel.sketches import active_set, top_k
from ouzel.sketches.active_set import (
    State,
    change_weight,
    counters,
    fold,
    place,
    put_back,
    query,
    sketched,
    value,
    width_of,
)
from ouzel.sketches.top_k import RUN, find, insert, set_weight

__all__ = ["fade"]

BUDGETED = True


FIELDS: Any = fields(budget=byte_budget(16.0, each=9), **EXTENSION)


class Settings(FIELDS):
    """Settings of the AWM-Sketch, with and without its extension."""

    def completed(self) -> Settings:
        """The settings, if they go together."""
        return checked_extensions(self)


module_for = choosing(__name__)


def configure(settings: Settings) -> tuple[int, int, int]:
    """Size of the active set, width and depth of the sketch.

    >>> configure(Settings(budget=8192.0))
    (512, 1024, 1)
    """
    depth, counter, entry = int(settings.depth) or 1, cell_bytes(settings), 12 if settings.per_feature else 8
    heap_size = int(settings.heap_size) or int(settings.budget) // (2 * entry)
    width = int(settings.width) or (int(settings.budget) - entry * heap_size) // (counter * depth)
    if heap_size < 1 or width < 1:
        raise OuzelError(
            f"a budget of {settings.budget:.0f} bytes is too small for a heap of {heap_size} features "
            f"and {depth} rows; give at least {entry * max(heap_size, 1) + counter * depth} bytes"
        )
    return heap_size, width, depth


def layout(dimension: int, settings: Settings) -> State:
    """What a state is made of; it takes any slot, whatever the dimension."""
    return active_set.layout(*configure(settings))


def begin(state: State, settings: Settings) -> None:
    """Let whatever comes enter, and hash as the seed says."""
    active_set.begin(state, int(settings.sketch_seed))


init, grow = made_from(layout, begin)


def check(state: State, settings: Settings) -> None:
    """Refuse an active set whose slots could not be found."""
    active_set.check(state)


@force_inline
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    margin = 0.0
    if len(state.rows) == 1:
        width = width_of(state)
        for k in range(len(indices)):
            cell, sign = place(state, indices[k], width)
            margin += product(sign * values[k], state.weights[cell])
    else:
        for k in range(len(indices)):
            margin += product(values[k], value(state, indices[k]))
    return margin * state.scale[0]


@force_inline
def _cache(state, indices, values):
    """Cache the cells of as many features as fit; return their number, their margin and the largest value."""
    cached = min(len(indices), len(state.cells))
    width = width_of(state)
    margin = 0.0
    largest = np.float32(0.0)
    for k in range(cached):
        cell, sign = place(state, indices[k], width)
        signed = sign * values[k]
        state.cells[k] = cell
        state.signed[k] = signed
        margin += product(signed, state.weights[cell])
        largest = max(largest, abs(signed))
    return cached, margin, largest


@force_inline
def _move_cached(state, indices, values, factor, cached, settings):
    """Move the weights in the cached cells, and let features enter the active set that have become heavy enough."""
    if factor == 0.0:
        return
    runs = np.uint32(len(state.bounds) - 1)
    for k in range(cached):
        cell = state.cells[k]
        before = state.weights[cell]
        after = before - factor * state.signed[k]
        state.weights[cell] = after
        run = min(cell // np.uint32(RUN), runs)
        if (abs(after) < state.bounds[run]) == (run < runs):  # rare: below a bound of S, or outside and not below all
            if run < runs:
                set_weight(state, cell, after)
                continue
            state.weights[cell] = before
            entry = change_weight(state, indices[k], -factor * values[k])
            for other in range(k + 1, cached):
                if state.cells[other] == entry:  # that was cached for a feature just evicted
                    state.cells[other], sign = place(state, indices[other], width_of(state))
                    state.signed[other] = sign * values[other]


@force_inline
def _move(state, slot, value, slope, factor, settings):
    """Move the weight of a feature whose cell is not cached."""
    if factor != 0.0:
        change_weight(state, slot, -factor * value)


learn_shifted = learning(__name__, pushing(fold), value, _move, cache=_cache, move_cached=_move_cached)
learn_row = learning_row(learn_shifted)
learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)


@force_inline
def _weight_of(state, slot):
    """Exact in the active set, the sketch's median elsewhere."""
    entry = find(state, slot)
    return state.weights[entry] if entry >= 0 else query(state, slot)


estimates = estimating(_weight_of)


def top(state: State, n: int, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Slots and weights of the n heaviest."""
    slots, weights = top_k.heaviest(state, n)
    return slots.astype(np.int64), weights * state.scale[0]


def members(state: State) -> np.ndarray:
    """Slots in the active set."""
    return state.keys[: state.taken[0]].astype(np.int64)


def bytes_used(state: State) -> int:
    """4 bytes for each id and each weight."""
    return 8 * len(state.keys) + 4 * len(counters(state))


def swap_classes(state: State) -> State:
    """The state that exchanged classes would have led to."""
    copies = State(*(array.copy() for array in state))
    return copies._replace(weights=-copies.weights)


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base, times its examples: the sketch, and what its set differs by from it."""
    slots, times = top_k.keys(state), learnt(base, state) * state.scale[0]
    apart = state.weights[: len(slots)] - sketched(state, slots).astype(np.float64)
    counted = times * counters(state).astype(np.float64)
    return {"examples": learnt(base, state), "counters": counted, "kept": kept(slots, times * apart)}


@unless_idle
def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The average model, by the examples of each worker: the mean of sketches is the sketch of the mean weights.

    The heaviest features of all workers' sets enter the merged set; any other is put into the sketch, so that the
    sketch's estimate is its mean weight, the heaviest last, as evictions come.
    """
    merged, (places, apart) = init(0, settings), gains["kept"]
    slots = places.astype(np.uint32)
    counters(merged)[:] = gains["counters"] / gains["examples"]
    mean = sketched(merged, slots) + apart[:, 0] / gains["examples"]
    order = np.argsort(-np.abs(mean), kind="stable")
    heavy, light = order[: len(merged.keys)], order[len(merged.keys) :][::-1]
    for k in heavy:
        insert(merged, slots[k], np.float32(mean[k]))
    put_back(merged, slots[light], mean[light].astype(np.float32))
    merged.scale[1] = base.scale[1] + gains["examples"]
    return merged
