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


class Terms(NamedTuple):
    """What the weights of effects mean: which part of the pairs belongs to their columns, and the means of all parts."""

    pairs: np.ndarray  # (P, 2) int64  places of the columns of each pair
    mains: np.ndarray  # (C, 8, K)  what all pairs hold of a column, at its knots
    of_pairs: np.ndarray  # (P, 2, 8, K)  the same by pair
    means: np.ndarray  # (C, K)  of the curves of columns
    main_means: np.ndarray  # (C, K)  of what pairs hold of columns
    pair_means: np.ndarray  # (P, K)  of what is left of a pair


class Added(NamedTuple):
    """What effects add to the scores of n examples beyond the mean."""

    curves: np.ndarray  # (n, C, K)  by the curve of each column
    mains: np.ndarray  # (n, C, K)  by what pairs hold of each column
    pairs: np.ndarray  # (n, P, K)  by what is left of each pair


class _Knots(NamedTuple):
    """Which knots numbers have reached, and how far they are on the way to the next, by level."""

    knots: list[np.ndarray]  # (n, columns) int64
    shares: list[np.ndarray]  # (n, columns)


def numbers_of(effects: Effects, slots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the numbers (1, columns) of the columns in one row over slots; 0 where it has none."""
    found = np.zeros((1, int(effects.totals[COUNT])), np.float32)
    inside = slots < len(effects.column_of)
    columns = effects.column_of[slots[inside]].astype(np.int64) - 1
    found[0, columns[columns >= 0]] = values[inside][columns >= 0]
    return found


def sample_of(effects: Effects) -> np.ndarray:
    """Return the numbers (n, columns) that are kept of examples learnt."""
    return effects.sample[: int(effects.totals[KEPT]), : int(effects.totals[COUNT])]


def terms_of(effects: Effects) -> Terms:
    """Return what the weights of effects mean over the examples that are kept."""
    count, classes = columns_with_effects(effects), effects.cells.shape[2]
    pairs = effects.pairs.columns[: int(effects.opened[OF_TWO].max())].astype(np.int64)
    shape = len(pairs), 2, int(KNOTS[PAIRED]), classes
    of_pairs, mains = np.zeros(shape), np.zeros((count, *shape[2:]))
    nothing = np.zeros((count, classes)), np.zeros((count, classes)), np.zeros((len(pairs), classes))
    found = Terms(pairs, mains, of_pairs, *nothing)
    known = _places(effects, sample_of(effects)[:, :count])
    if len(pairs):
        hats = _hats(known)
        for first in range(0, len(pairs), 64):
            part = pairs[first : first + 64]
            design = np.concatenate([hats[:, part[:, 0]], hats[:, part[:, 1]]], axis=2).transpose(1, 0, 2)
            held = _of_pairs(effects, pairs, known)[:, first : first + 64].transpose(1, 0, 2)
            squares = design.transpose(0, 2, 1) @ design + RIDGE * np.eye(design.shape[2])
            of_pairs[first : first + 64] = np.linalg.solve(squares, design.transpose(0, 2, 1) @ held).reshape(
                len(part), *shape[1:]
            )
        for side in (0, 1):
            np.add.at(mains, pairs[:, side], of_pairs[:, side])
    return found._replace(**dict(zip(Terms._fields[3:], _means(effects, found, known), strict=True)))


def added_by_terms(effects: Effects, terms: Terms, numbers: np.ndarray) -> Added:
    """Return what effects add to the scores of examples with these numbers (n, columns), beyond the mean."""
    curves, mains, pairs = _added(effects, terms, _places(effects, numbers[:, : len(terms.mains)]))
    return Added(curves - terms.means, mains - terms.main_means, pairs - terms.pair_means)


def total_means(terms: Terms) -> tuple[np.ndarray, np.ndarray]:
    """Return what the curves of columns, and the pairs, add on average, (K,) each."""
    return terms.means.sum(axis=0), terms.main_means.sum(axis=0) + terms.pair_means.sum(axis=0)


def columns_with_effects(effects: Effects) -> int:
    """How many columns have effects; they are the first."""
    return int(effects.opened[OF_ONE].max())


def edges_of_terms(effects: Effects, column: int, pairs: bool) -> np.ndarray:
    """Return the edges (m,) of a column, rising, of all levels of its effect, or of its pairs.

    Between two edges its contribution is the same.
    """
    found = [
        effects.edges[level, column, : (KNOTS[level] - 1) * STEPS[level]]
        for level in range(LEVELS)
        if (effects.opened[OF_TWO, level] > 0 if pairs else column < effects.opened[OF_ONE, level])
    ]
    if not pairs and effects.opened[OF_TWO].any():
        found.append(effects.edges[PAIRED, column, : (KNOTS[PAIRED] - 1) * STEPS[PAIRED]])
    edges = np.unique(np.concatenate([np.empty(0, np.float32), *found]))
    return edges[edges < np.inf]


def is_category(effects: Effects, column: int) -> bool:
    """Whether a column is 1 for the examples of a category, and 0 for others."""
    return bool(effects.pairs.two_valued[column] == 1 and effects.edges[0, column, 0] == 1.0)


def _means(effects: Effects, terms: Terms, known: _Knots) -> tuple[np.ndarray, ...]:
    return tuple(part.mean(axis=0) if len(part) else part.sum(axis=0) for part in _added(effects, terms, known))


def _added(effects: Effects, terms: Terms, known: _Knots) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what columns, what pairs hold of columns, and what is left of pairs add, whatever the mean."""
    knots, shares = known.knots[PAIRED], known.shares[PAIRED][..., None]
    columns = np.arange(len(terms.mains))
    after = np.minimum(knots + 1, KNOTS[PAIRED] - 1)
    mains = (1.0 - shares) * terms.mains[columns, knots] + shares * terms.mains[columns, after]
    pairs = _of_pairs(effects, terms.pairs, known)
    number = np.arange(len(terms.pairs))
    for side in (0, 1):
        own, held = terms.pairs[:, side], terms.of_pairs[:, side]
        pairs -= (1.0 - shares[:, own]) * held[number, knots[:, own]] + shares[:, own] * held[number, after[:, own]]
    return _of_columns(effects, known), mains, pairs


def _of_columns(effects: Effects, known: _Knots) -> np.ndarray:
    """Return what the curve of each column adds (n, C, K)."""
    count = known.knots[0].shape[1]
    found = np.zeros((len(known.knots[0]), count, effects.cells.shape[2]))
    curved = effects.pairs.two_valued[:count] == 0
    for level in range(LEVELS):
        columns = np.flatnonzero(curved[: effects.opened[OF_ONE, level]])
        knots, shares = known.knots[level][:, columns], known.shares[level][:, columns]
        first = CELLS_OF_COLUMNS[level] + columns * KNOTS[level] + knots
        found[:, columns] += _weights(effects, first, 1.0 - shares) + _weights(effects, first + 1, shares)
    return found


def _of_pairs(effects: Effects, pairs: np.ndarray, known: _Knots) -> np.ndarray:
    """Return what each pair adds (n, P, K)."""
    found = np.zeros((len(known.knots[0]), len(pairs), effects.cells.shape[2]))
    two_valued = effects.pairs.two_valued[pairs].all(axis=1)
    for level in range(LEVELS):
        number = np.arange(int(effects.opened[OF_TWO, level]))
        number = number[~two_valued[number]] if level > PAIRED else number
        size, (one, other) = int(KNOTS[level]), pairs[number].T
        knots, shares = known.knots[level], known.shares[level]
        first = OF_PAIRS[level] + (number * size + knots[:, one]) * size + knots[:, other]
        for j, along in enumerate((1.0 - shares[:, one], shares[:, one])):
            for k, part in enumerate((1.0 - shares[:, other], shares[:, other])):
                found[:, number] += _weights(effects, first + j * size + k, along * part)
    return found


def _places(effects: Effects, numbers: np.ndarray) -> _Knots:
    """Return where numbers (n, columns) lie among the knots of each level."""
    knots, shares = [], []
    for level in range(LEVELS):
        edges = effects.edges[level, : numbers.shape[1], : (KNOTS[level] - 1) * STEPS[level]]
        passed = (edges <= numbers[:, :, None]).sum(axis=2)
        knots.append(passed // STEPS[level])
        shares.append(passed % STEPS[level] / STEPS[level])
    return _Knots(knots, shares)


def _hats(known: _Knots) -> np.ndarray:
    """Return the hat functions (n, C, 8) of the knots of columns."""
    knots, shares = known.knots[PAIRED], known.shares[PAIRED]
    number = np.arange(int(KNOTS[PAIRED]))
    found: np.ndarray = np.where(number == knots[..., None], 1.0 - shares[..., None], 0.0)
    found += np.where(number == knots[..., None] + 1, shares[..., None], 0.0)
    return found


def _weights(effects: Effects, cells: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Return parts (n, m) of the weights (n, m, K) of cells."""
    inside = (parts > 0.0) & (cells < len(effects.cells))
    weights: np.ndarray = effects.cells[np.where(inside, cells, 0), 0] * np.where(inside, parts, 0.0)[..., None]
    return weights
