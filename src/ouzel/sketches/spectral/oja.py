"""Oja's sketch: the leading eigenvectors and eigenvalues of a stream of sparse vectors.

Oja (1982) as used by Luo, Agarwal, Cesa-Bianchi & Langford (2016), eq. (4) and Algorithm 5, steps 1 / t: a vector g has
    P_i <- P_i + (V_i g)^2,    V <- orthonormalised (V + gamma (V g) g')
where P / t estimates the eigenvalues of the mean of g g'. With V = F Z (see `low_rank_table`) it costs O(m^2 + m s) for
s non-zeros: Z <- Z + gamma (Z g) g' needs no inverse of F, and the Gram matrix of the rows before they are made
orthonormal again is I + c v v', v = V g and c = 2 gamma + gamma^2 g'g, whose Cholesky factor L is known in closed form:
    L_ii = r_i / r_(i-1),  L_ij = c v_i v_j / (r_j r_(j-1)),  r_i^2 = 1 + c (v_1^2 + ... + v_i^2).
The paper's O(m^3) is then a running sum down each column of F. Direction k starts as the unit vector of the k-th slot
seen, so that nothing need be known of the slots beforehand.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source, kernel
from ouzel.kernels.simd import LANES, turn_lanes
from ouzel.layout import check_list, float64, made_from, require, uint32
from ouzel.ranges import Directions, Size
from ouzel.sketches.spectral.low_rank_table import (
    LEAD,
    add_outer,
    gather,
    multiply,
    register_new_slots,
    reorthonormalise,
    square_of,
    width_of,
)

MOST_GROWTH = 1e4  # of the Gram determinant between two times that V is made orthonormal


class State(NamedTuple):
    # 64 bits throughout: what is kept grows while its combinations stay small.
    table: np.ndarray  # (d, width) float64  u, the scale and the column of Z of each slot
    basis: np.ndarray  # (m, width) float64  F, in the columns of Z
    coefficients: np.ndarray  # (width,) float64  1, 0, b: what makes w out of a row
    mass: np.ndarray  # (m,) float64  P, t times the estimated eigenvalues
    touched: np.ndarray  # (d,) uint32  slots seen, in order
    counts: np.ndarray  # (3,) float64  t, slots seen, growth since V was last made orthonormal


class Work(NamedTuple):
    """Room to work in."""

    scales: np.ndarray  # (non-zeros,)
    scaled: np.ndarray  # (non-zeros,)
    projected: np.ndarray  # (width,)
    step: np.ndarray  # (width,)  what a slot's row gains for 1 of its value
    shift: np.ndarray  # (4,)  the same where only u changes
    along: np.ndarray  # (m,)
    turns: np.ndarray  # (m, 4)  what `turn` does to each row of F
    moves: np.ndarray  # (m,)  what it adds to b of each


@kernel
def make_room(state, nonzeros):
    """Room to work in for examples of up to so many non-zeros."""
    m, width = state.basis.shape
    scales, scaled, projected = np.empty(nonzeros), np.empty(nonzeros), np.empty(width)
    step, shift = np.zeros(width), np.zeros(LANES)
    return Work(scales, scaled, projected, step, shift, np.empty(m), np.empty((m, 4)), np.zeros(m))


def layout(dimension: Size, size: Directions) -> State:
    """What a sketch of `size` directions with room for `dimension` slots is made of.

    >>> sketch = init(2, 1)
    >>> for x, y in [(3.0, 4.0), (-6.0, -8.0)] * 50:
    ...     update(sketch, np.array([0, 1], np.uint32), np.array([x, y]))
    >>> eigenvalues(sketch).round(1), directions(sketch).round(3)
    (array([62.4]), array([[0.6, 0.8]]))
    """
    width = width_of(size)
    return State(
        table=float64(dimension, width, aligned=True),
        basis=float64(size, width),
        coefficients=float64(width),
        mass=float64(size, least=0.0),
        touched=uint32(dimension),
        counts=float64(3, fill=(0.0, 0.0, 1.0), least=(0.0, 0.0, 1.0), most=(inf, dimension, inf)),
    )


def begin(state: Any, settings: Any) -> None:
    """Make F the identity, and all of w be u."""
    np.fill_diagonal(state.basis[:, LEAD:], 1.0)
    state.coefficients[0] = 1.0


init, grow = made_from(layout, begin)


def check(state: State) -> None:
    """Refuse a list of slots that are not those with a scale."""
    check_list(state.touched[: int(state.counts[1])], state.table[:, 1] != 0.0, "slots seen")
    require((state.table[:, 1] >= 0.0).all(), "table has scales below 0")


@inline_source
def welcome(state, slots, values, first):
    """List the slots that are new with `first` for their scale; they start the directions that have none yet."""
    before = int(state.counts[1])
    seen = register_new_slots(state.table, state.touched, before, slots, values, first)
    for k in range(before, min(seen, len(state.mass))):
        state.table[state.touched[k], LEAD + k] = 1.0
    state.counts[1] = seen


@force_inline
def absorb(state, along, square, gamma, turns):
    """Take g into P, `along` (m,) from V g to that of the V to come, and plan how to `turn` F; `square` is g'g.

    With V g = v the new V g is L^-1 (1 + gamma g'g) v, and (L^-1 v)_i = v_i / (r_i r_(i-1)).
    """
    c = 2.0 * gamma + gamma * gamma * square
    longer = 1.0 + gamma * square
    before = inverse_before = 1.0
    for i in range(len(along)):
        v = along[i]
        state.mass[i] += v * v
        tau = before + c * v * v  # r_i^2
        inverse = 1.0 / tau
        decay, push = before * inverse, v * inverse
        shrink = np.sqrt(decay)  # 1 / L_ii
        turns[i, 0], turns[i, 1], turns[i, 2], turns[i, 3] = shrink, c * v * shrink, decay, push
        along[i] = longer * v * inverse_before * shrink  # = longer push / shrink, and a division less
        before, inverse_before = tau, inverse
    state.counts[2] *= before


@force_inline
def turn(basis, coefficients, turns, moves):
    """F <- L^-1 F by a running sum down each column, and b <- b + F' moves."""
    for column in range(0, len(coefficients), LANES):
        turn_lanes(basis, turns, moves, column, coefficients)


@inline_source
def reorthonormalise_if_due(state):
    """Make V orthonormal again when the directions have grown so far since the last time that digits are at stake."""
    if not state.counts[2] <= MOST_GROWTH:
        reorthonormalise_again(state)


@kernel
def reorthonormalise_again(state):
    """Make V orthonormal afresh and F the identity."""
    reorthonormalise(state.table, state.touched[: int(state.counts[1])], state.basis, state.coefficients)
    m, width = state.basis.shape
    for i in range(m):
        for j in range(width):
            state.basis[i, j] = j == LEAD + i
    state.counts[2] = 1.0


@kernel
def update(state, slots, values):
    """Sketch one vector, given by its slots (uint32, none twice) and values."""
    work = make_room(state, len(slots))
    welcome(state, slots, values, 1.0)
    gather(state.table, slots, values, work.projected)
    multiply(state.basis, work.projected, work.along)
    state.counts[0] += 1.0
    gamma = 1.0 / state.counts[0]
    absorb(state, work.along, square_of(values, len(values)), gamma, work.turns)
    turn(state.basis, state.coefficients, work.turns, work.moves)
    for j in range(LEAD, len(work.step)):
        work.step[j] = gamma * work.projected[j]
    add_outer(state.table, slots, values, work.step)
    reorthonormalise_if_due(state)


def directions(state: State) -> np.ndarray:
    """V (m, d): orthonormal rows, but for directions that no slot has started yet, which are zero."""
    return state.basis @ state.table.T


def eigenvalues(state: State) -> np.ndarray:
    """Estimated eigenvalues (m,) of the mean of g g', in the order of `directions`."""
    return state.mass / max(state.counts[0], 1.0)
