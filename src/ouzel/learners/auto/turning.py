"""Moments of examples, and where features turn dense or rare, or members of the block change.

Kernels take note of an example, and say behind which something is to turn. That is seldom, so turning is not compiled.
It is the same for every state that has `features`, a `table` of weights by slot, a `block` and its `places`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, inf, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.deferred import deferred
from ouzel.kernels.jit import force_inline, inline_source
from ouzel.learners.auto import effect_columns, newton_block, outliers, standardisation
from ouzel.learners.auto.outliers import HIGH, LOW
from ouzel.learners.auto.simd import FURTHEST
from ouzel.learners.auto.standardisation import (
    CONSTANT,
    COUNT,
    DENSE,
    FOUND,
    KNOWN,
    LARGEST,
    MEAN,
    NORMS,
    OUTLIER,
    SEEN,
    SINCE,
    SQUARES,
    Features,
    enough_of,
    is_meaningless,
    rare_units,
    spreads,
)

if TYPE_CHECKING:
    from ouzel.learners.auto import discriminant
else:
    discriminant = deferred("ouzel.learners.auto.discriminant")  # of several classes


@force_inline
def _note_unusual(features, slot, x):
    """How much of a value of a rare feature that is far above the largest or far below counts (`outliers.py`)."""
    row, window, size = features.moments[slot], features.window[slot], abs(x)
    limit, counts, largest = outliers.FAR * outliers.caution(row[COUNT]), x, row[LARGEST]
    if row[COUNT] >= outliers.KNOWN_FROM and size > limit * largest:
        if size > outliers.STRIKING * largest:
            _note_striking(features, slot)
        if outliers.in_run(window, size, row[COUNT], 1.0):
            row[LARGEST] = window[outliers.SIZE]
        else:
            counts = copysign(largest, x)
    elif limit * size < largest and outliers.in_run(window, size, row[COUNT], -1.0):
        largest = np.float64(window[outliers.SIZE])
        most = largest * row[COUNT]
        row[LARGEST], row[MEAN], row[SQUARES] = (
            largest,
            min(max(row[MEAN], -most), most),
            min(row[SQUARES], largest * most),
        )
    return counts


@inline_source
def _note_far_off(features, work):
    """Have values of dense features that are far off count less, in `work.raw` (`outliers.py`)."""
    for place in range(np.int64(features.totals[DENSE])):
        z = abs(work.values[place])
        if z > outliers.HIGH_Z or (z == 0.0 and is_meaningless(features, work, place)):
            work.raw[place] = _counted(features, features.dense[place], np.float64(work.raw[place]))


@inline_source
def _counted(features, slot, x):
    """A value of a dense feature as it counts in the moments."""
    row, window, seen, counted = features.moments[slot], features.window[slot], features.totals[SEEN], x
    variance, mean = row[SQUARES] / seen, row[MEAN]
    change, limit = x - mean, outliers.FAR * outliers.caution(seen)
    if change * change > limit * limit * variance:
        known = seen >= outliers.KNOWN_FROM and variance > CONSTANT * mean * mean
        counts = outliers.counted_deviation(window, change, variance, known)
        if counts != change:
            if abs(change) > outliers.STRIKING * sqrt(variance):
                _note_striking(features, slot)
            if x == 0.0:  # a zero stays one for the number of non-zeros
                row[COUNT] -= 1.0
                features.totals[FOUND] -= 1.0
            counted = mean + counts
    return counted


@inline_source
def _note_striking(features, slot):
    """Remember the first feature that had a value of 1,000 times its usual size."""
    if features.totals[OUTLIER] == 0.0:
        features.totals[OUTLIER] = slot


@inline_source
def _sample(features, work):
    """Have windows take note of how far the values of dense features reach, those that are far off as they count."""
    for place in range(np.int64(features.totals[DENSE])):
        window, x = features.window[features.dense[place]], work.raw[place]
        window[LOW], window[HIGH] = min(window[LOW], x), max(window[HIGH], x)


@inline_source
def _review(features):
    """Look at the scales of dense features behind a window, and begin the next."""
    seen, length = features.totals[SEEN], features.totals[SINCE]
    samples = outliers.samples_of(length, seen)
    for place in range(np.int64(features.totals[DENSE])):
        slot = features.dense[place]
        row, window = features.moments[slot], features.window[slot]
        if seen >= outliers.KNOWN_FROM:
            mean, variance = row[MEAN], row[SQUARES] / seen
            mean, changed = outliers.review_dense(window, mean, variance, length, seen, samples)
            if changed != variance:
                if variance > outliers.STRIKING * outliers.STRIKING * changed:
                    _note_striking(features, slot)
                row[MEAN], row[SQUARES] = mean, changed * seen
        outliers.begin_window(window, 0.5 * length)
    features.totals[SINCE] = 0.0


@inline_source
def note_row(features, work, indices, values, count, enter, leave):
    """Have the moments take note of an example just viewed; return whether any feature is to turn.

    That is the case of a rare feature of the example in a share of `enter` of all examples or more, and of a dense one
    in less than `leave`.
    """
    before, dense = features.totals[SEEN], np.int64(features.totals[DENSE])
    seen = before + 1.0
    part, enough, turning, norm = 1.0 / seen, enough_of(seen, enter), False, 0.0
    found, known, fewest = 0, 0, leave * seen
    if work.high[0]:
        _note_far_off(features, work)
    if outliers.is_sample(seen):
        _sample(features, work)
    for k in range(len(indices)):
        x = np.float64(values[k])
        row = features.moments[indices[k]]
        if x != 0.0 and row[LARGEST] >= 0.0:
            size = abs(x)
            unusual = size > outliers.FAR * row[LARGEST] or outliers.FAR * size < row[LARGEST]
            if unusual and row[COUNT] > 0.0:
                x = _note_unusual(features, indices[k], x)
            known += row[COUNT] == 0.0
            found += 1
            times = row[COUNT] + 1.0
            row[COUNT] = times
            row[MEAN] += x
            row[SQUARES] += x * x
            row[LARGEST] = max(abs(x), row[LARGEST])
            turning |= times >= enough and indices[k] != 0
    for place in range(dense):
        x = np.float64(work.raw[place])
        row = features.moments[features.dense[place]]
        change, is_there = x - row[MEAN], x != 0.0
        mean, times = row[MEAN] + change * part, row[COUNT] + is_there
        row[COUNT], row[MEAN] = times, mean
        row[SQUARES] += change * (x - mean)
        found += is_there
        turning |= times < fewest
    for k in range(count):
        norm += np.float64(work.values[k]) * work.values[k]
    features.totals[SEEN] = seen
    features.totals[FOUND] += found
    features.totals[KNOWN] += known
    features.totals[NORMS] += norm
    features.totals[SINCE] += 1.0
    if outliers.ends(features.totals[SINCE], seen):
        _review(features)
    return turning


TABLE, LEAVE_TABLE, TEXT, LEAVE_TEXT = 0.5, 0.25, 0.9, 0.8  # parts of the examples at which a feature turns
NEVER = 2.0


@inline_source
def note_example(state, work, indices, values, count, turns=True):
    """Have moments and block take note of an example just viewed as `count` slots; none turns dense unless it `turns`.

    Return how many of its features are members of the block, 0 while that rests, and whether anything is to turn.
    """
    features, block = state.features, state.block
    tabular = newton_block.worthwhile(block.totals)
    enter, leave = (TABLE, LEAVE_TABLE) if tabular else (TEXT, LEAVE_TEXT)
    enter = enter if turns else NEVER
    turn, present = note_row(features, work, indices, values, count, enter, leave), 0
    if tabular or features.totals[SEEN] % newton_block.RESTING == 0.0:
        slots = work.slots[:count]
        found, crowded = newton_block.admit(block, state.places, slots, features.moments, features.totals[SEEN])
        present, turn = found if tabular else 0, turn or crowded
    standardisation.let_reach(features, newton_block.worthwhile(block.totals))
    return present, turn


def turn_dense(features: Features, slots: np.ndarray, centred: bool) -> tuple[np.ndarray, np.ndarray]:
    """Turn features dense: the factors of their weights, and the parts of the old weights that the constant takes."""
    seen, before = features.totals[SEEN], int(features.totals[DENSE])
    count, total, squares, largest = features.moments[slots].T.copy()
    mean, unit = total / seen, rare_units(features, squares, largest)
    squares = np.maximum(squares - mean * total, 0.0)
    after = before + len(slots)
    features.moments[slots, MEAN], features.moments[slots, SQUARES] = mean, squares
    features.moments[slots, LARGEST] = -np.arange(before + 1.0, after + 1.0)
    features.window[slots] = outliers.of_new_dense(np.where(count < seen, largest + np.abs(mean), 0.0))
    features.dense[before:after], features.totals[DENSE] = slots, after
    factor = np.minimum(spreads(mean, squares / seen, centred) / unit, 1.0)  # more only of what a file made up
    return factor, np.clip(mean / unit, -1.0, 1.0) * centred


def turn_rare(features: Features, slots: np.ndarray, centred: bool) -> tuple[np.ndarray, np.ndarray]:
    """Turn dense features rare: what `turn_dense` gives."""
    seen, dense = features.totals[SEEN], features.dense[: int(features.totals[DENSE])]
    kept = dense[~np.isin(dense, slots)]
    count, mean, squares, _ = features.moments[slots].T
    spread = spreads(mean, squares / seen, centred)
    total = squares + seen * mean**2
    size = np.sqrt(total / np.maximum(count, 1.0))
    features.moments[slots, MEAN], features.moments[slots, SQUARES] = mean * seen, total
    features.moments[slots, LARGEST] = size
    features.window[slots] = 0.0
    features.moments[kept, LARGEST] = -np.arange(1.0, len(kept) + 1.0)
    features.dense[: len(dense)] = 0
    features.dense[: len(kept)], features.totals[DENSE] = kept, len(kept)
    unit = np.where(spread > 0.0, spread, inf)
    return rare_units(features, total, size) / unit, -mean / unit * centred


def turn_features(
    features: Features, indices: np.ndarray, enter: float, leave: float
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Turn features that have become dense with an example, and then those that have become rare.

    Of either: the slots, factors for their weights, and the parts of the old weights that the constant takes up.
    """
    turned, seen = [], features.totals[SEEN]
    centred, slots = len(indices) > 0 and indices[0] == 0, np.unique(indices[indices > 0])
    moments = features.moments[slots]
    enough = max(enter * seen, min(seen, 3.0), 2.0)
    slots = slots[(moments[:, LARGEST] > 0.0) & (moments[:, COUNT] >= enough)]
    if len(slots):
        turned.append((slots, *turn_dense(features, slots, centred)))
    dense = features.dense[: int(features.totals[DENSE])]
    slots = dense[features.moments[dense, COUNT] < leave * seen]
    if len(slots):
        turned.append((slots, *turn_rare(features, slots, centred)))
    return turned


