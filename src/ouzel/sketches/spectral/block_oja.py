"""Oja's sketch, its directions turned once for a block of vectors.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), section 3: "one can only update the sketch every m rounds (similar to the
block power method)". With G the vectors of a block and V, P those of its beginning,
    P_i <- P_i + sum of (V_i g)^2,    V <- orthonormalised (V + sum of Gamma (V g) g'),
Gamma that of `oja` when g came. Steps within the block are taken with P and V of its beginning, the step after its last
vector with the new ones. With V = F Z, what Z is to gain waits beside it in the table, in Y, and the Gram matrix M of
F (Z + Y) is followed vector by vector: it gains q p' + p q' + g'g p p', p = Gamma V g and q = F (Z + Y) g. The end of a
block is Z <- Z + Y and F <- L^-1 F, L L' = M: O(m^3), and O(m) for each slot that the block has met.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import check_list, float64, uint32
from ouzel.ranges import Directions, Size
from ouzel.sketches.spectral import oja
from ouzel.sketches.spectral.low_rank_table import LEAD, add_outer, gather, multiply, width_of
from ouzel.sketches.spectral.oja import (
    begin,
    directions,
    eigenvalues,
    extrapolate,
    look_up,
    margin_of,
    reduction,
    reorthonormalise_if_due,
    swap_sign,
    vectors,
    welcome,
)
from ouzel.sketches.spectral.turning_steps import common_step, step_by_mass

__all__ = ["begin", "directions", "eigenvalues", "extrapolate", "look_up", "margin_of", "reduction", "swap_sign"]
__all__ += ["vectors", "welcome"]

TAKEN, MET = 3, 4  # in counts


class State(NamedTuple):
    table: np.ndarray  # (d, width) float64  u, the scale, the columns of Z and of Y, whether the block has met the slot
    basis: np.ndarray  # (m, width) float64  F, in the columns of Z
    coefficients: np.ndarray  # (width,) float64  1, 0, b, 0: what makes w out of a row
    mass: np.ndarray  # (m,) float64  P
    touched: np.ndarray  # (d,) uint32  slots seen, in order
    counts: np.ndarray  # (5,) float64  t, slots seen, growth as of `oja`; vectors of the block, slots it has met
    pool: np.ndarray  # (m, width) float64  as of `oja`
    start: np.ndarray  # (3,) float64  as of `oja`
    met: np.ndarray  # (d,) uint32  slots of the block
    gram: np.ndarray  # (m, m) float64  M
    gathered: np.ndarray  # (m,) float64  sums of (V g)^2 of the block


class Work(NamedTuple):
    """Room to work in."""

    projected: np.ndarray  # (width,)
    step: np.ndarray  # (width,)  what a slot's row gains for 1 of its value
    along: np.ndarray  # (m,)  V x
    gains: np.ndarray  # (m,)  p
    ahead: np.ndarray  # (m,)  q


@kernel
def make_room(state):
    """Room to work in."""
    m, width = state.basis.shape
    return Work(np.empty(width), np.zeros(width), np.empty(m), np.empty(m), np.empty(m))


def layout(dimension: Size, size: Directions) -> State:
    """What a sketch of `size` directions with room for `dimension` slots is made of."""
    width = width_of(2 * size + 1)
    plain, first = oja.layout(dimension, size), (0.0, 0.0, 1.0, 0.0, 0.0)
    return State(
        *plain._replace(
            table=float64(dimension, width, aligned=True),
            basis=float64(size, width),
            coefficients=float64(width),
            counts=float64(5, fill=first, least=first, most=(inf, dimension, inf, inf, dimension)),
            pool=float64(size, width),
        ),
        met=uint32(dimension),
        gram=float64(size, size, diagonal=1.0),
        gathered=float64(size, least=0.0),
    )


def check(state: State) -> None:
    """Refuse what `oja` refuses, and a list of slots met that are not those marked."""
    plain: Any = state._replace(table=_before(state))
    oja.check(plain)
    marks = state.table[:, LEAD + 2 * len(state.mass)] != 0.0
    check_list(state.met[: int(state.counts[MET])], marks, "slots of the block")


def _before(state: State) -> np.ndarray:
    """The table as if nothing waited."""
    table = state.table.copy()
    table[:, LEAD + len(state.mass) :] = 0.0
    return table


@force_inline
def absorb(state, slots, values, size, square, rate, settings, work):
    """Take in `size` x of the x looked up, `square` being x'x; the block ends with so many as the settings say."""
    m = len(state.mass)
    if m == 0:
        return
    square *= size * size
    multiply(state.basis, work.projected, work.along)
    for i in range(m):
        total = 0.0
        for j in range(i + 1):
            column = LEAD + j
            total += state.basis[i, column] * (work.projected[column] + work.projected[m + column])
        work.ahead[i] = size * total
    _gain(state, size, square, settings, work)
    for i in range(m):
        for j in range(m):
            mixed = work.ahead[i] * work.gains[j] + work.gains[i] * work.ahead[j]
            state.gram[i, j] += mixed + square * work.gains[i] * work.gains[j]
    _note(state, slots)
    add_outer(state.table, slots, values, work.step)
    work.step[:] = 0.0
    state.counts[TAKEN] += 1.0
    if state.counts[TAKEN] >= settings.sketch_every:
        end_block(state)
        gather(state.table, slots, values, work.projected)


