"""Which columns have effects, and where their edges lie: looked at behind 16, 32, 64, … examples, without labels.

A column is a feature that one example in 16 has, and 8 at least, and whose values are not all alike; the first 24 are
taken, where rows are those of a table: short, or these columns hold an eighth of their non-zeros. A few frequent words
say little of a text. Edges are quantiles of up to 256 sampled rows, and stay: what has been learnt keeps its meaning.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.learners.auto import newton_block, standardisation
from ouzel.learners.auto.effects import (
    BINS,
    COLUMNS,
    COUNT,
    FIRST,
    KEPT,
    LEVELS,
    OF_BINS,
    OF_PAIRS,
    OF_TWO,
    OFFERED,
    SCORES,
    SEEN,
    STRIDE,
    Effects,
    is_due,
)
from ouzel.learners.auto.standardisation import Features

FROM = ((32, 64, 128, 512), (32, 64, 128, 512))  # examples at which bins of each level open, and pairs
LAST = 1024  # examples up to which columns are taken
SHARE = 16  # one example in so many has a column
SHORT, PART = 32, 8  # mean non-zeros of short rows; of longer rows columns must hold 1/PART of the non-zeros
ENOUGH = 8  # numbers that make a column, and of which quantiles are taken
ALIKE = 1e-6


def turn(state: Any) -> None:
    """Behind an example, where it is time: give columns their edges, and take columns that there are by now."""
    effects, seen = state.effects, int(state.effects.totals[SEEN])
    if not is_due(seen) or not len(effects.cells):
        return
    _open(effects, seen)
    if seen <= LAST and newton_block.is_worthwhile(state.block.totals):
        _take(effects, columns_among(state.features, effects))


def columns_among(features: Features, effects: Effects) -> np.ndarray:
    """Slots of features that are columns of numbers, and not taken yet."""
    seen = features.totals[standardisation.SEEN]
    slots = np.flatnonzero(features.moments[:, standardisation.COUNT] >= max(seen / SHARE, ENOUGH))
    slots = slots[(slots > 0) & (effects.column_of[slots] == 0)]
    count, mean, squares, largest = features.moments[slots].T.astype(float)
    is_dense = largest < 0.0
    added = np.where(is_dense, mean * seen, mean)
    of_all = np.where(is_dense, squares + seen * mean**2, squares)
    found: np.ndarray = slots[of_all * count > (1.0 + ALIKE) * added**2]  # equal where all values are
    known = int(effects.totals[COUNT])
    held = features.moments[[*effects.columns[:known], *found[: COLUMNS - known]], standardisation.COUNT].sum()
    total = features.moments[1:, standardisation.COUNT].sum()
    return found if total <= SHORT * seen or held * PART >= total else found[:0]


def _take(effects: Effects, slots: np.ndarray) -> None:
    """Have effects of these columns as well, as far as there is room; numbers are sampled anew."""
    count = int(effects.totals[COUNT])
    slots = slots[: COLUMNS - count]
    if len(slots):
        effects.columns[count : count + len(slots)] = slots
        effects.column_of[slots] = np.arange(count + 1, count + len(slots) + 1)
        effects.totals[COUNT] += len(slots)
        effects.totals[[OFFERED, STRIDE, KEPT]] = 0.0


def _open(effects: Effects, seen: int) -> None:
    """Open the levels that so many examples allow, for all columns of which enough numbers are known."""
    count, sample = int(effects.totals[COUNT]), effects.sample[: int(effects.totals[KEPT])]
    if not count or len(sample) < ENOUGH:
        return
    if not effects.opened.any():
        effects.beliefs[:], effects.pooled[:] = FIRST[:SCORES], FIRST[SCORES:]
    for level in range(LEVELS):
        if seen >= FROM[OF_BINS][level]:
            for column in range(effects.opened[OF_BINS, level], count):
                edges = edges_of(sample[:, column], int(BINS[level]))
                effects.edges[level, column] = np.inf
                effects.edges[level, column, : len(edges)] = edges
            effects.opened[OF_BINS, level] = count
            last = OF_PAIRS[level] + count * (count - 1) // 2 * BINS[level] ** 2
            if seen >= FROM[OF_TWO][level] and last <= len(effects.cells):
                effects.opened[OF_TWO, level] = count


def edges_of(numbers: np.ndarray, bins: int) -> np.ndarray:
    """Numbers among these that part them into so many bins of similar size, or fewer; a number on one is above it.

    >>> edges_of(np.array([3, 1, 2, 0], np.float32), 4)
    array([1., 2., 3.], dtype=float32)
    >>> edges_of(np.array([5, 5, 5, 7], np.float32), 4)
    array([7.], dtype=float32)
    """
    rising = np.sort(numbers)
    found = np.unique(rising[np.arange(1, bins) * len(rising) // bins])
    return found[found > rising[0]]
