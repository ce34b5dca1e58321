"""BEAR on minibatches, which its paper has and `bear`, whose batch is one example, has not.

    python benchmarks/batched_directions.py --data ../shared/data

Aghazadeh et al. (2022), Algorithm 1: gradient and pair are means over b examples, on all their features; the rest is
`bear`. The first b - 1 examples of a batch wait in a buffer until the last one comes, or one for which there is no
room. The tables are online errors of one pass as by `bear.py`, with rate, constant feature and damping chosen on
another order: with a buffer that costs nothing, and with one of an eighth of the budget, counted as 8 bytes a value and
8 an example.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product as combinations
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float32, float64, int64, made_from, uint32
from ouzel.learners.budget import bear, mission
from ouzel.learners.budget.decaying_weights import SMALLEST_SCALE, next_step, product
from ouzel.learners.budget.mission import fold, follow, value_of
from ouzel.learners.budget.settings import fields
from ouzel.learners.catalogue import register
from ouzel.learners.loops import learning_in
from ouzel.learners.shared_settings import byte_budget
from ouzel.ranges import STRENGTH, SWITCH, Range
from ouzel.sketches import count_sketch, top_k
from ouzel.sketches.top_k import find, insert
from ouzel.terms.losses import derivative
from reproduce.provenance import DataFolder
from reproduce.wm_sketch.budget_trials import L2, load, one_pass

NAME = "batched-directions"
BUDGETED = True
KILOBYTES = (2, 8, 32)
BATCHES = (2, 4, 16)
RATES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
ORDERS, CHOOSING = (1, 2, 3), 0
FREE = 4096  # values that wait, where they cost nothing


class State(NamedTuple):
    heap: top_k.State  # as of `bear`, down to `scale`
    sketch: count_sketch.State
    slots: np.ndarray
    steps: np.ndarray
    changes: np.ndarray
    sizes: np.ndarray
    turn: np.ndarray
    scale: np.ndarray
    waiting_slots: np.ndarray  # (E,) uint32
    waiting_values: np.ndarray  # (E,) float32
    ends: np.ndarray  # (b - 1,) int64  of the examples that wait
    labels: np.ndarray  # (b - 1, 2) float64  targets and importances
    waiting: np.ndarray  # (1,) int64


FIELDS: Any = fields(
    budget=byte_budget(24.0, each=9),
    history=(Annotated[float, Range(1.0, 256.0, whole=True), "tau"], 5.0),
    pair_size=(Annotated[float, Range(0.0, whole=True, each=12), "features of each"], 0.0),
    damping=(Annotated[float, STRENGTH, "lambda"], 1.0),
    batch=(Annotated[float, Range(1.0, 256.0, whole=True), "b"], 1.0),
    counted=(Annotated[bool, SWITCH, "whether the buffer takes an eighth of the budget"], False),
)


class Settings(FIELDS):
    """Settings of the learner."""


def layout(dimension: int, settings: Settings) -> State:
    """Arrays of a state; it takes any slot, whatever the dimension."""
    others, own = int(settings.batch) - 1, bear.Settings(budget=settings.budget, history=settings.history)
    entries = FREE if others else 0
    if settings.counted and others:
        entries = max(1, int(settings.budget) // 64 - others)
        own = own._replace(budget=float(int(settings.budget) - 8 * (entries + others)))
    whole = bear.layout(dimension, own)
    return State(
        *whole,
        waiting_slots=uint32(entries),
        waiting_values=float32(entries),
        ends=int64(others, most=entries),
        labels=float64(others, 2),
        waiting=int64(1, most=others),
    )


def begin(state: State, settings: Settings) -> None:
    """Hash as the seed says."""
    mission.begin(state, settings)


init, grow = made_from(layout, begin)
estimates, members, predict_row, predict_rows, top = (
    bear.estimates,
    bear.members,
    bear.predict_row,
    bear.predict_rows,
    bear.top,
)


@kernel
def room_for(state, nonzeros):
    """Return work arrays for batches of examples with up to so many non-zeros."""
    return bear.room_for(state, nonzeros + len(state.waiting_slots))


@force_inline
def add(row, indices, values, factor):
    """Add a multiple of an example to a row of features."""
    for k in range(len(indices)):
        entry = find(row, indices[k])
        if entry < 0:
            insert(row, indices[k], np.float32(factor * values[k]))
        else:
            row.weights[entry] += np.float32(factor * values[k])


@force_inline
def margin_by(row, weights, indices, values):
    """The margin of an example by the weights (n,) of a row's features."""
    margin = 0.0
    for k in range(len(indices)):
        margin += weights[find(row, indices[k])] * values[k]
    return margin


