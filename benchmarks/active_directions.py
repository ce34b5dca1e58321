"""A second-order step within a byte budget: the AWM-Sketch, with directions for its active set.

Registered as the learner `active-directions` where this file is imported; what it brings is measured by `bear.py`.

The active set S and the CountSketch are those of Tai, Sharan, Bailis & Valiant (2018), Algorithm 2. Each entry of S has
m more numbers, the columns of B, which Frequent Directions (Ghashami, Liberty, Phillips & Woodruff 2016) keep of the
gradients g restricted to S. Weights in S move by the Newton step of Luo, Agarwal, Cesa-Bianchi & Langford (2016),
    w_S <- w_S - eta_t alpha (alpha I + B'B)^-1 g = w_S - eta_t (g - B'(alpha I + B B')^-1 B g),
those outside by -eta_t g. So in no direction is a step longer than that of `awm`. A feature that enters S begins with a
column of 0. Bytes are counted as for `awm`: 4 for each id, weight and entry of B.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float32, made_from
from ouzel.learners.budget import awm
from ouzel.learners.budget.decaying_weights import product, pushing
from ouzel.learners.budget.settings import fields
from ouzel.learners.catalogue import register
from ouzel.learners.loops import learning_in, predicting_margins
from ouzel.learners.shared_settings import byte_budget
from ouzel.ranges import STRENGTH, Range
from ouzel.sketches import active_set
from ouzel.sketches.active_set import change_weight, counters, fold, value
from ouzel.sketches.top_k import find, set_weight

NAME = "active-directions"
BUDGETED = True
LEAST = 1e-12  # of a curvature along a direction


class State(NamedTuple):
    active: active_set.State  # S and the sketch; the global scale; t
    along: np.ndarray  # (m, k) float32  B


class Room(NamedTuple):
    """Work arrays."""

    entries: np.ndarray  # (n,) int64  where S has each feature of the row, -1 outside
    gradient: np.ndarray  # (k,) float64  g in S, 0 between examples
    products: np.ndarray  # (m + 1, m + 1) float64  B and g times their transpose
    moved: np.ndarray  # (m,) float64


FIELDS: Any = fields(
    budget=byte_budget(24.0, each=9),
    directions=(
        Annotated[float, Range(1.0, 16.0, whole=True), "m, more numbers for each weight of the active set"],
        1.0,
    ),
    alpha=(Annotated[float, STRENGTH, "curvature before any example"], 1.0),
)


class Settings(FIELDS):
    """Settings of the learner; half of a budget is the active set's, with its directions."""


def layout(dimension: int, settings: Settings) -> State:
    """Arrays of a state; it takes any slot, whatever the dimension."""
    budget, m = int(settings.budget), int(settings.directions)
    heap_size = int(settings.heap_size) or budget // (2 * (8 + 4 * m))
    width = int(settings.width) or (budget - (8 + 4 * m) * heap_size) // 4
    return State(active_set.layout(heap_size, width, 1), float32(m, heap_size))


def begin(state: State, settings: Settings) -> None:
    """Let whatever comes enter, and hash as the seed says."""
    active_set.begin(state.active, int(settings.sketch_seed))


init, grow = made_from(layout, begin)


@kernel
def room_for(state, nonzeros):
    """Work arrays for examples with up to `nonzeros` non-zeros."""
    m, size = state.along.shape
    return Room(np.empty(nonzeros, np.int64), np.zeros(size), np.zeros((m + 1, m + 1)), np.empty(m))


@kernel
def _multiply(state, room):
    """Write the products of B and g."""
    m = len(state.along)
    room.products[...] = 0.0
    for entry in range(state.active.taken[0]):
        g = room.gradient[entry]
        for i in range(m):
            b = np.float64(state.along[i, entry])
            for j in range(i + 1):
                room.products[i, j] += b * state.along[j, entry]
            room.products[m, i] += b * g
        room.products[m, m] += g * g
    for i in range(m + 1):
        for j in range(i):
            room.products[j, i] = room.products[i, j]


@kernel
def _step(state, room, times, alpha):
    """Move the weights in S by the Newton step."""
    m = len(state.along)
    room.moved[:] = np.linalg.solve(room.products[:m, :m] + alpha * np.eye(m), room.products[:m, m].copy())
    for entry in range(state.active.taken[0]):
        change = room.gradient[entry]
        for i in range(m):
            change -= state.along[i, entry] * room.moved[i]
        if change != 0.0:
            set_weight(state.active, entry, np.float32(state.active.weights[entry] - times * change))


@kernel
def _shrink(state, room):
    """Add g to the rows of B, and shrink them to m by the least of the m + 1 curvatures."""
    m = len(state.along)
    curvatures, vectors = np.linalg.eigh(room.products)  # in rising order
    for i in range(m):
        here = curvatures[i + 1]
        vectors[:, i + 1] *= np.sqrt((here - max(curvatures[0], 0.0)) / here) if here > LEAST else 0.0
    for entry in range(state.active.taken[0]):
        for i in range(m):
            room.moved[i] = room.gradient[entry] * vectors[m, i + 1]
            for j in range(m):
                room.moved[i] += state.along[j, entry] * vectors[j, i + 1]
        for i in range(m):
            state.along[i, entry] = np.float32(room.moved[i])


_push = pushing(fold)


@kernel
def _learn(state, indices, values, target, importance, settings, room):
    """Learn one example in place; return the margin predicted before learning."""
    active = state.active
    margin = 0.0
    largest = np.float32(0.0)
    for k in range(len(indices)):
        room.entries[k] = find(active, indices[k])
        margin += product(values[k], value(active, indices[k]))
        largest = max(largest, abs(values[k]))
    margin *= active.scale[0]
    learnt, factor, slope, step = _push(active, settings, settings.loss, margin, target, importance, largest)
    if not learnt or factor == 0.0:
        return margin
    for k in range(len(indices)):
        if room.entries[k] >= 0:
            room.gradient[room.entries[k]] += slope * values[k]
    _multiply(state, room)
    _step(state, room, step / active.scale[0], settings.alpha)
    _shrink(state, room)
    for k in range(len(indices)):
        if room.entries[k] >= 0:
            room.gradient[room.entries[k]] = 0.0
    for k in range(len(indices)):
        if room.entries[k] < 0:
            entry = change_weight(active, indices[k], -factor * values[k])
            if entry >= 0:
                state.along[:, entry] = np.float32(0.0)
    return margin


learn_row, learn_rows = learning_in(room_for, _learn)


@force_inline
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    return awm.predict_row(state.active, indices, values, settings)


predict_rows = predicting_margins(predict_row)


def estimates(state: State, slots: np.ndarray, settings: Settings) -> np.ndarray:
    """Weights (n,) of slots (n,)."""
    return awm.estimates(state.active, slots, settings)


def top(state: State, n: int, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Slots and weights of the n heaviest."""
    return awm.top(state.active, n, settings)


def members(state: State) -> np.ndarray:
    """Slots in the active set."""
    return awm.members(state.active)


def bytes_used(state: State) -> int:
    """4 bytes for each id, each weight, and each number of a direction."""
    return 8 * len(state.active.keys) + 4 * len(counters(state.active)) + 4 * state.along.size


register(NAME, sys.modules[__name__], "AWM-Sketch with directions for its active set")
