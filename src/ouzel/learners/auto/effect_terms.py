"""What effects of columns add to scores, parted into what each column adds and what only a pair of columns adds.

A pair's weights hold what its columns add each by themselves, too, and with 276 pairs most of that cancels. So each
pair f is parted: with the hat functions h of the 8 knots of its two columns, and the examples i that are kept,
    a, b = argmin sum_i (f(x_i) - a.h(x_i1) - b.h(x_i2))^2,
and a.h and b.h count for the columns. What is left is orthogonal to all that the columns could add by themselves: a
functional ANOVA over the examples seen (Hooker, 2007, "Generalized Functional ANOVA Diagnostics", Journal of
Computational and Graphical Statistics 16; Lengerich, Tan, Chang, Hooker & Caruana, 2020, "Purifying Interaction Effects
with the Functional ANOVA", AISTATS). All parts are 0 on average over these examples.
"""

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

RIDGE = 1e-6  # beside the sum of squares of a hat function, an example each
SOME = 64  # pairs that are parted together
CORNERS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


class Level(NamedTuple):
    """The weights of pairs at one level, and where the numbers of columns lie among its knots, by interval."""

    pairs: np.ndarray  # (p,) int64  which pairs have such weights
    columns: np.ndarray  # (2, p) int64  places of the columns of each
    first: np.ndarray  # (p,) int64  where those of each begin
    table: np.ndarray  # (N, K)
    knots: np.ndarray  # (C, M) int64
    shares: np.ndarray  # (C, M)
    size: int  # knots of a column


class Terms(NamedTuple):
    """What effects add to scores beyond the mean: by columns in each interval between edges, and by pairs."""

    edges: np.ndarray  # (C, M - 1) float32  of all levels, rising, infinite after the last
    pairs: np.ndarray  # (P, 2) int64  places of the columns of each pair
    curves: np.ndarray  # (C, M, K)  by the curve of a column
    mains: np.ndarray  # (C, M, K)  by what pairs hold of a column
    levels: list[Level]
    means: np.ndarray  # (2, K)  of all curves together, and of all pairs
    pair_means: np.ndarray  # (P, K)  of what is left of a pair


class Added(NamedTuple):
    """What effects add to the scores of n examples beyond the mean."""

    curves: np.ndarray  # (n, C, K)  by the curve of each column
    mains: np.ndarray  # (n, C, K)  by what pairs hold of each column
    pairs: np.ndarray  # (n, P, K)  by what is left of each pair


