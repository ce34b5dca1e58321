"""Where features turn dense or rare, or members of the block change: seldom, so nothing of it is compiled.

A kernel says behind which example something is to turn. It is the same for every state that has `features`, a `table`
of weights by slot, a `block` and its `places`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from ouzel.kernels.jit import inline_source
from ouzel.learners.auto import newton_block, noting, outliers, standardisation
from ouzel.learners.auto.simd import FURTHEST
from ouzel.learners.auto.standardisation import (
    COUNT,
    DENSE,
    LARGEST,
    MEAN,
    SEEN,
    SQUARES,
    Features,
    rare_units,
    spreads,
)

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
    turn, present = noting.note_row(features, work, indices, values, count, enter, leave), 0
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
        newton_block.replace(state.block, state.places, indices, state.features.moments)

    def rescale(slots: np.ndarray, factor: np.ndarray, part: np.ndarray, state: Any) -> None:
        """Multiply weights by their factors; the constant's take up a part of what they were."""
        table = state.table
        for column in weights:
            old = table[slots, column].astype(float)
            table[0, column] = np.clip(table[0, column] + part @ old, -FURTHEST, FURTHEST)
            table[slots, column] = np.clip((factor * old.T).T, -FURTHEST, FURTHEST)
        table[slots[:, None], list(variances)] = 0.0
        newton_block.rescale(state.block, state.places, slots, factor, part)

    return turn
