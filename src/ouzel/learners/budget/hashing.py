"""Feature hashing: every feature adds to one of a few weights, its sign by a hash.

Weinberger, Dasgupta, Langford, Smola & Attenberg (2009), "Feature Hashing for Large Scale Multitask Learning", ICML.
The budget is all weights, 4 bytes each; no id is kept, so that there is no list of heavy features, only `estimates` of
given ones. Merging averages by the examples each worker has seen.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import float32, made_from, uint32
from ouzel.learners.budget.decaying_weights import product, pushing
from ouzel.learners.budget.gains import learnt, unless_idle
from ouzel.learners.budget.kept_features import SCALE
from ouzel.learners.budget.kept_rows import estimating
from ouzel.learners.budget.settings import fields
from ouzel.learners.gains.parts import Gains
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.shared_settings import byte_budget
from ouzel.learners.states import negating
from ouzel.sketches.count_sketch import cell
from ouzel.sketches.hashing import tabulation

BUDGETED = True
CACHED = 1024  # features of a row that are hashed once; the rest of a longer row is hashed twice


class State(NamedTuple):
    counters: np.ndarray  # (width,) float32  weights over the scale
    tables: np.ndarray  # (4, 256) uint32, of the hash function: a constant of the seed
    columns: np.ndarray  # (1024,) uint32, of the features of one row
    signed: np.ndarray  # (1024,) float32, their values times their signs
    scale: np.ndarray  # (2,) float64  the global scale; t


FIELDS: Any = fields("heap_size", "width", "depth", budget=byte_budget(4.0))


class Settings(FIELDS):
    """Settings of feature hashing."""


def layout(dimension: int, settings: Settings) -> State:
    """What a state is made of; it takes any slot, whatever the dimension."""
    width = int(settings.budget) // 4
    return State(
        counters=float32(width),
        tables=uint32(4, 256),
        columns=uint32(CACHED, scratch=True),
        signed=float32(CACHED, scratch=True),
        scale=SCALE,
    )


def begin(state: State, settings: Settings) -> None:
    """Hash as the seed says."""
    state.tables[...] = tabulation(1, int(settings.sketch_seed))[0]


init, grow = made_from(layout, begin)


@force_inline
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    margin = 0.0
    for k in range(len(indices)):
        column, sign = cell(state.tables, indices[k], len(state.counters))
        margin += product(sign * values[k], state.counters[column])
    return margin * state.scale[0]


@force_inline
def _fold(state):
    """Multiply the scale into the weights."""
    for column in range(len(state.counters)):
        state.counters[column] *= np.float32(state.scale[0])
    state.scale[0] = 1.0


push = pushing(_fold)


@force_inline
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    cached = min(len(indices), len(state.columns))
    margin = 0.0
    largest = np.float32(0.0)
    for k in range(cached):
        column, sign = cell(state.tables, indices[k], len(state.counters))
        signed = sign * values[k]
        state.columns[k] = column
        state.signed[k] = signed
        margin += product(signed, state.counters[column])
        largest = max(largest, abs(signed))
    for k in range(cached, len(indices)):
        column, sign = cell(state.tables, indices[k], len(state.counters))
        margin += product(sign * values[k], state.counters[column])
        largest = max(largest, abs(values[k]))
    margin *= state.scale[0]
    learnt, factor, _, _ = push(state, settings, settings.loss, margin, target, importance, largest)
    if not learnt:
        return margin
    for k in range(cached):
        state.counters[state.columns[k]] -= factor * state.signed[k]
    for k in range(cached, len(indices)):
        column, sign = cell(state.tables, indices[k], len(state.counters))
        state.counters[column] -= factor * sign * values[k]
    return margin


learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)


@force_inline
def _weight_of(state, slot):
    column, sign = cell(state.tables, slot, len(state.counters))
    return sign * state.counters[column]


estimates = estimating(_weight_of)


def top(state: State, n: int, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Nothing: no id is kept."""
    return np.empty(0, np.int64), np.empty(0)


def members(state: State) -> np.ndarray:
    """Nothing: no id is kept."""
    return np.empty(0, np.int64)


def bytes_used(state: State) -> int:
    """4 bytes for each weight."""
    return 4 * len(state.counters)


swap_classes = negating("counters")


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base: its weights, times its examples."""
    examples = learnt(base, state)
    return {"examples": examples, "counters": examples * state.scale[0] * state.counters.astype(np.float64)}


@unless_idle
def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The average model, by the examples each worker has learnt."""
    merged = init(0, settings)
    merged.counters[:] = gains["counters"] / gains["examples"]
    merged.scale[1] = base.scale[1] + gains["examples"]
    return merged
