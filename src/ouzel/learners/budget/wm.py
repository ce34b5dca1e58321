"""WM-Sketch: a linear classifier learnt in a CountSketch.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, Algorithm 1. With R the
CountSketch matrix over the root of its depth, eta_t the step size and tau = z'Rx the margin, the mean over rows,
    z <- (1 - l2 eta_t) z - eta_t y l'(y tau) R x        (a global scale, folded before it underflows);
a weight is the median over rows of what they say of it. A heap keeps the ids of the features whose median is largest.

Theorem 2 analyses two changes, both options. `radius`: after every step z is projected on the l2 ball, which only
changes the scale. `averaging`: weights are recovered from the mean of the iterates z_1 ... z_T that made predictions
(which stay those of each iterate). It is kept lazily: with a_t the scale, z_t = a_t c_t and A_t = a_1 + ... + a_t,
    sum_t z_t = A_T c_T - sum_t A_t (c_{t+1} - c_t),
so that a second table takes each change times A_t. That table counts: 8 bytes a counter.

The byte count is the paper's: 4 bytes for each id and each weight. A budget is split into 128 ids, or a quarter of it
for ids, and eight rows: the paper's Table 2 has 14 rows at 8 KB and 30 at 16 KB, which recover weights no better
and cost more time (`benchmarks/wm_shapes.py`).
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline
from ouzel.layout import float32, float64, made_from, uint32
from ouzel.learners.budget import decaying_weights
from ouzel.learners.budget.decaying_weights import product, pushing
from ouzel.learners.budget.extensions import EXTENSION, cell_bytes, checked_extensions, choosing
from ouzel.learners.budget.gains import kept, learnt, unless_idle
from ouzel.learners.budget.guarantee import GUARANTEE, sized
from ouzel.learners.budget.kept_features import check, members
from ouzel.learners.budget.kept_rows import estimating, heaviest_by
from ouzel.learners.budget.settings import fields
from ouzel.learners.budget.sketch_loop import learning, learning_row
from ouzel.learners.gains.parts import Gains
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.shared_settings import byte_budget
from ouzel.learners.states import negating
from ouzel.ranges import STRENGTH, SWITCH
from ouzel.sketches import count_sketch, top_k
from ouzel.sketches.count_sketch import cell, median, query
from ouzel.sketches.top_k import find, insert, replace, rescale, set_weight, smallest

__all__ = ["check", "members"]

BUDGETED = True
MOST_IDS, ROWS = 128, 8  # where no settings say otherwise
CACHED = 256  # features of a row whose cells are cached; the rest of a longer row is hashed twice


class State(NamedTuple):
    heap: top_k.State  # slots and their medians over the scale
    sketch: count_sketch.State  # z times the root of the depth, over the scale
    lags: np.ndarray  # (depth, width) float32, changes of the counters times A; empty without averaging
    columns: np.ndarray  # (256, depth) uint32, of the features of one row
    signs: np.ndarray  # (256, depth) float32
    scale: np.ndarray  # (4,) float64  the global scale; t; sum of the squared counters, with a radius; A


FIELDS: Any = fields(
    budget=byte_budget(16.0),
    averaging=(Annotated[bool, SWITCH, "weights are those of the mean iterate"], False),
    radius=(Annotated[float, STRENGTH, "of the l2 ball that the sketch is kept in; 0 for none"], 0.0),
    **GUARANTEE,
    **EXTENSION,
)


class Settings(FIELDS):
    """Settings of the WM-Sketch, with and without its extension."""

    def completed(self) -> Settings:
        """Of the size that `epsilon` asks for."""
        return sized(checked_extensions(self, "averaging", "radius"))


module_for = choosing(__name__)


def configure(settings: Settings) -> tuple[int, int, int]:
    """Size of the heap, width and depth of the sketch.

    >>> configure(Settings(budget=8192.0))
    (128, 224, 8)
    """
    budget, counter = int(settings.budget), cell_bytes(settings) + (4 if settings.averaging else 0)
    heap_size = int(settings.heap_size) or min(MOST_IDS, max(budget // 32, 1))
    room = (budget - 8 * heap_size) // counter
    depth = int(settings.depth) or (max(1, room // int(settings.width)) if settings.width else min(ROWS, max(room, 1)))
    width = int(settings.width) or room // depth
    if heap_size < 1 or width < 1:
        raise OuzelError(f"a budget of {settings.budget:.0f} bytes is too small; give at least {16 + counter} bytes")
    return heap_size, width, depth


def layout(dimension: int, settings: Settings) -> State:
    """What a state is made of; it takes any slot, whatever the dimension."""
    heap_size, width, depth = configure(settings)
    return State(
        heap=top_k.layout(heap_size),
        sketch=count_sketch.layout(width, depth),
        lags=float32(*(depth, width) if settings.averaging else (0, 0)),
        columns=uint32(CACHED, depth, scratch=True),
        signs=float32(CACHED, depth, scratch=True),
        scale=float64(4, fill=(1.0, 0.0, 0.0, 0.0), least=(0.0, 0.0, -inf, 0.0), most=(1.0, inf, inf, inf)),
    )


def begin(state: State, settings: Settings) -> None:
    """Let whatever comes enter, and hash as the seed says."""
    top_k.begin(state.heap)
    count_sketch.begin(state.sketch, int(settings.sketch_seed))


init, grow = made_from(layout, begin)


@force_inline
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    counters, tables = state.sketch.counters, state.sketch.tables
    depth, width = counters.shape
    margin = 0.0
    for k in range(len(indices)):
        total = np.float32(0.0)
        for r in range(depth):
            column, sign = cell(tables[r], indices[k], width)
            total += sign * counters[r, column]
        margin += product(values[k], total) / depth
    return margin * state.scale[0]


@force_inline
def _cache_feature(state, slot, k):
    """Cache where each row keeps a slot; return the sum of what the rows say of it."""
    counters, tables = state.sketch.counters, state.sketch.tables
    depth, width = counters.shape
    total = np.float32(0.0)
    for r in range(depth):
        column, sign = cell(tables[r], slot, width)
        state.columns[k, r] = column
        state.signs[k, r] = sign
        total += sign * counters[r, column]
    return total


@force_inline
def _learn_feature(state, slot, k, change, settings):
    """Move the weight of the slot cached as the k-th by `change`, and give it its place in the heap."""
    heap, counters, said = state.heap, state.sketch.counters, state.sketch.sorted
    depth = len(counters)
    above = below = 0
    for r in range(depth):
        column, sign = state.columns[k, r], state.signs[k, r]
        before = counters[r, column]
        after = before + sign * change
        counters[r, column] = after
        said[r] = sign * after
        above += sign * after > heap.bounds[-1]
        below += -sign * after > heap.bounds[-1]
        if settings.radius > 0.0:
            state.scale[2] += np.float64(after) * after - np.float64(before) * before
        if settings.averaging:
            state.lags[r, column] += sign * change * np.float32(state.scale[3])
    entry = find(heap, slot)
    if entry >= 0:
        set_weight(heap, entry, median(said))
    elif heap.taken[0] < len(heap.keys):
        insert(heap, slot, median(said))
    elif max(above, below) >= (depth + 1) // 2:  # else the median is below all of the heap
        weight = median(said)
        entry = smallest(heap)
        if abs(weight) > abs(heap.weights[entry]):
            replace(heap, entry, slot, weight)


@force_inline
def _fold(state):
    """Multiply the scale into what it scales."""
    counters, scale = state.sketch.counters, np.float32(state.scale[0])
    rescale(state.heap, scale)
    state.scale[2] = 0.0
    for r in range(counters.shape[0]):
        for column in range(counters.shape[1]):
            counter = counters[r, column]
            if len(state.lags) > 0:
                state.lags[r, column] -= counter * np.float32(state.scale[3])
            counters[r, column] = counter * scale
            state.scale[2] += np.float64(counter * scale) * (counter * scale)
    state.scale[0] = 1.0
    state.scale[3] = 0.0


@force_inline
def _cache(state, indices, values):
    """Cache the cells of all features; of a row that is too long, those of its last features."""
    depth, cached = len(state.sketch.counters), len(state.columns)
    margin = 0.0
    largest = np.float32(0.0)
    for k in range(len(indices)):
        margin += product(values[k], _cache_feature(state, indices[k], k % cached)) / depth
        largest = max(largest, abs(values[k]))
    return len(indices), margin, largest


@force_inline
def _count_iterate(state):
    """Add the scale to A: this iterate predicts."""
    state.scale[3] += state.scale[0]


@force_inline
def _move_cached(state, indices, values, factor, features, settings):
    """Move all features; cells of a row that is too long are cached again."""
    cached = len(state.columns)
    for k in range(features):
        if features > cached:
            _cache_feature(state, indices[k], k % cached)
        _learn_feature(state, indices[k], k % cached, -factor * values[k], settings)


@force_inline
def _project(state, step, settings):
    """Project on the ball, if there is one."""
    if settings.radius > 0.0:
        size = state.scale[0] * sqrt(max(state.scale[2], 0.0) / len(state.sketch.counters))
        if size > settings.radius:
            state.scale[0] *= settings.radius / size


_push = pushing(_fold, _count_iterate)
learn_row = learning_row(learning(__name__, _push, finish=_project, cache=_cache, move_cached=_move_cached))
learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)


@force_inline
def _weight_of(state, slot):
    return query(state.sketch, slot)


_estimates = estimating(_weight_of)


def estimates(state: State, slots: np.ndarray, settings: Settings) -> np.ndarray:
    """Weights of the given slots (uint32): the sketch's medians, of the mean iterate if iterates are averaged."""
    if settings.averaging:
        mean = _sum_of_iterates(state) / max(state.scale[1], 1.0)
        state = state._replace(sketch=state.sketch._replace(counters=mean.astype(np.float32)), scale=np.ones(4))
    return _estimates(state, slots, settings)


