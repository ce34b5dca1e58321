"""Robust Frequent Directions as a sketch that Newton steps are taken with (see `newton_frequent_directions`).

Luo, Chen, Zhang, Li & Zhang (2019), "Robust Frequent Directions with Application in Online Learning", JMLR 20.
Frequent Directions reduce every eigenvalue by the m-th, l, at the end of an epoch, so S'S is below the sum of outer
products. Half of it goes to the damping instead,
    alpha <- alpha + l / 2,
which halves the bound on the error of alpha I + S'S in the spectral norm. The paper decomposes once a
vector; here it is once an epoch of m vectors, to which the same bound applies.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import float64
from ouzel.ranges import Directions, Size
from ouzel.sketches.spectral import newton_frequent_directions as newton
from ouzel.sketches.spectral import sparse_frequent_directions as sketch
from ouzel.sketches.spectral.low_rank_table import gather
from ouzel.sketches.spectral.newton_frequent_directions import (
    apply,
    begin,
    check,
    directions,
    eigenvalues,
    look_up,
    make_room,
    margin_of,
    reduction,
    swap_sign,
    welcome,
)

__all__ = [
    "apply", "begin", "check", "directions", "eigenvalues", "look_up", "make_room", "margin_of", "reduction",
    "swap_sign", "welcome",
]  # fmt: skip


class State(NamedTuple):
    table: np.ndarray  # (d, width) float64  that of `newton_frequent_directions`, as all down to `factor`
    coefficients: np.ndarray  # (width,) float64
    mass: np.ndarray  # (m,) float64  P
    products: np.ndarray  # (m, 2 m) float64
    turns: np.ndarray  # (epochs, m + 1, m + 1) float64
    touched: np.ndarray  # (d,) uint32
    recent: np.ndarray  # (d,) uint32
    counts: np.ndarray  # (5,) float64
    factor: np.ndarray  # (m, 2 m) float64
    gained: np.ndarray  # (1,) float64  alpha less what it was at first


def layout(dimension: Size, size: Directions) -> State:
    """What a sketch of `size` directions with room for `dimension` slots is made of."""
    return State(*newton.layout(dimension, size), gained=float64(1, least=0.0))


@force_inline
def rate_of(state, rate):
    """1 / alpha, where it was `rate` at first."""
    return rate / (1.0 + rate * state.gained[0])


@force_inline
def absorb(state, slots, values, size, square, rate, settings, work):
    """Take in `size` x of the x looked up, `square` being x'x, and bring what was looked up up to date."""
    if len(state.mass) > 0 and size * size * square > 0.0:
        column = sketch.enter(state, slots, values, size, work.projected, square)
        if sketch.epoch_is_full(state):
            state.gained[0] += 0.5 * sketch.end_epoch(state, state.table[:0])
            gather(state.table, slots, values, work.projected)
        else:
            work.projected[column] = size * square
            newton.extend_factor(state, rate)


def settle(state: Any) -> None:
    """End the epoch, and have all of w in u."""
    if state.counts[sketch.FILLED] > 0.0:
        state.gained[0] += 0.5 * sketch.end_epoch(state, state.table[:0])
    newton.settle(state)


def extrapolate(state: State, factor: float) -> None:
    """Let the sketch, settled, be that of so many times as many vectors of the same kind."""
    state.mass[:] *= factor
    state.gained[:] *= factor
