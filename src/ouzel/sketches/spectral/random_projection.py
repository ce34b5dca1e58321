"""A random projection: m rows S, to all of which each vector g is added, with random signs.

    S <- S + r g',  r_i = +1 or -1 over sqrt(m):  E S'S = sum of g g'
Achlioptas (2003), "Database-friendly random projections". It finds no directions and misses none. Here it is the
example of what a sketch needs to be plugged into online Newton (see `protocol`): the column of S of a slot lies in the
table beside its u, and B = I + S S' / alpha, of m by m, is decomposed afresh for each step.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import check_list, float64, require, uint32, uint64
from ouzel.ranges import Directions, Size
from ouzel.sketches.reservoir import begin as begin_random
from ouzel.sketches.reservoir import random_word
from ouzel.sketches.spectral.low_rank_table import (
    LEAD,
    add_outer,
    fold,
    gather,
    margin_of,
    register_new_slots,
    settle,
    width_of,
)

__all__ = ["margin_of", "settle"]

FEWEST = 1024.0  # vectors between two times that all of w becomes u: u and S'b grow while w does not
ROUNDING = 1e-9  # of a diagonal: a pivot below is what rounding left of rows that others span


class State(NamedTuple):
    table: np.ndarray  # (d, width) float64  u, the scale and the column of S of each slot
    coefficients: np.ndarray  # (width,) float64  1, 0, b: what makes w = u + S'b out of a row
    gram: np.ndarray  # (m, m) float64  S S'
    touched: np.ndarray  # (d,) uint32  slots seen, in order
    counts: np.ndarray  # (3,) float64  t, slots seen, vectors since all of w was u
    random: np.ndarray  # (2,) uint64  state of the random numbers


class Work(NamedTuple):
    """Room to work in."""

    projected: np.ndarray  # (width,)
    step: np.ndarray  # (width,)  what a slot's row gains for 1 of x
    factor: np.ndarray  # (m, m)  L L' = B
    solved: np.ndarray  # (m,)


@kernel
def make_room(state):
    """Room to work in."""
    m, width = len(state.gram), len(state.coefficients)
    return Work(np.empty(width), np.zeros(width), np.empty((m, m)), np.empty(m))


def layout(dimension: Size, size: Directions) -> State:
    """What a sketch of `size` rows with room for `dimension` slots is made of."""
    return State(
        table=float64(dimension, width_of(size), aligned=True),
        coefficients=float64(width_of(size)),
        gram=float64(size, size),
        touched=uint32(dimension),
        counts=float64(3, least=0.0, most=(inf, dimension, inf)),
        random=uint64(2),
    )


def begin(state: Any, settings: Any) -> None:
    """Make all of w be u, and seed the signs."""
    state.coefficients[0] = 1.0
    begin_random(state.random, int(getattr(settings, "sketch_seed", 0)))


def check(state: State) -> None:
    """Refuse a list of slots that are not those with a scale, and a Gram matrix that cannot be one."""
    check_list(state.touched[: int(state.counts[1])], state.table[:, 1] != 0.0, "slots seen")
    require((state.table[:, 1] >= 0.0).all(), "table has scales below 0")
    rows = state.table[:, LEAD : LEAD + len(state.gram)]
    error = abs(rows.T @ rows - state.gram).max(initial=0.0)
    require(error <= 1e-6 * np.trace(state.gram), "gram is not that of the rows")


@kernel
def welcome(state, slots, values, first):
    """List the slots that are new with `first` for their scale."""
    seen = register_new_slots(state.table, state.touched, int(state.counts[1]), slots, values, first)
    state.counts[1] = seen


@force_inline
def look_up(state, slots, values, work):
    """Project x: `work.projected` is table' x."""
    gather(state.table, slots, values, work.projected)


@force_inline
def absorb(state, slots, values, size, square, rate, settings, work):
    """Take in `size` x of the x looked up, `square` being x'x; the table follows when `apply` has come."""
    m, word = len(state.gram), np.uint64(0)
    for i in range(m):
        word = random_word(state.random) if i % 64 == 0 else word >> np.uint64(1)
        sign = 1.0 if word & np.uint64(1) else -1.0
        work.step[LEAD + i] = size * sign / np.sqrt(m)
    for i in range(m):
        for j in range(m):
            mixed = work.step[LEAD + i] * work.projected[LEAD + j] + work.step[LEAD + j] * work.projected[LEAD + i]
            state.gram[i, j] += mixed + square * work.step[LEAD + i] * work.step[LEAD + j]
    for i in range(m):
        work.step[0] -= work.step[LEAD + i] * state.coefficients[LEAD + i]
        work.projected[LEAD + i] += square * work.step[LEAD + i]
    state.counts[2] += 1.0


@force_inline
def reduction(state, rate, work):
    """What the sketch takes off x'x in alpha x'A^-1 x; `work.solved` becomes B^-1 S x / alpha."""
    m, factor, solved = len(state.gram), work.factor, work.solved
    for i in range(m):
        for j in range(i + 1):
            rest = rate * state.gram[i, j] + (i == j)
            for k in range(j):
                rest -= factor[i, k] * factor[j, k]
            factor[i, j] = rest / factor[j, j] if j < i else np.sqrt(max(rest, 1.0, ROUNDING * rate * state.gram[i, i]))
        solved[i] = work.projected[LEAD + i]
        for k in range(i):
            solved[i] -= factor[i, k] * solved[k]
        solved[i] /= factor[i, i]
    total = 0.0
    for i in range(m - 1, -1, -1):
        for k in range(i + 1, m):
            solved[i] -= factor[k, i] * solved[k]
        solved[i] /= factor[i, i]
    for i in range(m):
        solved[i] *= rate
        total += solved[i] * work.projected[LEAD + i]
    return total


@force_inline
def apply(state, slots, values, length, rate, work):
    """w <- w - length alpha A^-1 x of the x looked up, which the sketch may just have taken in."""
    reduction(state, rate, work)
    for i in range(len(work.solved)):
        state.coefficients[LEAD + i] += length * work.solved[i]
    work.step[0] -= length
    add_outer(state.table, slots, values, work.step)
    for j in range(len(work.step)):
        work.step[j] = 0.0
    if state.counts[2] >= max(FEWEST, state.counts[1]):
        state.counts[2] = 0.0
        fold(state.table, state.touched[: int(state.counts[1])], state.coefficients)


def _spectrum(state: State) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (m,) of S S', largest first, and the eigenvectors (m, m) of S'S in terms of its rows."""
    values, vectors = np.linalg.eigh(state.gram)
    values = np.maximum(values[::-1], 0.0)
    return values, vectors.T[::-1] / np.sqrt(np.where(values > 1e-12 * values.max(initial=1e-300), values, np.inf))[
        :, None
    ]


def eigenvalues(state: State) -> np.ndarray:
    """Eigenvalues (m,) of the mean outer product of what is sketched, largest first: rough guesses."""
    return _spectrum(state)[0] / max(state.counts[0], 1.0)


def directions(state: State) -> np.ndarray:
    """The eigenvectors (m, d) to `eigenvalues`."""
    return _spectrum(state)[1] @ state.table[:, LEAD : LEAD + len(state.gram)].T


def extrapolate(state: State, factor: float) -> None:
    """Let the sketch be that of so many times as many vectors of the same kind."""
    state.table[:, LEAD:] *= factor**0.5
    state.gram[:] *= factor


def swap_sign(state: State) -> None:
    """Let w be -w: u and S change their signs, as they have them where every vector has the other."""
    state.table[:, 0] *= -1.0
    state.table[:, LEAD:] *= -1.0
