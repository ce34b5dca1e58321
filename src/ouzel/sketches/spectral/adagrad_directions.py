"""Frequent Directions as a sketch that full-matrix AdaGrad steps are taken with (see `sketches.spectral.protocol`).

Feinberg, Chen, Sun, Anil & Hazan (2023), "Sketchy: Memory-efficient Adaptive Regularization with Frequent Directions",
Algorithm 2 (S-AdaGrad). With G = V' P V the sketch of the sum of g g', l_t what Frequent Directions reduce all
eigenvalues by, and rho = delta + sum of l_t, the mass that has escaped,
    A = (V' P V + rho I)^(1/2).
The paper decomposes once a vector; here it is once an epoch of m vectors. Vectors h of the epoch under way count at
once, without being decomposed: P_i gains (v_i'h)^2, rho the square of what lies outside V.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.kernels.simd import add_lanes
from ouzel.layout import float64
from ouzel.ranges import Directions, Size
from ouzel.sketches.spectral import newton_frequent_directions as newton
from ouzel.sketches.spectral import sparse_frequent_directions as sketch
from ouzel.sketches.spectral.low_rank_table import LEAD, gather
from ouzel.sketches.spectral.newton_frequent_directions import (
    directions,
    eigenvalues,
    look_up,
    make_room,
    margin_of,
    swap_sign,
    welcome,
)
from ouzel.sketches.spectral.sparse_frequent_directions import check

__all__ = ["check", "directions", "eigenvalues", "look_up", "make_room", "margin_of", "swap_sign", "welcome"]

LEAST = 1e-12  # that rho may be


class State(NamedTuple):
    table: np.ndarray  # (d, width) float64  that of `sparse_frequent_directions`, as all down to `counts`
    coefficients: np.ndarray  # (width,) float64
    mass: np.ndarray  # (m,) float64  P
    products: np.ndarray  # (m, 2 m) float64
    turns: np.ndarray  # (epochs, m + 1, m + 1) float64
    touched: np.ndarray  # (d,) uint32
    recent: np.ndarray  # (d,) uint32
    counts: np.ndarray  # (5,) float64
    escaped: np.ndarray  # (1,) float64  rho
    pending: np.ndarray  # (m + 1,) float64  what vectors of the epoch add to P, and to rho


def layout(dimension: Size, size: Directions) -> State:
    """What a sketch of `size` directions with room for `dimension` slots is made of."""
    own = sketch.layout(dimension, size)
    return State(*own, escaped=float64(1, fill=1.0, least=LEAST), pending=float64(size + 1, least=0.0))


def begin(state: Any, settings: Any) -> None:
    """Make all of w be u, and rho be delta."""
    sketch.begin(state, settings)
    state.escaped[0] = settings.first_square


@force_inline
def rate_of(state, rate):
    """The step size outside the directions, `rate` / rho^(1/2)."""
    return rate / np.sqrt(state.escaped[0] + state.pending[len(state.mass)])


@force_inline
def end_epoch(state):
    """Decompose; what eigenvalues are reduced by has escaped."""
    state.escaped[0] += sketch.end_epoch(state, state.table[:0])
    for i in range(len(state.pending)):
        state.pending[i] = 0.0


@force_inline
def absorb(state, slots, values, size, square, rate, settings, work):
    """Take in g = `size` x of the x looked up, `square` being x'x, and bring what was looked up up to date."""
    m = len(state.mass)
    if m == 0:
        state.pending[0] += size * size * square
        return
    column = sketch.enter(state, slots, values, size, work.projected, square)
    if sketch.epoch_is_full(state):
        end_epoch(state)
        gather(state.table, slots, values, work.projected)
        return
    work.projected[column] = size * square
    count_pending(state, size, square, work)


@force_inline
def count_pending(state, size, square, work):
    """Count a vector of the epoch under way, of which `work.projected` is looked up."""
    m, rest = len(state.mass), size * size * square
    for i in range(m):
        along = size * work.projected[LEAD + i]
        state.pending[i] += along * along
        rest -= along * along
    state.pending[m] += max(rest, 0.0)


@force_inline
def reduction(state, rate, work):
    """What directions take off x'x in rho^(1/2) x'A^-1 x; `work.solved` becomes their part of the step."""
    m, total = len(state.mass), 0.0
    escaped = state.escaped[0] + state.pending[m]
    for i in range(m):
        part = 1.0 - np.sqrt(escaped / (escaped + state.mass[i] + state.pending[i]))
        work.solved[i] = part * work.projected[LEAD + i]
        total += work.solved[i] * work.projected[LEAD + i]
    return total


@force_inline
def apply(state, slots, values, length, rate, work):
    """w <- w - length rho^(1/2) A^-1 x of the x looked up."""
    reduction(state, rate, work)
    for i in range(len(state.mass)):
        state.coefficients[LEAD + i] += length * work.solved[i]
    work.shift[0] = -length
    add_lanes(state.table, slots, values, 0, work.shift)


def settle(state: Any) -> None:
    """End the epoch, and have all of w in u."""
    if state.counts[sketch.FILLED] > 0.0:
        end_epoch(state)
    newton.settle(state)


def extrapolate(state: State, factor: float) -> None:
    """Let the sketch, settled, be that of so many times as many vectors of the same kind."""
    state.mass[:] *= factor
    state.escaped[:] = np.maximum(state.escaped * factor, LEAST)