def turning(
    weights: tuple[int, ...], variances: tuple[int, ...] = (), turns: bool = True
) -> Callable[[Any, np.ndarray], None]:
    """`turn(state, indices)`, where these columns of the table are weights, and these variances of weights."""

    def turn(state: Any, indices: np.ndarray) -> None:
        """Turn the features that have become dense or rare with an example; let frequent ones into the block."""
        tabular = newton_block.is_worthwhile(state.block.totals)
        enter, leave = (TABLE, LEAVE_TABLE) if tabular else (TEXT, LEAVE_TEXT)
        for slots, factor, part in turn_features(state.features, indices, enter if turns else NEVER, leave):
            rescale(slots, factor, part, state)
        members = state.block.slots.copy()
        newton_block.replace(state.block, state.places, indices, state.features.moments)
        if "discriminant" in state._fields:
            discriminant.forget(state.discriminant, np.flatnonzero(members != state.block.slots))
        if "effects" in state._fields:
            effect_columns.turn(state)

    def rescale(slots: np.ndarray, factor: np.ndarray, part: np.ndarray, state: Any) -> None:
        """Multiply weights by their factors; the constant's take up a part of what they were."""
        table = state.table
        for column in weights:
            old = table[slots, column].astype(float)
            table[0, column] = np.clip(table[0, column] + part @ old, -FURTHEST, FURTHEST)
            table[slots, column] = np.clip((factor * old.T).T, -FURTHEST, FURTHEST)
        table[slots[:, None], list(variances)] = 0.0
        newton_block.rescale(state.block, state.places, slots, factor, part)
        if "discriminant" in state._fields:
            discriminant.rescale(state.discriminant, state.places, slots, factor, part)

    return turn