@force_inline
def heap_margin(state, indices, values):
    """What is predicted of an example."""
    margin = 0.0
    for k in range(len(indices)):
        margin += product(values[k], value_of(state, indices[k]))
    return margin * state.scale[0]


@kernel
def step(state, indices, values, target, importance, settings, room):
    """Learn a batch that ends with this example."""
    row, count = room.row, state.waiting[0]
    row.taken[0] = 0
    row.bounds[...] = np.float32(0.0)
    row.places[...] = np.uint32(0)
    differences = np.empty(count + 1)
    for after in range(2):
        start = 0
        for e in range(count + 1):
            end = state.ends[e] if e < count else 0
            slots = state.waiting_slots[start:end] if e < count else indices
            entries = state.waiting_values[start:end] if e < count else values
            y, weight = (state.labels[e, 0], state.labels[e, 1]) if e < count else (target, importance)
            start = end
            if after == 0:
                slope = weight * derivative(settings.loss, heap_margin(state, slots, entries), y)
                add(row, slots, entries, slope / (count + 1))
            else:
                old, new = margin_by(row, room.before, slots, entries), margin_by(row, room.after, slots, entries)
                slope = weight * (derivative(settings.loss, new, y) - derivative(settings.loss, old, y))
                differences[e] = slope / (count + 1)
        if after == 0:
            for k in range(row.taken[0]):
                room.inside[k] = find(state.heap, row.keys[k]) >= 0
            rate = next_step(state, settings)
            if state.scale[0] < SMALLEST_SCALE:
                fold(state)
            bear._recurse(state, room, 1.0)
            bear._weigh(state, room, room.before)
            bear._add_direction(state, room, np.float32(rate / state.scale[0]), 1.0, rate)
            bear._weigh(state, room, room.after)
    for k in range(row.taken[0]):
        room.step[k] = room.after[k] - room.before[k]
        row.weights[k] = np.float32(0.0)
    start = 0
    for e in range(count):
        add(
            row, state.waiting_slots[start : state.ends[e]], state.waiting_values[start : state.ends[e]], differences[e]
        )
        start = state.ends[e]
    add(row, indices, values, differences[count])
    bear._keep_pair(state, room, 1.0, settings)
    for k in range(row.taken[0]):
        follow(state, row.keys[k])
    state.waiting[0] = 0


@kernel
def learn(state, indices, values, target, importance, settings, room):
    """Learn one example in place; return the margin predicted before learning."""
    margin = heap_margin(state, indices, values)
    if importance == 0.0:
        return margin
    count = state.waiting[0]
    start = state.ends[count - 1] if count > 0 else 0
    end = start + len(indices)
    if count == len(state.ends) or end > len(state.waiting_slots):
        step(state, indices, values, target, importance, settings, room)
        return margin
    state.waiting_slots[start:end] = indices
    state.waiting_values[start:end] = values
    state.ends[count] = end
    state.labels[count, 0], state.labels[count, 1] = target, importance
    state.waiting[0] += 1
    return margin


learn_row, learn_rows = learning_in(room_for, learn)


def bytes_used(state: State) -> int:
    """Bytes as of `bear`, without the buffer."""
    return bear.bytes_used(state)


def main() -> None:
    """Print the table."""
    register(NAME, sys.modules[__name__], "BEAR on minibatches")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--sets", nargs="+", default=("RCV1", "URL", "KDD Algebra"))
    given = parser.parse_args()
    kinds: list[tuple[str, str, dict[str, Any]]] = [("`bear`", "bear", {})]
    for title, more in (("free buffer", {}), ("counted", {"counted": True})):
        kinds += [(f"b = {batch}, {title}", NAME, {"batch": float(batch), **more}) for batch in BATCHES]
    for name, block in load(DataFolder(given.data), [], quick=False, names=given.sets).items():
        orders = {
            k: block.select(np.random.default_rng(k).permutation(block.rows)[: given.rows]) for k in (CHOOSING, *ORDERS)
        }
        print(f"| {name} | {' | '.join(f'{size} KB' for size in KILOBYTES)} |\n|{' --- |' * (len(KILOBYTES) + 1)}")
        for title, learner, kind in kinds:
            cells = []
            for kilobytes in KILOBYTES:
                grid = [
                    {"budget": 1024 * kilobytes, "l2": L2, "learning_rate": rate, "intercept": intercept, **kind}
                    | {"damping": damping}
                    for rate, intercept, damping in combinations(RATES, (True, False), (1.0, 10.0))
                ]
                best = min(grid, key=lambda one: one_pass(learner, orders[CHOOSING], **one)[1])
                cells.append(f"{np.mean([one_pass(learner, orders[k], **best)[1] for k in ORDERS]):.4f}")
            print(f"| {title} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
