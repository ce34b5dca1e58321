"""BEAR: MISSION by limited-memory BFGS directions, which go into the CountSketch in place of gradients.

Aghazadeh, Gupta, DeWeese, Koyluoglu & Ramchandran (2022), "BEAR: Sketching BFGS Algorithm for Ultra-High Dimensional
Feature Selection in Sublinear Memory", MSML, Algorithm 1, a minibatch being one example. With A the features of the
example, beta what MISSION predicts with, and g(beta) the gradient of the example's loss, on A:
    z  = two-loop recursion of g(beta) over the last tau pairs (s_i, r_i), all restricted to A
    S <- (1 - l2 eta_t) S - eta_t sketch(z)                       (a global scale, folded before it underflows)
    s  = beta' - beta,  r = g(beta') - g(beta) + damping s       beta' by the new S, of the same heap
    beta' <- the k features of largest |median over the rows of S|.
The rest is that of online BFGS (Schraudolph, Yu & Günter 2007, "A Stochastic Quasi-Newton Method for Online Convex
Optimization", AISTATS): the recursion begins with the mean over the pairs of s'r / r'r times g, and r has the damping,
without which an example that is classified well, whose r is next to nothing, makes the next step very long. Until there
is a pair, z = g. Where z is no number, or would move a weight too far, g goes into S instead.

A pair has room for some features: those in the heap first, in the order of the row, then the others; what there is no
room for counts as 0. A pair with s'r not above 0, or too large or small a number, is not kept.
The byte count is that of `wm`: 4 bytes for each id and each weight, and of each entry of a pair for its id, s and r. A
quarter of a budget is the heap's (8 bytes an entry), a quarter the pairs' (12 an entry), half the sketch's, in 3 rows.
"""

from __future__ import annotations

from math import isfinite
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float32, int64, made_from, require, uint32
from ouzel.learners.budget import mission
from ouzel.learners.budget.decaying_weights import LARGEST_CHANGE, product, pushing
from ouzel.learners.budget.gains import unless_idle
from ouzel.learners.budget.kept_features import SCALE, members
from ouzel.learners.budget.mission import begin, estimates, fold, follow, predict_row, predict_rows, top, value_of
from ouzel.learners.budget.settings import fields
from ouzel.learners.gains.parts import First, Gains
from ouzel.learners.limits import LIMIT
from ouzel.learners.loops import learning_in
from ouzel.learners.shared_settings import byte_budget
from ouzel.learners.states import negating
from ouzel.ranges import STRENGTH, Range
from ouzel.sketches import count_sketch, top_k
from ouzel.sketches.count_sketch import query, update
from ouzel.sketches.top_k import find, insert
from ouzel.terms.losses import derivative

__all__ = ["estimates", "members", "predict_row", "predict_rows", "top"]

BUDGETED = True
LEAST = 1e-30  # of s'r


class State(NamedTuple):
    heap: top_k.State  # slots and their medians over the scale, of when they were last moved
    sketch: count_sketch.State  # S over the scale
    slots: np.ndarray  # (tau, n) uint32, of the pairs
    steps: np.ndarray  # (tau, n) float32  s
    changes: np.ndarray  # (tau, n) float32  r
    sizes: np.ndarray  # (tau,) int64, entries of each pair
    turn: np.ndarray  # (1,) int64, pairs kept so far: the next one goes to turn mod tau
    scale: np.ndarray  # (2,) float64  the global scale; t


class Room(NamedTuple):
    """Where an example is worked on: its features once each, in the order of the row."""

    row: top_k.State  # slots and their values
    inside: np.ndarray  # (n,) bool, whether in the heap
    before: np.ndarray  # (n,) float64  beta
    direction: np.ndarray  # (n,) float64  q, then z
    after: np.ndarray  # (n,) float64  beta'
    step: np.ndarray  # (n,) float32  s
    change: np.ndarray  # (n,) float32  r
    chosen: np.ndarray  # (n,) int64, the features that a pair keeps
    places: np.ndarray  # (tau, n) int64, of a pair's entries in the row, -1 outside
    alphas: np.ndarray  # (tau,) float64
    products: np.ndarray  # (tau,) float64  s'r


