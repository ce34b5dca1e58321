"""Frequent Directions as a sketch that dual averaging of full-matrix AdaGrad is done with (see `protocol`).

Yang et al. (2025), "Dimension-Free Adaptive Subgradient Methods with Frequent Directions", ICML, Follow the Sketchy
Leader (FTSL). With V' P V the sketch of the sum of g g', and rho the sum of what Frequent Directions took off the
eigenvalues,
    w = H^-1 u,    H = delta I + (V' P V + rho I)^(1/2),    u <- u - rate g.
Vectors of the epoch under way count as in `adagrad_directions`. The table keeps u in place of w, and `coefficients`
make w of it,
    w = (u - V' (1 - h / h_i) q) / h,    q = V u,    h = delta + rho^(1/2),    h_i = delta + (P_i + rho)^(1/2):
q, and the products of u with the vectors of the epoch, are kept as u changes and as V does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.kernels.simd import add_lanes
from ouzel.kernels.vectors import dot
from ouzel.layout import float64
from ouzel.ranges import Directions, Size
from ouzel.sketches.spectral import adagrad_directions as mirror
from ouzel.sketches.spectral import newton_frequent_directions as newton
from ouzel.sketches.spectral import sparse_frequent_directions as sketch
from ouzel.sketches.spectral.low_rank_table import LEAD, gather, square_of
from ouzel.sketches.spectral.newton_frequent_directions import (
    directions,
    eigenvalues,
    look_up,
    make_room,
    margin_of,
    welcome,
)
from ouzel.sketches.spectral.sparse_frequent_directions import check

__all__ = ["check", "directions", "eigenvalues", "look_up", "make_room", "margin_of", "welcome"]

LEAST = 1e-6  # that delta may be


class State(NamedTuple):
    table: np.ndarray  # (d, width) float64  as in `adagrad_directions`, like all down to `pending`, but for u, not w
    coefficients: np.ndarray  # (width,) float64
    mass: np.ndarray  # (m,) float64  P
    products: np.ndarray  # (m, 2 m) float64
    turns: np.ndarray  # (epochs, m + 1, m + 1) float64
    touched: np.ndarray  # (d,) uint32
    recent: np.ndarray  # (d,) uint32
    counts: np.ndarray  # (5,) float64
    escaped: np.ndarray  # (1,) float64  rho
    pending: np.ndarray  # (m + 1,) float64
    damping: np.ndarray  # (1,) float64  delta
    dual: np.ndarray  # (width,) float64  what makes u out of a row
    along: np.ndarray  # (1, width) float64  products of u with the table's columns: q, and those with vectors


def layout(dimension: Size, size: Directions) -> State:
    """What a sketch of `size` directions with room for `dimension` slots is made of."""
    own = sketch.layout(dimension, size)
    width = own.coefficients.shape[0]
    return State(
        *own,
        escaped=float64(1, least=0.0),
        pending=float64(size + 1, least=0.0),
        damping=float64(1, fill=1.0, least=LEAST),
        dual=float64(width),
        along=float64(1, width),
    )


def begin(state: Any, settings: Any) -> None:
    """Make all of u be in the table's first column, and H be what S-AdaGrad begins with."""
    state.damping[0] = np.sqrt(settings.first_square)
    state.dual[0] = 1.0
    refresh(state)


@force_inline
def outside(state):
    """The eigenvalue h of H outside the directions."""
    return state.damping[0] + np.sqrt(state.escaped[0] + state.pending[len(state.mass)])


@force_inline
def inside(state, i):
    """The eigenvalue h_i of H along a direction."""
    m = len(state.mass)
    return state.damping[0] + np.sqrt(state.escaped[0] + state.pending[m] + state.mass[i] + state.pending[i])


@force_inline
def rate_of(state, rate):
    """The step size outside the directions."""
    return rate / outside(state)