@force_inline
def _gain(state, size, square, settings, work):
    """`gains` becomes Gamma V g, and `step` what Y gains by it for 1 of x."""
    m, common = len(state.mass), common_step(settings.gamma, state.counts[0], square)
    for i in range(m):
        v = size * work.along[i]
        state.gathered[i] += v * v
        mass = state.mass[i] + state.gathered[i]
        work.gains[i] = v * (step_by_mass(settings.gamma, mass, square) if settings.by_mass else common)
        rest = work.gains[i]
        for j in range(i):
            rest -= state.basis[i, LEAD + j] * work.step[LEAD + m + j]
        work.step[LEAD + m + i] = rest / state.basis[i, LEAD + i]  # F^-1 p
    for i in range(m):
        work.step[LEAD + m + i] *= size


@force_inline
def _note(state, slots):
    """List the slots that the block has not met yet."""
    mark = LEAD + 2 * len(state.mass)
    for k in range(len(slots)):
        if state.table[slots[k], mark] == 0.0:
            state.table[slots[k], mark] = 1.0
            state.met[int(state.counts[MET])] = slots[k]
            state.counts[MET] += 1.0


@kernel
def end_block(state):
    """Turn the directions by the vectors of the block; w stays."""
    m = len(state.mass)
    for k in range(int(state.counts[MET])):
        row = state.table[state.met[k]]
        for j in range(LEAD, LEAD + m):
            row[0] -= row[m + j] * state.coefficients[j]
            row[j] += row[m + j]
            row[m + j] = 0.0
        row[LEAD + 2 * m] = 0.0
    least = 1.0
    for i in range(m):
        for j in range(i + 1):
            rest = state.gram[i, j]
            for k in range(j):
                rest -= state.gram[i, k] * state.gram[j, k]
            state.gram[i, j] = rest / state.gram[j, j] if j < i else np.sqrt(max(rest, 1e-12))
        for column in range(LEAD, LEAD + i + 1):  # F <- L^-1 F
            for j in range(i):
                state.basis[i, column] -= state.gram[i, j] * state.basis[j, column]
            state.basis[i, column] /= state.gram[i, i]
        least = min(least, state.basis[i, LEAD + i])
        state.mass[i] += state.gathered[i]
        state.gathered[i] = 0.0
    for i in range(m):
        for j in range(m):
            state.gram[i, j] = i == j
    state.counts[TAKEN] = state.counts[MET] = 0.0
    state.counts[2] = 1.0 / least
    reorthonormalise_if_due(state)


@force_inline
def apply(state, slots, values, length, rate, work):
    """w <- w - length alpha A^-1 x of the x looked up."""
    multiply(state.basis, work.projected, work.along)
    for i in range(len(work.along)):
        move = length * work.along[i] * state.mass[i] * rate / (1.0 + state.mass[i] * rate)
        for j in range(LEAD, LEAD + i + 1):
            state.coefficients[j] += move * state.basis[i, j]
    work.step[0] = -length
    add_outer(state.table, slots, values, work.step)
    work.step[0] = 0.0


def settle(state: State) -> None:
    """End the block."""
    end_block(state)
