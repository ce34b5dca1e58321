"""What effects of columns add to margins: a term for each column, and for each pair, of all levels together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.learners.auto.effects import (
    BINS,
    CELLS_OF_BINS,
    COUNT,
    KEPT,
    LEVELS,
    OF_BINS,
    OF_PAIRS,
    OF_TWO,
    Effects,
)

Interval = tuple[float, float]  # from the first number on, below the second


class Term(NamedTuple):
    """A column, or a pair of columns, and what it adds to the margins of examples."""

    columns: tuple[int, ...]  # one place among the columns, or two
    added: np.ndarray  # (n, K)


def numbers_of(effects: Effects, offsets: np.ndarray, slots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The numbers (n, columns) of the columns in rows over slots; 0 where a row has none."""
    found = np.zeros((len(offsets) - 1, int(effects.totals[COUNT])), np.float32)
    rows = np.repeat(np.arange(len(offsets) - 1), (offsets[1:] - offsets[:-1]).astype(np.int64))
    columns = effects.column_of[np.minimum(slots, len(effects.column_of) - 1)].astype(np.int64) - 1
    columns[slots >= len(effects.column_of)] = -1
    found[rows[columns >= 0], columns[columns >= 0]] = values[columns >= 0]
    return found


def sample_of(effects: Effects) -> np.ndarray:
    """The numbers (n, columns) that are kept of examples learnt."""
    return effects.sample[: int(effects.totals[KEPT]), : int(effects.totals[COUNT])]


def terms_of(effects: Effects, numbers: np.ndarray) -> list[Term]:
    """What each column, and each pair, adds to the margins of examples with these numbers (n, columns).

    The prediction is a mean of probabilities; a term counts as far as scores with it are believed, those of the pool by
    its weights, which is exact where these differ little.
    """
    weights = effects.beliefs + effects.pooled * effects.pool.weights
    with_bins = weights[1] + weights[2]
    bins = [_bins(effects, numbers, level) for level in range(LEVELS)]
    found = []
    for c in range(columns_with_bins(effects)):
        levels = [] if effects.pairs.two_valued[c] else _levels(effects, OF_BINS, c)
        cells = [CELLS_OF_BINS[level] + c * BINS[level] + bins[level][:, c] for level in levels]
        found.append(Term((c,), with_bins * _sum(effects, cells, len(numbers))))
    for pair in range(int(effects.opened[OF_TWO].max())):
        one, other = (int(column) for column in effects.pairs.columns[pair])
        cells = []
        levels = _levels(effects, OF_TWO, pair)
        for level in levels[:1] if effects.pairs.two_valued[[one, other]].all() else levels:
            size = int(BINS[level])
            cells.append(OF_PAIRS[level] + (pair * size + bins[level][:, one]) * size + bins[level][:, other])
        found.append(Term((other, one), weights[2] * _sum(effects, cells, len(numbers))))
    return found


def columns_with_bins(effects: Effects) -> int:
    """How many columns have bins; they are the first."""
    return int(effects.opened[OF_BINS].max())


def edges_of_terms(effects: Effects, column: int, pairs: bool) -> np.ndarray:
    """The edges (m,) of a column, rising, of all levels of its bins, or of its pairs."""
    levels = _levels(effects, OF_TWO, 0) if pairs else _levels(effects, OF_BINS, column)
    edges = np.unique(np.concatenate([np.empty(0, np.float32), *(effects.edges[level, column] for level in levels)]))
    return edges[edges < np.inf]


def interval_of(effects: Effects, column: int, number: float, pairs: bool) -> Interval:
    """Between which edges of a column a number lies, of all levels of its bins, or of its pairs."""
    edges = edges_of_terms(effects, column, pairs)
    below, above = edges[edges <= number], edges[edges > number]
    return float(below.max(initial=-np.inf)), float(above.min(initial=np.inf))


def is_category(effects: Effects, column: int) -> bool:
    """Whether a column is 1 for the examples of a category, and 0 for others."""
    return bool(effects.pairs.two_valued[column] == 1 and effects.edges[0, column, 0] == 1.0)


def named(name: str, interval: Interval) -> str:
    """A column and where its number lies, for people.

    >>> named("age", (37.0, 45.0)), named("age", (45.0, np.inf)), named("age", (-np.inf, 18.5))
    ('age 37–45', 'age ≥ 45', 'age < 18.5')
    """
    low, high = (f"{end:.6g}" for end in interval)
    if interval == (-np.inf, np.inf):
        return name
    return f"{name} < {high}" if low == "-inf" else f"{name} ≥ {low}" if high == "inf" else f"{name} {low}–{high}"


def _levels(effects: Effects, kind: int, place: int) -> list[int]:
    return [level for level in range(LEVELS) if place < effects.opened[kind, level]]


def _bins(effects: Effects, numbers: np.ndarray, level: int) -> np.ndarray:
    edges = effects.edges[level, : numbers.shape[1], : BINS[level] - 1]
    found: np.ndarray = (edges[None] <= numbers[:, :, None]).sum(axis=2)
    return found


def _sum(effects: Effects, cells: list[np.ndarray], count: int) -> np.ndarray:
    total = np.zeros((count, effects.cells.shape[2]))
    for some in cells:
        inside = some < len(effects.cells)
        total[inside] += effects.cells[some[inside], 0]
    return total
