"""What effects of columns add to margins: a term for each column, and for each pair, of all levels together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.learners.auto.effects import (
    CELLS_OF_COLUMNS,
    COUNT,
    KEPT,
    KNOTS,
    LEVELS,
    OF_ONE,
    OF_PAIRS,
    OF_TWO,
    PAIRED,
    STEPS,
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
    with_columns = weights[1] + weights[2]
    places = [_places(effects, numbers, level) for level in range(LEVELS)]
    found = []
    for c in range(columns_with_effects(effects)):
        added = np.zeros((len(numbers), effects.cells.shape[2]))
        for level in [] if effects.pairs.two_valued[c] else _levels(effects, OF_ONE, c):
            knots, shares = places[level][0][:, c], places[level][1][:, c]
            first = CELLS_OF_COLUMNS[level] + c * KNOTS[level] + knots
            for k, part in enumerate((1.0 - shares, shares)):
                added += _weights(effects, first + k, part)
        found.append(Term((c,), with_columns * added))
    for pair in range(int(effects.opened[OF_TWO].max())):
        one, other = (int(column) for column in effects.pairs.columns[pair])
        added = np.zeros((len(numbers), effects.cells.shape[2]))
        for level in _levels(effects, OF_TWO, pair):
            if level > PAIRED and effects.pairs.two_valued[[one, other]].all():
                continue
            size, (knots, shares) = int(KNOTS[level]), places[level]
            first = OF_PAIRS[level] + (pair * size + knots[:, one]) * size + knots[:, other]
            for j, along in enumerate((1.0 - shares[:, one], shares[:, one])):
                for k, part in enumerate((1.0 - shares[:, other], shares[:, other])):
                    added += _weights(effects, first + j * size + k, along * part)
        found.append(Term((other, one), weights[2] * added))
    return found


def columns_with_effects(effects: Effects) -> int:
    """How many columns have effects; they are the first."""
    return int(effects.opened[OF_ONE].max())


def edges_of_terms(effects: Effects, column: int, pairs: bool, knots: bool = False) -> np.ndarray:
    """The edges (m,) of a column, rising, of all levels of its effect, or of its pairs; with `knots` those alone.

    Between two edges what it adds is the same.
    """
    levels = _levels(effects, OF_TWO, 0) if pairs else _levels(effects, OF_ONE, column)
    parts = (
        effects.edges[level, column, (STEPS[level] - 1 if knots else 0) :: STEPS[level] if knots else 1]
        for level in levels
    )
    edges = np.unique(np.concatenate([np.empty(0, np.float32), *parts]))
    return edges[edges < np.inf]


def interval_of(effects: Effects, column: int, number: float, pairs: bool) -> Interval:
    """Between which knots of a column a number lies, of all levels of its effect, or of its pairs."""
    edges = edges_of_terms(effects, column, pairs, knots=True)
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


def _places(effects: Effects, numbers: np.ndarray, level: int) -> tuple[np.ndarray, np.ndarray]:
    """Which knots of a level numbers (n, columns) have reached, and how far they are on the way to the next."""
    edges = effects.edges[level, : numbers.shape[1], : (KNOTS[level] - 1) * STEPS[level]]
    passed = (edges[None] <= numbers[:, :, None]).sum(axis=2)
    return passed // STEPS[level], passed % STEPS[level] / STEPS[level]


def _weights(effects: Effects, cells: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Parts (n,) of the weights (n, K) of cells."""
    found = np.zeros((len(cells), effects.cells.shape[2]))
    inside = (parts > 0.0) & (cells < len(effects.cells))
    found[inside] = effects.cells[cells[inside], 0] * parts[inside, None]
    return found
