"""Which columns and pairs have effects, and where edges lie: looked at behind 16, 32, 64, … examples.

A column is a feature that one example in 16 has, and 8 at least; the first 64 are taken, those whose values differ
before those that are there or not (categories), where rows are those of a table: short, or these columns hold an eighth
of their non-zeros. A few frequent words say little of a text. Knots are quantiles of up to 256 sampled rows, and stay:
what has been learnt keeps its meaning. There is room for 276 pairs. Neighbours come first; pairs whose slopes
(`effect_slopes.py`) promise twice what a listed pair is worth take its place.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ouzel.learners.auto import newton_block, standardisation
from ouzel.learners.auto.effect_slopes import BUCKETS, COLUMNS, PAIRS, RESIDUALS, SQUARES, gains_of
from ouzel.learners.auto.effects import (
    COUNT,
    FIRST,
    KEPT,
    KNOTS,
    LEVELS,
    OF_ONE,
    OF_PAIRS,
    OF_TWO,
    OFFERED,
    PAIRED,
    PAIRS_OF_LEVELS,
    SCORES,
    SEEN,
    STEPS,
    STRIDE,
    Effects,
    is_due,
)
from ouzel.learners.auto.standardisation import Features

FROM = (32, 64, 128, 512)  # examples at which the knots of each level open
LAST = 1024  # examples up to which columns are taken
SHARE = 16  # one example in so many has a column
SHORT, PART = 32, 8  # mean non-zeros of short rows; of longer rows columns must hold 1/PART of the non-zeros
ENOUGH = 8  # numbers that make a column, and of which quantiles are taken
ALIKE = 1e-6
CATEGORIES_FROM = 256  # examples: by then a column of numbers has had more than one besides 0
CHANCE = 20.0  # of S^2 / V, which the best of 2,016 pairs without effects has by chance at one look in 60
BETTER = 2.0  # times the worth of a pair that another one must promise to take its place


def turn(state: Any) -> None:
    """Behind an example, where it is time: give columns their edges, and take columns that there are by now."""
    effects, seen = state.effects, int(state.effects.totals[SEEN])
    if not is_due(seen) or not len(effects.cells):
        return
    _open(effects, seen)
    if seen <= LAST and newton_block.is_worthwhile(state.block.totals):
        _take(effects, columns_among(state.features, effects))


def columns_among(features: Features, effects: Effects) -> np.ndarray:
    """Slots of features that are columns, numbers first, and not taken yet."""
    seen = features.totals[standardisation.SEEN]
    slots = np.flatnonzero(features.moments[:, standardisation.COUNT] >= max(seen / SHARE, ENOUGH))
    slots = slots[(slots > 0) & (effects.column_of[slots] == 0)]
    count, mean, squares, largest = features.moments[slots].T.astype(float)
    is_dense = largest < 0.0
    added = np.where(is_dense, mean * seen, mean)
    of_all = np.where(is_dense, squares + seen * mean**2, squares)
    varies = of_all * count > (1.0 + ALIKE) * added**2  # equal where all values are
    categories = ~varies & (count < seen) & (seen >= CATEGORIES_FROM)
    found: np.ndarray = np.concatenate([slots[varies], slots[categories]])
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
    for column in range(count):
        is_new = column >= effects.opened[OF_ONE, 0]
        effects.pairs.two_valued[column] = (is_new or effects.pairs.two_valued[column]) and len(
            {0.0, *sample[:, column]}
        ) <= 2
    listed = _list_pairs(effects, count) if seen >= FROM[0] else 0
    for level in range(LEVELS):
        if seen >= FROM[level]:
            for column in range(effects.opened[OF_ONE, level], count):
                edges = edges_of(sample[:, column], int(KNOTS[level]), int(STEPS[level]))
                effects.edges[level, column] = np.inf
                effects.edges[level, column, : len(edges)] = edges
            effects.opened[OF_ONE, level] = count
            room = min(listed, PAIRS_OF_LEVELS[level], rooms_of_pairs(effects)[level])
            effects.opened[OF_TWO, level] = max(effects.opened[OF_TWO, level], room)


def rooms_of_pairs(effects: Effects) -> np.ndarray:
    """How many pairs (4,) have room at each level: with more classes there are fewer cells."""
    rooms: np.ndarray = np.maximum(len(effects.cells) - OF_PAIRS, 0) // KNOTS**2
    return rooms


def _list_pairs(effects: Effects, count: int) -> int:
    """Update the list of pairs, and return its length.

    New pairs are added while there is room; then they replace the least useful. Pairs with a two-valued column need a
    gain of at least `CHANCE`.
    """
    pairs, known = effects.pairs, int(effects.opened[OF_TWO].max())
    one, other, gains = gains_of(pairs, count, effects.cells.shape[2])
    gains[gains < CHANCE] = 0.0
    mine = pairs.columns[:known].astype(np.int64)
    new = ~np.isin(one * COLUMNS + other, mine[:, 0] * COLUMNS + mine[:, 1])
    new &= (gains > 0.0) | (pairs.two_valued[one] + pairs.two_valued[other] == 0)
    best = np.flatnonzero(new)[np.argsort(-gains[new], kind="stable")]
    added = min(PAIRS - known, len(best))
    for place, k in zip(range(known, PAIRS), best, strict=False):
        _begin(effects, place, one[k], other[k], gains[k])
    worth = worth_of_pairs(effects)[:known]
    for place, k in zip(np.argsort(worth, kind="stable"), best[added:], strict=False):
        if not gains[k] > BETTER * worth[place]:
            break
        _begin(effects, place, one[k], other[k], gains[k])
    pairs.slopes[:], pairs.squares[:] = 0.0, 0.0
    return known + added


def _begin(effects: Effects, place: int, one: int, other: int, gain: float) -> None:
    """List a pair. Its weights are 0; with few classes and a gain, a Newton step down its slope from there."""
    pairs, classes = effects.pairs, effects.cells.shape[2]
    pairs.columns[place] = one, other
    for level in range(LEVELS):
        size = int(KNOTS[level]) ** 2
        effects.cells[OF_PAIRS[level] + place * size :][:size] = 0.0
    if gain > 0.0 and classes <= BUCKETS:
        size = KNOTS[PAIRED]
        cells = effects.cells[OF_PAIRS[PAIRED] + place * size**2 :][: size**2]
        product = np.outer(*(np.arange(size) - pairs.means[column] for column in (one, other))).ravel()[: len(cells)]
        square = pairs.squares[one, other] / classes
        steps = pairs.slopes[:classes, one, other] / square * np.sqrt(_unit_of(effects))
        cells[:, 0] = -product[:, None] * steps
        cells[:, 1] = square / max((product**2).sum(), 1.0)


def _unit_of(effects: Effects) -> float:
    """The square of the unit of weights: of numbers, the mean square of what the lines leave."""
    counted = effects.totals[RESIDUALS]
    return float(effects.totals[SQUARES] / counted) if counted > 0.0 and effects.totals[SQUARES] > 0.0 else 1.0


def worth_of_pairs(effects: Effects) -> np.ndarray:
    """About twice what each pair (276,) takes off the loss: the sum of w^2 s of its cells."""
    found = np.zeros(PAIRS)
    for level in range(LEVELS):
        count, size = int(effects.opened[OF_TWO, level]), int(KNOTS[level]) ** 2
        cells = effects.cells[OF_PAIRS[level] :][: count * size].astype(float)
        worth = (cells[:, 0] ** 2 * cells[:, 1]).sum(axis=1) / _unit_of(effects)
        found += np.bincount(np.arange(len(worth)) // size, worth, PAIRS)  # with more classes there are fewer cells
    return found


def edges_of(numbers: np.ndarray, knots: int, steps: int) -> np.ndarray:
    """Return the edges of a column: at most `knots` knots, and from each to the next `steps` steps of equal rank.

    The knots are the distinct numbers if there are few enough, else quantiles, and always the smallest and the largest.
    All but the smallest are edges. A value equal to an edge lies above it. Where ranks are tied, the edge is the next
    larger number.

    >>> edges_of(np.array([3, 1, 2, 0], np.float32), 4, 1)
    array([1., 2., 3.], dtype=float32)
    >>> edges_of(np.array([5, 5, 5, 7], np.float32), 4, 2)
    array([7., 7.], dtype=float32)
    >>> edges_of(np.arange(9, dtype=np.float32), 3, 2)
    array([2., 4., 6., 8.], dtype=float32)
    """
    rising = np.sort(numbers)
    found = np.unique(rising)
    if len(found) > knots:
        found = np.unique(rising[np.append(np.arange(knots - 1) * len(rising) // (knots - 1), -1)])
    edges = np.repeat(found[1:], steps)
    for k, (low, high) in enumerate(itertools.pairwise(found)):
        between = rising[(rising >= low) & (rising < high)]
        behind = min(between[between > low], default=high)
        for step in range(1, steps):
            edges[k * steps + step - 1] = max(between[step * len(between) // steps], behind)
    return edges
