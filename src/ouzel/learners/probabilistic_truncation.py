"""Probabilistic truncation: features are kept as by weighted reservoir sampling, heavy ones more likely.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, Algorithm 4, after
Efraimidis & Spirakis (2006). A feature has the key r^(1/|w|), r uniform; when its weight changes from w to w' the key
becomes key^(|w|/|w'|); the smallest key is dropped. Kept here is the priority -1 / log(key) = |w| / -log(r): it has the
order of the keys, does not underflow, and changes by |w'| / |w|. An entry is an id, a weight and a priority: 12 bytes.
"""

from __future__ import annotations

from math import isfinite, log
from typing import Annotated, NamedTuple

import numpy as np

from ouzel._jit import inlined, kernel
from ouzel.layout import float32, made_from, uint64
from ouzel.learners.kept_features import SCALE, check, estimates, heaviest_of_mean, members, mirror, top
from ouzel.learners.shared_settings import L2, HeapSize, Loss, Rate, Schedule, SketchSeed, byte_budget
from ouzel.sketches import reservoir, top_weights
from ouzel.sketches.reservoir import random_word
from ouzel.sketches.top_weights import find, insert, replace, rescale, set_weight, smallest
from ouzel.terms.losses import Logistic, derivative
from ouzel.terms.rates import InverseTime, rate

__all__ = ["BUDGETED", "Settings", "State", "bytes_used", "check", "estimates", "grow", "init", "layout", "learn_row"]
__all__ += ["learn_rows", "members", "merge", "mirror", "predict_row", "predict_rows", "top"]

BUDGETED = True
SMALLEST_SCALE = 1e-4


class State(NamedTuple):
    keys: np.ndarray  # (k,) uint32  slots
    weights: np.ndarray  # (k,) float32  priorities of the sampling, over the scale
    bounds: np.ndarray  # (ceil(k / 64) + 1,) float32  see top_weights
    places: np.ndarray  # (2^p,) uint16, see top_weights
    taken: np.ndarray  # (1,) int64
    values: np.ndarray  # (k,) float32  weights over the scale
    random: np.ndarray  # (2,) uint64  nothing; state of the random numbers
    scale: np.ndarray  # (2,) float64  the global scale; t


class Settings(NamedTuple):
    loss: Loss = Logistic()
    budget: Annotated[float, byte_budget(12.0, each=12), "bytes to keep"] = 8192.0
    heap_size: HeapSize = 0.0
    learning_rate: Rate = 0.1
    l2: L2 = 1e-6
    schedule: Schedule = InverseTime()
    sketch_seed: SketchSeed = 0.0


def layout(dimension: int, settings: Settings) -> State:
    """What a state is made of; it takes any slot, whatever the dimension."""
    size = int(settings.heap_size) or int(settings.budget) // 12
    heap = top_weights.layout(size)
    priorities = float32(size, least=0.0, finite=False)
    return State(*heap._replace(weights=priorities), values=float32(size), random=uint64(2), scale=SCALE)


def begin(state: State, settings: Settings) -> None:
    """Let whatever comes enter, and random numbers begin as the seed says."""
    top_weights.begin(state)
    reservoir.begin(state.random, int(settings.sketch_seed))


init, grow = made_from(layout, begin)


@inlined
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    margin = 0.0
    for k in range(len(indices)):
        entry = find(state, indices[k])
        if entry >= 0:
            margin += values[k] * state.values[entry]
    return margin * state.scale[0]


@inlined
def _fold(state):
    """Multiply the scale into the weights and their priorities."""
    rescale(state, np.float32(state.scale[0]))
    for entry in range(len(state.values)):
        state.values[entry] *= np.float32(state.scale[0])
    state.scale[0] = 1.0


@inlined
def _priority(state, size):
    """A new priority for a weight of this size."""
    uniform = (np.float64(random_word(state.random) >> np.uint64(11)) + 0.5) / 9007199254740992.0
    return np.float32(size / -log(uniform))


@inlined
def _learn_feature(state, slot, change):
    """Move the weight of a slot by `change`; one not kept draws a priority and may take the place of the lowest."""
    entry = find(state, slot)
    if entry >= 0:
        before = abs(state.values[entry])
        state.values[entry] += change
        after = abs(state.values[entry])
        if before > 0.0:
            set_weight(state, entry, state.weights[entry] * (after / before))
        else:
            set_weight(state, entry, _priority(state, after))
    elif change != 0.0:
        priority = _priority(state, abs(change))
        if state.taken[0] < len(state.keys):
            insert(state, slot, priority)
            state.values[state.taken[0] - 1] = change
        elif priority > state.bounds[-1]:
            entry = smallest(state)
            if priority > state.weights[entry]:
                replace(state, entry, slot, priority)
                state.values[entry] = change


@inlined
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    margin = predict_row(state, indices, values, settings)
    slope = importance * derivative(settings.loss, margin, target)
    step = rate(settings.schedule, settings.learning_rate, settings.l2, state.scale[1])
    state.scale[1] += 1.0
    if not isfinite(slope):
        return margin
    state.scale[0] *= 1.0 - settings.l2 * step
    if state.scale[0] < SMALLEST_SCALE:
        _fold(state)
    factor = np.float32(step * slope / state.scale[0])
    for k in range(len(indices)):
        change = -factor * values[k]
        if isfinite(change):
            _learn_feature(state, indices[k], change)
    return margin


@kernel
def learn_rows(state, rows, targets, importances, settings, margins):
    """Learn a block; `margins` (n,) takes the predictions made before learning each example."""
    for i in range(len(targets)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        margins[i] = learn_row(state, rows.indices[here], rows.values[here], targets[i], importances[i], settings)


@kernel
def predict_rows(state, rows, settings, margins):
    """Write the margins of a block to `margins` (n,)."""
    for i in range(len(margins)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        margins[i] = predict_row(state, rows.indices[here], rows.values[here], settings)


def bytes_used(state: State) -> int:
    """4 bytes for each id, weight and priority."""
    return 12 * len(state.keys)


def merge(states: list[State], settings: Settings) -> State:
    """The average model, cut to the heaviest features that there is room for; not the state of one pass over all."""
    merged = init(0, settings)
    merged.scale[1] = sum(state.scale[1] for state in states)
    for slot, weight in heaviest_of_mean(states, settings, len(merged.keys)):
        insert(merged, slot, abs(weight))
        merged.values[merged.taken[0] - 1] = weight
    return merged
