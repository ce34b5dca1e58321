"""Frequent Directions as a sketch that Newton steps are taken with (see `sketches.spectral.protocol`).

Luo, Agarwal, Cesa-Bianchi & Langford (2016), Algorithms 6 and 8: S = [P^(1/2) V; G], the directions and the vectors of
the epoch under way (see `sparse_frequent_directions`), and
    alpha A^-1 = I - S' (alpha I + S S')^-1 S.
With w = u + V'b + G'c a step's part in the sketch goes to b and c, the rest to u: O(m^2 + m s) for s non-zeros. Of
B = I + S S' / alpha its Cholesky factor L is kept, which gains a row a vector; the paper's rank-two updates of the
inverse lose digits where alpha is small.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.kernels.simd import LANES, add_lanes
from ouzel.layout import float64, require
from ouzel.ranges import Directions, Size
from ouzel.sketches.spectral import sparse_frequent_directions as sketch
from ouzel.sketches.spectral.low_rank_table import LEAD, gather
from ouzel.sketches.spectral.sparse_frequent_directions import begin, welcome

__all__ = ["begin", "welcome"]


class State(NamedTuple):
    table: np.ndarray  # (d, width) float64  the sketch's, as all down to `counts`
    coefficients: np.ndarray  # (width,) float64
    mass: np.ndarray  # (m,) float64  P
    products: np.ndarray  # (m, 2 m) float64
    turns: np.ndarray  # (epochs, m + 1, m + 1) float64
    touched: np.ndarray  # (d,) uint32
    recent: np.ndarray  # (d,) uint32
    counts: np.ndarray  # (5,) float64
    factor: np.ndarray  # (m, 2 m) float64  rows of L that belong to G; those of V are diagonal


class Work(NamedTuple):
    """Room to work in."""

    projected: np.ndarray  # (width,)
    shift: np.ndarray  # (4,)  what u gains for 1 of x
    solved: np.ndarray  # (2 m,)
    spare: np.ndarray  # as long as rows of a turn
    entry: np.ndarray  # (width,)


@kernel
def make_room(state):
    """Room to work in."""
    m, width = len(state.mass), state.table.shape[1]
    projected, shift, spare = np.empty(width), np.zeros(LANES), np.empty(state.turns.shape[1])
    return Work(projected, shift, np.empty(2 * m), spare, np.empty(width))


def layout(dimension: Size, size: Directions) -> State:
    """What a sketch of `size` directions with room for `dimension` slots is made of."""
    return State(*sketch.layout(dimension, size), factor=float64(size, 2 * size))


def check(state: State) -> None:
    """Refuse a sketch that contradicts itself, and a factor whose diagonal is below 1."""
    sketch.check(state)
    own = np.diagonal(state.factor, len(state.mass))[: int(state.counts[sketch.FILLED])]
    require((own >= 1.0).all(), "factor is not one of a matrix above the identity")


@force_inline
def look_up(state, slots, values, work):
    """Project x: `work.projected` is table' x."""
    sketch.bring_up(state, slots, work.spare)
    gather(state.table, slots, values, work.projected)


@force_inline
def margin_of(state, slots, values, work):
    """w'x; nothing changes, rows that are late are brought up in copies."""
    margin = 0.0
    for k in range(len(slots)):
        if state.table[slots[k], 1] > 0.0:
            entry = work.entry
            for j in range(len(entry)):
                entry[j] = state.table[slots[k], j]
            sketch.renew(state, entry, work.spare)
            weight = 0.0
            for j in range(len(entry)):
                weight += entry[j] * state.coefficients[j]
            margin += weight * values[k]
    return margin


@force_inline
def absorb(state, slots, values, size, square, rate, settings, work):
    """Take in `size` x of the x looked up, `square` being x'x, and bring what was looked up up to date."""
    if len(state.mass) > 0 and size * size * square > 0.0:
        column = sketch.enter(state, slots, values, size, work.projected, square)
        if sketch.epoch_is_full(state):  # the step is then taken with the new directions
            sketch.end_epoch(state, state.table[:0])
            gather(state.table, slots, values, work.projected)
        else:
            work.projected[column] = size * square
            extend_factor(state, rate)


@force_inline
def extend_factor(state, rate):
    """Give L the row of the epoch's newest vector."""
    m, last = len(state.mass), int(state.counts[sketch.FILLED]) - 1
    row, products = state.factor[last], state.products[last]
    for i in range(m):
        row[i] = rate * np.sqrt(state.mass[i]) * products[i] / np.sqrt(1.0 + rate * state.mass[i])
    for k in range(last):
        rest = rate * products[m + k]
        for j in range(m + k):
            rest -= row[j] * state.factor[k, j]
        row[m + k] = rest / state.factor[k, m + k]
    rest = 1.0 + rate * products[m + last]
    for j in range(m + last):
        rest -= row[j] * row[j]
    row[m + last] = np.sqrt(max(rest, 1.0))


@force_inline
def reduction(state, rate, work):
    """What the sketch takes off x'x in alpha x'A^-1 x; `work.solved` becomes B^-1 S x / alpha."""
    m, filled = len(state.mass), int(state.counts[sketch.FILLED])
    out, total = work.solved, 0.0
    for i in range(m):
        out[i] = np.sqrt(state.mass[i] * rate / (1.0 + state.mass[i] * rate)) * work.projected[LEAD + i]
        total += out[i] * out[i]
    for k in range(filled):
        rest = np.sqrt(rate) * work.projected[LEAD + m + k]
        for j in range(m + k):
            rest -= state.factor[k, j] * out[j]
        out[m + k] = rest / state.factor[k, m + k]
        total += out[m + k] * out[m + k]
    for k in range(filled - 1, -1, -1):
        out[m + k] /= state.factor[k, m + k]
        for j in range(m + k):
            out[j] -= state.factor[k, j] * out[m + k]
    for i in range(m):
        out[i] *= np.sqrt(rate / (1.0 + rate * state.mass[i]))
    for k in range(filled):
        out[m + k] *= np.sqrt(rate)
    return total


@force_inline
def apply(state, slots, values, length, rate, work):
    """w <- w - length (x - S' B^-1 S x / alpha) of the x looked up."""
    reduction(state, rate, work)
    m = len(state.mass)
    for i in range(m):
        state.coefficients[LEAD + i] += length * np.sqrt(state.mass[i]) * work.solved[i]
    for k in range(int(state.counts[sketch.FILLED])):
        state.coefficients[LEAD + m + k] += length * work.solved[m + k]
    work.shift[0] = -length
    add_lanes(state.table, slots, values, 0, work.shift)


def eigenvalues(state: State) -> np.ndarray:
    """Estimated eigenvalues (m,) of the mean outer product of what is sketched, largest first."""
    return sketch.spectrum(state)[0] / max(state.counts[0], 1.0)


def directions(state: State) -> np.ndarray:
    """The eigenvectors (m, d) to `eigenvalues`."""
    return sketch.spectrum(state)[1]


def settle(state: State) -> None:
    """End the epoch, and have all of w in u."""
    if state.counts[sketch.FILLED] > 0.0:
        sketch.end_epoch(state, state.table[:0])
    if len(state.mass) > 0:
        sketch.sweep(state)


def extrapolate(state: State, factor: float) -> None:
    """Let the sketch, settled, be that of so many times as many vectors of the same kind."""
    state.mass[:] *= factor


def swap_sign(state: Any) -> None:
    """Let w be -w."""
    state.table[:, 0] *= -1.0
    state.coefficients[1:] *= -1.0
    state.turns[:, 1:, 0] *= -1.0
