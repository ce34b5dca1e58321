"""Oja's sketch: the leading eigenvectors and eigenvalues of a stream of sparse vectors.

Oja (1982) as used by Luo, Agarwal, Cesa-Bianchi & Langford (2016), eq. (4) and Algorithm 5: a vector g has
    P_i <- P_i + (V_i g)^2,    V <- orthonormalised (V + Gamma (V g) g'),    Gamma diagonal,
where P / t estimates the eigenvalues of the mean of g g'. With V = F Z (see `low_rank_table`) it costs O(m^2 + m s) for
s non-zeros: Z <- Z + F^-1 (Gamma V g) g', where F is lower triangular; and the Gram matrix of the rows before they are
made orthonormal again is I + W K W', W = [V g, Gamma V g] and K of two by two, whose Cholesky factor L follows from K:
    L_ii^2 = 1 + w_i'K w_i,  L_ji = w_j'K w_i / L_ii,  K <- K - K w_i w_i'K / L_ii^2.
The paper's O(m^3) is then two running sums down each column of F. Where directions start: `starting_directions`.

Of Gamma the paper asks for Theta(1 / t). `by_mass` it is c / P: then it does not matter in which units g is, and a
direction turns fast until it has found something, as in Weng, Zhang & Hwang (2003), "Candid covariance-free incremental
principal component analysis". Otherwise it is c / t for all.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source, kernel
from ouzel.kernels.simd import LANES, add_lanes, turn_lanes
from ouzel.layout import check_list, float64, made_from, require, uint32
from ouzel.ranges import Directions, Size
from ouzel.sketches.spectral.low_rank_table import (
    LEAD,
    add_outer,
    gather,
    margin_of,
    multiply,
    orthonormal_rows,
    register_new_slots,
    reorthonormalise,
    settle,
    square_of,
    width_of,
)
from ouzel.sketches.spectral.starting_directions import begin_at, start_listed, start_new
from ouzel.sketches.spectral.turning_steps import common_step, step_by_mass
from ouzel.terms.starts import FirstSeen

__all__ = ["margin_of", "settle"]

MOST_GROWTH = 1e3  # of the rows of Z between two times that V is made orthonormal


class State(NamedTuple):
    # 64 bits throughout: what is kept grows while its combinations stay small.
    table: np.ndarray  # (d, width) float64  u, the scale and the column of Z of each slot
    basis: np.ndarray  # (m, width) float64  F, in the columns of Z
    coefficients: np.ndarray  # (width,) float64  1, 0, b: what makes w out of a row
    mass: np.ndarray  # (m,) float64  P, t times the estimated eigenvalues
    touched: np.ndarray  # (d,) uint32  slots seen, in order
    counts: np.ndarray  # (3,) float64  t, slots seen, growth since V was last made orthonormal
    pool: np.ndarray  # (m, width) float64  rows of virtual slots, which all that are not seen yet turn into
    start: np.ndarray  # (3,) float64  how directions start, its number, the seed


class Work(NamedTuple):
    """Room to work in."""

    projected: np.ndarray  # (width,)
    step: np.ndarray  # (width,)  what a slot's row gains for 1 of its value
    shift: np.ndarray  # (4,)  the same where only u changes
    along: np.ndarray  # (m,)  V x
    gains: np.ndarray  # (m,)  Gamma V g
    turns: np.ndarray  # (m, 5)  what `turn` does to each row of F
    moves: np.ndarray  # (m,)  what it adds to b of each
    size: np.ndarray  # (1,)  of the vector that the sketch is taking in, as a multiple of x; 0 for none


class Steps(NamedTuple):
    """How fast directions turn."""

    gamma: float
    by_mass: bool


@kernel
def make_room(state):
    """Room to work in."""
    m, width = state.basis.shape
    projected, step, shift = np.empty(width), np.zeros(width), np.zeros(LANES)
    return Work(projected, step, shift, np.empty(m), np.empty(m), np.empty((m, 5)), np.zeros(m), np.zeros(1))


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
        pool=float64(size, width),
        start=float64(3, least=0.0, most=(2.0, 2.0**48, 2.0**32)),
    )


def begin(state: Any, settings: Any) -> None:
    """Make F the identity, and all of w be u; directions begin as the settings say, or with the first slots seen."""
    np.fill_diagonal(state.basis[:, LEAD:], 1.0)
    state.coefficients[0] = 1.0
    begin_at(state, getattr(settings, "start", FirstSeen()), getattr(settings, "sketch_seed", 0))


init, grow = made_from(layout, begin)


def check(state: State) -> None:
    """Refuse a list of slots that are not those with a scale, and a basis that has no inverse."""
    check_list(state.touched[: int(state.counts[1])], state.table[:, 1] != 0.0, "slots seen")
    require((state.table[:, 1] >= 0.0).all(), "table has scales below 0")
    require((np.diagonal(state.basis, LEAD) > 1e-9).all(), "basis is not one of directions")
    rows = np.hstack([vectors(state), state.basis @ state.pool.T])
    require(abs(rows @ rows.T - np.eye(len(rows))).max(initial=0.0) < 1e-4, "directions are not orthonormal")


@kernel
def welcome(state, slots, values, first):
    """List the slots that are new with `first` for their scale, and have them start directions."""
    before = int(state.counts[1])
    start_new(state, slots, values)
    seen = register_new_slots(state.table, state.touched, before, slots, values, first)
    state.counts[1] = seen
    start_listed(state, before, seen)


@force_inline
def look_up(state, slots, values, work):
    """Project x: `work.projected` is table' x."""
    gather(state.table, slots, values, work.projected)