FIELDS: Any = fields(
    budget=byte_budget(32.0, each=9),
    history=(Annotated[float, Range(1.0, 256.0, whole=True), "tau, differences of weights and gradients kept"], 5.0),
    pair_size=(Annotated[float, Range(0.0, whole=True, each=12), "features of each; 0 for what the budget gives"], 0.0),
    damping=(Annotated[float, STRENGTH, "lambda, added to the curvature along each difference of weights"], 1.0),
)


class Settings(FIELDS):
    """Settings of BEAR."""


def layout(dimension: int, settings: Settings) -> State:
    """What a state is made of; it takes any slot, whatever the dimension."""
    budget, pairs = int(settings.budget), int(settings.history)
    size = int(settings.pair_size) or max(1, budget // (48 * pairs))
    pair_bytes = 12 * pairs * size
    heap_size, width, depth = mission.shape(settings, budget // 32, budget - pair_bytes, pair_bytes)
    return State(
        heap=top_k.layout(heap_size),
        sketch=count_sketch.layout(width, depth),
        slots=uint32(pairs, size),
        steps=float32(pairs, size),
        changes=float32(pairs, size),
        sizes=int64(pairs, most=size),
        turn=int64(1),
        scale=SCALE,
    )


init, grow = made_from(layout, begin)


def check(state: State, settings: Settings) -> None:
    """Refuse features that could not be found, and pairs of nothing."""
    top_k.check(state.heap)
    require((state.sizes[: int(state.turn[0])] > 0).all(), "a pair is empty")


@kernel
def room_for(state, nonzeros):
    """Room to work in for examples of up to so many non-zeros."""
    places = 16
    while places < 4 * nonzeros:
        places *= 2
    keys, weights = np.empty(nonzeros, np.uint32), np.empty(nonzeros, np.float32)
    bounds = np.empty(nonzeros // top_k.RUN + 2, np.float32)
    row = top_k.State(keys, weights, bounds, np.empty(places, np.uint32), np.empty(1, np.int64))
    before, direction, after = np.empty(nonzeros), np.empty(nonzeros), np.empty(nonzeros)
    step, change = np.empty(nonzeros, np.float32), np.empty(nonzeros, np.float32)
    pairs, size = state.slots.shape
    chosen, entries, inside = np.empty(size, np.int64), np.empty((pairs, size), np.int64), np.empty(nonzeros, np.bool_)
    return Room(row, inside, before, direction, after, step, change, chosen, entries, np.empty(pairs), np.empty(pairs))


@force_inline
def _gather(state, indices, values, room):
    """Enter the features of a row, once each; return their margin over the scale, and the largest value."""
    row = room.row
    row.taken[0] = 0
    row.bounds[...] = np.float32(0.0)
    row.places[...] = np.uint32(0)
    for k in range(len(indices)):
        entry = find(row, indices[k])
        if entry < 0:
            insert(row, indices[k], values[k])
        else:
            row.weights[entry] += values[k]
    margin = 0.0
    largest = np.float32(0.0)
    for k in range(row.taken[0]):
        room.inside[k] = find(state.heap, row.keys[k]) >= 0
        margin += product(row.weights[k], value_of(state, row.keys[k]))
        largest = max(largest, abs(row.weights[k]))
    return margin, largest


@force_inline
def _weigh(state, room, weights):
    """Write the weights (n,) of the row's features by the sketch, 0 outside of the heap; return their margin."""
    margin = 0.0
    for k in range(room.row.taken[0]):
        weights[k] = state.scale[0] * query(state.sketch, room.row.keys[k]) if room.inside[k] else 0.0
        margin += weights[k] * room.row.weights[k]
    return margin


@force_inline
def _recurse(state, room, slope):
    """Write z: the two-loop recursion of slope x."""
    row, q = room.row, room.direction
    pairs = len(state.slots)
    for k in range(row.taken[0]):
        q[k] = slope * row.weights[k]
    kept = min(state.turn[0], pairs)
    first = 0.0
    for back in range(1, kept + 1):  # the newest first
        i = (state.turn[0] - back) % pairs
        product_of, square, along = 0.0, 0.0, 0.0
        for j in range(state.sizes[i]):
            s, r = np.float64(state.steps[i, j]), np.float64(state.changes[i, j])
            product_of += s * r
            square += r * r
            at = find(row, state.slots[i, j])
            room.places[i, j] = at
            if at >= 0:
                along += s * q[at]
        room.products[i] = product_of
        room.alphas[i] = along / product_of
        first += product_of / square / kept
        for j in range(state.sizes[i]):
            if room.places[i, j] >= 0:
                q[room.places[i, j]] -= room.alphas[i] * state.changes[i, j]
    for k in range(row.taken[0]):
        q[k] *= first if kept > 0 else 1.0
    for back in range(kept, 0, -1):  # the oldest first
        i = (state.turn[0] - back) % pairs
        along = 0.0
        for j in range(state.sizes[i]):
            if room.places[i, j] >= 0:
                along += state.changes[i, j] * q[room.places[i, j]]
        share = room.alphas[i] - along / room.products[i]
        for j in range(state.sizes[i]):
            if room.places[i, j] >= 0:
                q[room.places[i, j]] += share * state.steps[i, j]


@force_inline
def _add_direction(state, room, factor, slope, step):
    """Move the sketch along -z, or along the gradient if a weight would move too far."""
    largest = 0.0
    for k in range(room.row.taken[0]):
        size = abs(room.direction[k])
        largest = max(largest, size if isfinite(size) else np.inf)
    times = step / state.scale[0]
    sound = largest * times * state.scale[1] < LARGEST_CHANGE
    for k in range(room.row.taken[0]):
        change = -times * room.direction[k] if sound else -np.float64(factor) * room.row.weights[k]
        update(state.sketch, room.row.keys[k], change)


@force_inline
def _keep_pair(state, room, difference, settings):
    """Keep s and r = difference x + damping s in place of the oldest pair, if s'r is a number above 0."""
    taken, size = room.row.taken[0], state.slots.shape[1]
    count = 0
    for outside in range(2):
        for k in range(taken):
            if count < size and room.inside[k] == (outside == 0):
                room.chosen[count] = k
                count += 1
    product_of, square, longest = 0.0, 0.0, 0.0
    for j in range(count):
        k = room.chosen[j]
        s = np.float64(room.step[k])
        room.change[k] = difference * room.row.weights[k] + settings.damping * s
        product_of += s * np.float64(room.change[k])
        square += np.float64(room.change[k]) ** 2
        longest = max(longest, abs(s))
    if LEAST < product_of < LIMIT and LEAST < square < LIMIT and longest < LIMIT:
        i = state.turn[0] % len(state.slots)
        for j in range(count):
            k = room.chosen[j]
            state.slots[i, j] = room.row.keys[k]
            state.steps[i, j] = room.step[k]
            state.changes[i, j] = room.change[k]
        state.sizes[i] = count
        state.turn[0] += 1


_push = pushing(fold)


@force_inline
def _learn(state, indices, values, target, importance, settings, room):
    """Learn one example in place; return the margin predicted before learning."""
    margin, largest = _gather(state, indices, values, room)
    margin *= state.scale[0]
    learnt, factor, slope, step = _push(state, settings, settings.loss, margin, target, importance, largest)
    if not learnt or factor == 0.0:
        return margin
    _recurse(state, room, slope)
    old = _weigh(state, room, room.before)
    _add_direction(state, room, factor, slope, step)
    new = _weigh(state, room, room.after)
    for k in range(room.row.taken[0]):
        room.step[k] = room.after[k] - room.before[k]
    difference = importance * (derivative(settings.loss, new, target) - derivative(settings.loss, old, target))
    _keep_pair(state, room, difference, settings)
    for k in range(room.row.taken[0]):
        follow(state, room.row.keys[k])
    return margin


learn_row, learn_rows = learning_in(room_for, _learn)


def bytes_used(state: State) -> int:
    """4 bytes for each id and each weight, of the pairs too."""
    return mission.bytes_used(state) + 12 * state.slots.size  # type: ignore[arg-type]


swap_classes = negating("heap.weights", "sketch.counters", "steps", "changes")


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base, as of `mission`, and its pairs: those of one worker count."""
    found = mission.gains(base, state, settings)
    return {**found, "pairs": First(found["examples"], {name: getattr(state, name) for name in PAIRS})}


PAIRS = ("slots", "steps", "changes", "sizes", "turn")


@unless_idle
def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The average model, as that of `mission`, with the pairs of the worker that has learnt most."""
    merged = init(0, settings)
    for name in PAIRS:
        getattr(merged, name)[...] = gains["pairs"].content[name]
    return mission.settle(merged, base, gains)