@force_inline
def refresh(state):
    """Have `coefficients` make w of u."""
    m, delta = len(state.mass), state.damping[0]
    escaped = state.escaped[0] + state.pending[m]
    beyond = 1.0 / (delta + np.sqrt(escaped))
    state.coefficients[0] = beyond
    for i in range(m):
        along = state.along[0, LEAD + i]
        root = delta + np.sqrt(escaped + state.mass[i] + state.pending[i])
        state.coefficients[LEAD + i] = (state.dual[LEAD + i] - along) * beyond + along / root


@force_inline
def put_dual(state):
    """Let `coefficients` make u of rows, as the sketch changes them."""
    for j in range(len(state.dual)):
        state.coefficients[j] = state.dual[j]


@force_inline
def take_dual(state):
    """Take `coefficients`, as the sketch left them, for those of u."""
    for j in range(len(state.dual)):
        state.dual[j] = state.coefficients[j]
    if state.counts[sketch.EPOCH] == 0.0:  # after a sweep V is new by rounding, and these are V u
        for j in range(LEAD, len(state.dual)):
            state.along[0, j] = state.dual[j]


@force_inline
def end_epoch(state):
    """Decompose; what eigenvalues are reduced by has escaped."""
    put_dual(state)
    state.escaped[0] += sketch.end_epoch(state, state.along)
    for i in range(len(state.pending)):
        state.pending[i] = 0.0
    take_dual(state)


@force_inline
def absorb(state, slots, values, size, square, rate, settings, work):
    """Take in g = `size` x of the x looked up, `square` being x'x, and bring what was looked up up to date."""
    m = len(state.mass)
    if m == 0:
        state.pending[0] += size * size * square
        return
    own = dot(work.projected, state.dual)  # u'x
    column = sketch.enter(state, slots, values, size, work.projected, square)
    state.along[0, column] = size * own
    if sketch.epoch_is_full(state):
        end_epoch(state)
        gather(state.table, slots, values, work.projected)
        return
    work.projected[column] = size * square
    mirror.count_pending(state, size, square, work)


@force_inline
def reduction(state, rate, work):
    """What directions take off x'x in h x'H^-1 x."""
    total, rest = 0.0, outside(state)
    for i in range(len(state.mass)):
        total += (1.0 - rest / inside(state, i)) * work.projected[LEAD + i] ** 2
    return total


@force_inline
def apply(state, slots, values, length, rate, work):
    """u <- u - length h x of the x looked up: w <- w - length h H^-1 x, and w is that of the current H."""
    length *= outside(state)
    for j in range(LEAD, LEAD + 2 * len(state.mass)):
        state.along[0, j] -= length * work.projected[j]
    work.projected[0] -= length * square_of(values, len(slots))
    work.shift[0] = -length
    add_lanes(state.table, slots, values, 0, work.shift)
    refresh(state)


def settle(state: Any) -> None:
    """End the epoch, and have all slots up to date; w stays, and u follows from the new H."""
    weights = sketch.up_to_date(state) @ state.coefficients
    if state.counts[sketch.FILLED] > 0.0:
        end_epoch(state)
    if len(state.mass) > 0:
        put_dual(state)
        sketch.sweep(state)
    hold(state, weights)


def hold(state: State, weights: np.ndarray) -> None:
    """Let w of a settled state be `weights` (d,), and u = H w."""
    m, rest = len(state.mass), outside(state)
    V, roots = state.table[:, LEAD : LEAD + m], np.array([inside(state, i) for i in range(m)])
    along = weights @ V
    state.table[:, 0] = rest * weights + V @ ((roots - rest) * along)
    state.dual[:] = 0.0
    state.dual[0] = 1.0
    state.along[:] = 0.0
    state.along[0, LEAD : LEAD + m] = roots * along
    refresh(state)


def extrapolate(state: State, factor: float) -> None:
    """Let the sketch, settled, be that of so many times as many vectors of the same kind."""
    state.mass[:] *= factor
    state.escaped[:] *= factor
    refresh(state)


def swap_sign(state: Any) -> None:
    """Let w be -w."""
    newton.swap_sign(state)
    state.dual[1:] *= -1.0
    state.along[:] *= -1.0