@force_inline
def reduction(state, rate, work):
    """x'V' diag(P / (alpha + P)) V x of the x looked up: what the sketch takes off x'x in alpha x'A^-1 x."""
    multiply(state.basis, work.projected, work.along)
    total = 0.0
    for i in range(len(work.along)):
        total += _share(state.mass[i], rate) * work.along[i] ** 2
    return total


@force_inline
def _share(mass, rate):
    """P / (alpha + P): how much of a step along a direction the sketch takes back."""
    return mass * rate / (1.0 + mass * rate)


@force_inline
def absorb(state, slots, values, size, square, rate, settings, work):
    """Take in `size` x of the x looked up, `square` being x'x; the table follows when `apply` has come.

    With V g = v the new V g is L^-1 (v + b g'g), b = Gamma v. As Z gains F^-1 b g', u loses b'F^-1' Z' g', so that w
    stays.
    """
    multiply(state.basis, work.projected, work.along)
    work.size[0] = size
    square *= size * size
    _gain(state, square, settings, work)
    a, b, c = 0.0, 1.0, square  # K
    first = second = 0.0  # the running sums of `turn`, for the column that V g is
    least = 1.0  # of the diagonal of F
    for i in range(len(work.along)):
        v, w = size * work.along[i], work.gains[i]
        left, right = a * v + b * w, b * v + c * w  # K w_i
        squared = max(1.0 + v * left + w * right, 1e-12)  # L_ii^2
        inverse = 1.0 / squared
        push, other, shrink = left * inverse, right * inverse, np.sqrt(inverse)
        turns = work.turns[i]
        turns[0], turns[1], turns[2], turns[3], turns[4] = v, w, push, other, shrink
        rest = v + w * square - v * first - w * second
        first += push * rest
        second += other * rest
        a, b, c = a - left * push, b - left * other, c - right * other
        work.along[i] = rest * shrink / size
        least = min(least, state.basis[i, LEAD + i] * shrink)
    state.counts[2] = 1.0 / least


@force_inline
def _gain(state, square, settings, work):
    """P gains (V g)^2; `gains` becomes Gamma V g and `step` what Z and u gain by it."""
    size, step = work.size[0], work.step
    common = common_step(settings.gamma, state.counts[0], square)
    for i in range(len(work.along)):
        v = size * work.along[i]
        state.mass[i] += v * v
        work.gains[i] = v * (step_by_mass(settings.gamma, state.mass[i], square) if settings.by_mass else common)
    step[0] = 0.0
    for i in range(len(work.along)):
        if settings.by_mass:
            rest = work.gains[i]
            for j in range(i):
                rest -= state.basis[i, LEAD + j] * step[LEAD + j]
            step[LEAD + i] = rest / state.basis[i, LEAD + i]  # by F^-1, and below for g = size x
        else:
            step[LEAD + i] = common * size * work.projected[LEAD + i]
    for j in range(LEAD, len(step)):
        step[j] *= size
        step[0] -= step[j] * state.coefficients[j]


@force_inline
def apply(state, slots, values, length, rate, work):
    """w <- w - length alpha A^-1 x of the x looked up, which the sketch may just have taken in."""
    if work.size[0] == 0.0:
        multiply(state.basis, work.projected, work.along)
    for i in range(len(work.along)):
        work.moves[i] = length * work.along[i] * _share(state.mass[i], rate)
    if work.size[0] != 0.0:
        work.size[0] = 0.0
        turn(state.basis, state.coefficients, work.turns, work.moves)
        work.step[0] -= length
        add_outer(state.table, slots, values, work.step)
        reorthonormalise_if_due(state)
    else:
        for i in range(len(work.moves)):
            for j in range(len(state.coefficients)):
                state.coefficients[j] += work.moves[i] * state.basis[i, j]
        work.shift[0] = -length
        add_lanes(state.table, slots, values, 0, work.shift)


@force_inline
def turn(basis, coefficients, turns, moves):
    """F <- L^-1 F by running sums down each column, and b <- b + F' moves."""
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
    touched = state.touched[: int(state.counts[1])]
    reorthonormalise(state.table, touched, state.pool, state.basis, state.coefficients)
    m, width = state.basis.shape
    for i in range(m):
        for j in range(width):
            state.basis[i, j] = j == LEAD + i
    state.counts[2] = 1.0


@kernel
def update(state, slots, values):
    """Sketch one vector, given by its slots (uint32, none twice) and values, with steps 1 / t."""
    work = make_room(state)
    welcome(state, slots, values, 1.0)
    state.counts[0] += 1.0
    look_up(state, slots, values, work)
    absorb(state, slots, values, 1.0, square_of(values, len(values)), 0.0, Steps(1.0, False), work)
    apply(state, slots, values, 0.0, 0.0, work)


def vectors(state: State) -> np.ndarray:
    """V (m, d), whose rows are orthonormal together with what they have of slots not seen yet, that is of `pool`."""
    return state.basis @ state.table.T


def directions(state: State) -> np.ndarray:
    """V (m, d) over the slots that were seen, its rows orthonormal; zeros where nothing is left of one."""
    return orthonormal_rows(vectors(state))


def eigenvalues(state: State) -> np.ndarray:
    """Estimated eigenvalues (m,) of the mean of g g', in the order of `directions`."""
    return state.mass / max(state.counts[0], 1.0)


def extrapolate(state: State, factor: float) -> None:
    """Let the sketch be that of so many times as many vectors of the same kind."""
    state.mass[:] *= factor


def swap_sign(state: State) -> None:
    """Let w be -w."""
    for rows in (state.table, state.pool):
        rows[:, 0] *= -1.0
    state.coefficients[1:] *= -1.0