def numbers_of(effects: Effects, slots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the numbers (1, columns) of the columns in one row over slots; 0 where it has none."""
    found = np.zeros((1, int(effects.totals[COUNT])), np.float32)
    columns = effects.column_of[slots].astype(np.int64) - 1
    found[0, columns[columns >= 0]] = values[columns >= 0]
    return found


def sample_of(effects: Effects) -> np.ndarray:
    """Return the numbers (n, columns) that are kept of examples learnt."""
    return effects.sample[: int(effects.totals[KEPT]), : int(effects.totals[COUNT])]


def terms_of(effects: Effects) -> Terms:
    """Return what effects add, parted over the examples that are kept."""
    count, pairs = columns_with_effects(effects), effects.pairs.columns[: int(effects.opened[OF_TWO].max())]
    edges = _all_edges(effects, count)
    points = np.hstack([np.full((count, 1), -np.inf, np.float32), edges])  # the first number of each interval
    levels = [_level(effects, level, points) for level in range(LEVELS) if effects.opened[OF_TWO, level]]
    nothing = np.zeros((count, points.shape[1], effects.cells.shape[2]))
    left = np.zeros((len(pairs), effects.cells.shape[2]))
    found = Terms(edges, pairs.astype(np.int64), _curves(effects, points), nothing, levels, left[:2], left)
    sample = sample_of(effects)[:, :count]
    if len(pairs):
        found = _parted(found, sample, *_knots(effects, PAIRED, points))
    curves, mains, held = (
        part.mean(axis=0) if len(part) else part.sum(axis=0) for part in added_by_terms(found, sample)
    )
    return found._replace(
        curves=found.curves - curves[:, None],
        mains=found.mains - mains[:, None],
        means=np.stack([curves.sum(axis=0), mains.sum(axis=0) + held.sum(axis=0)]),
        pair_means=held,
    )


def added_by_terms(terms: Terms, numbers: np.ndarray) -> Added:
    """Return what effects add to the scores of examples with these numbers (n, columns), beyond the mean."""
    columns, intervals = np.arange(len(terms.edges)), intervals_of(terms, numbers)
    pairs = _by_pairs(terms, columns, intervals)
    return Added(terms.curves[columns, intervals], terms.mains[columns, intervals], pairs - terms.pair_means)


def intervals_of(terms: Terms, numbers: np.ndarray) -> np.ndarray:
    """Return between which edges numbers (n, columns) of columns lie (n, C)."""
    found: np.ndarray = (terms.edges <= numbers[:, : len(terms.edges), None]).sum(axis=2)
    return found


def pairs_with(terms: Terms, intervals: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Return what some pairs (p,) add to examples (n, p, K) whose columns are in these intervals (n, C)."""
    levels = []
    for level in terms.levels:
        chosen = np.isin(level.pairs, some)
        own = level.columns[:, chosen]
        places = np.searchsorted(some, level.pairs[chosen])
        levels.append(level._replace(pairs=places, columns=own, first=level.first[chosen]))
    part = terms._replace(pairs=terms.pairs[some], levels=levels, pair_means=terms.pair_means[some])
    return _by_pairs(part, np.arange(len(terms.edges)), intervals) - part.pair_means


def columns_with_effects(effects: Effects) -> int:
    """How many columns have effects; they are the first."""
    return int(effects.opened[OF_ONE].max())


def is_category(effects: Effects, column: int) -> bool:
    """Whether a column is 1 for the examples of a category, and 0 for others."""
    return bool(effects.pairs.two_valued[column] == 1 and effects.edges[0, column, 0] == 1.0)


def _all_edges(effects: Effects, count: int) -> np.ndarray:
    """Return the edges (C, M - 1) of columns at all levels."""
    levels = [effects.edges[level, :count, : (KNOTS[level] - 1) * STEPS[level]] for level in range(LEVELS)]
    edges = [np.unique(own) for own in np.hstack(levels)]
    edges = [own[own < np.inf] for own in edges]
    found = np.full((count, max(map(len, edges), default=0)), np.inf, np.float32)
    for column, own in enumerate(edges):
        found[column, : len(own)] = own
    return found


def _knots(effects: Effects, level: int, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which knots of a level numbers (C, M) of columns have reached, and how far they are on to the next."""
    edges = effects.edges[level, : len(points), : (KNOTS[level] - 1) * STEPS[level]]
    passed = np.stack([np.searchsorted(own, row, "right") for own, row in zip(edges, points, strict=True)])
    passed[points == np.inf] = 0  # there are no such intervals
    return passed // STEPS[level], passed % STEPS[level] / STEPS[level]


def _curves(effects: Effects, points: np.ndarray) -> np.ndarray:
    """Return what the curve of each column adds in each of its intervals (C, M, K)."""
    found = np.zeros((*points.shape, effects.cells.shape[2]))
    curved = effects.pairs.two_valued[: len(points)] == 0
    cells = np.vstack([effects.cells[:, 0], np.zeros_like(effects.cells[:1, 0])])
    for level in range(LEVELS):
        columns = np.flatnonzero(curved[: effects.opened[OF_ONE, level]])
        knots, shares = (part[columns] for part in _knots(effects, level, points))
        first = CELLS_OF_COLUMNS[level] + columns[:, None] * KNOTS[level] + knots
        for k, part in enumerate((1.0 - shares, shares)):
            found[columns] += part[..., None] * cells[np.minimum(first + k, len(cells) - 1)]
    return found


def _level(effects: Effects, level: int, points: np.ndarray) -> Level:
    """Return the weights of pairs at a level."""
    pairs, size = np.arange(int(effects.opened[OF_TWO, level])), int(KNOTS[level])
    begin, end = OF_PAIRS[level], OF_PAIRS[level] + len(pairs) * size**2
    if level > PAIRED:
        pairs = pairs[~effects.pairs.two_valued[effects.pairs.columns[pairs]].all(axis=1)]
    weights = effects.cells[begin:end, 0].astype(float)
    table = np.vstack([weights, np.zeros((end - begin + size + 1 - len(weights), weights.shape[1]))])
    columns = np.ascontiguousarray(effects.pairs.columns[pairs].T.astype(np.int64))
    return Level(pairs, columns, pairs * size**2, table, *_knots(effects, level, points), size)


def _by_pairs(terms: Terms, columns: np.ndarray, intervals: np.ndarray) -> np.ndarray:
    """Return what each pair adds to examples (n, P, K) whose columns are in these intervals (n, C)."""
    found = np.zeros((len(intervals), *terms.pair_means.shape))
    for level in terms.levels:
        one, other = level.columns
        knots, shares = level.knots[columns, intervals], level.shares[columns, intervals]
        first = level.first + level.size * knots.take(one, axis=1) + knots.take(other, axis=1)
        along, across = shares.take(one, axis=1), shares.take(other, axis=1)
        both = along * across
        parts = np.empty((*both.shape, 1, len(CORNERS)))
        parts[..., 0, 0] = 1.0 - along - across + both
        parts[..., 0, 1] = across - both
        parts[..., 0, 2] = along - both
        parts[..., 0, 3] = both
        cells = first[..., None] + CORNERS @ (level.size, 1)
        found[:, level.pairs] += (parts @ level.table.take(cells, axis=0))[:, :, 0]
    return found


def _parted(terms: Terms, sample: np.ndarray, knots: np.ndarray, shares: np.ndarray) -> Terms:
    """Return the terms with what pairs hold of their columns taken off their weights, and given to the columns."""
    columns, size = np.arange(len(terms.edges)), int(KNOTS[PAIRED])
    intervals = intervals_of(terms, sample)
    held = _by_pairs(terms, columns, intervals)
    number = np.arange(size)
    hats = np.where(number == knots[..., None], 1.0 - shares[..., None], 0.0)  # (C, M, 8) in each interval
    hats += np.where(number == knots[..., None] + 1, shares[..., None], 0.0)
    there, mains = hats[columns, intervals], np.zeros((len(columns), size, held.shape[2]))
    (level,) = (level for level in terms.levels if level.size == size)
    for first in range(0, len(terms.pairs), SOME):
        some = slice(first, first + SOME)
        one, other = terms.pairs[some].T
        design = np.concatenate([there[:, one], there[:, other]], axis=2).transpose(1, 0, 2)  # (p, n, 16)
        squares = design.transpose(0, 2, 1) @ design + RIDGE * np.eye(2 * size)
        parts = np.linalg.solve(squares, design.transpose(0, 2, 1) @ held[:, some].transpose(1, 0, 2))
        by_one, by_other = parts[:, :size], parts[:, size:]
        np.add.at(mains, one, by_one)
        np.add.at(mains, other, by_other)
        both = (by_one[:, :, None] + by_other[:, None]).reshape(-1, held.shape[2])
        level.table[first * size**2 :][: len(both)] -= both
    return terms._replace(mains=hats @ mains)