def _sum_of_iterates(state: State) -> np.ndarray:
    return state.sketch.counters * state.scale[3] - state.lags


top = heaviest_by(estimates)


def bytes_used(state: State) -> int:
    """4 bytes for each id and each weight, and for each sum of iterates."""
    return 8 * len(state.heap.keys) + 4 * state.sketch.counters.size + 4 * state.lags.size


swap_classes = negating("heap.weights", "sketch.counters", "lags")


def fade(state: State, kept: float, settings: Settings) -> None:
    """Let past examples count for a part of what they did, in the mean of iterates too."""
    decaying_weights.fade(state, kept, settings)
    state.scale[3] *= kept
    state.lags[...] *= np.float32(kept)


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base: its counters, times its examples, and its sum of iterates."""
    examples, slots = learnt(base, state), top_k.keys(state.heap)
    counters = examples * state.scale[0] * state.sketch.counters.astype(np.float64)
    iterates = _sum_of_iterates(state) - _sum_of_iterates(base) if settings.averaging else np.zeros(0)
    return {"examples": examples, "counters": counters, "iterates": iterates, "kept": kept(slots, np.ones(len(slots)))}


@unless_idle
def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The average model: sketches are linear, so their mean is the sketch of the mean weights; heaps are joined."""
    merged, slots = init(0, settings), gains["kept"].places.astype(np.uint32)
    merged.sketch.counters[:] = gains["counters"] / gains["examples"]
    merged.scale[1] = base.scale[1] + gains["examples"]
    merged.scale[2] = (merged.sketch.counters.astype(np.float64) ** 2).sum()
    if settings.averaging:
        merged.lags[:] = -(_sum_of_iterates(base) + gains["iterates"])
    top_k.fill(merged.heap, slots, estimates(merged, slots, settings._replace(averaging=False)))
    return merged
