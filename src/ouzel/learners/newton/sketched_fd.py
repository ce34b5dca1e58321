"""Sketched online Newton with Frequent Directions, for sparse examples.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), "Efficient Second Order Online Learning by Sketching", Algorithms 1, 6 and
8, section 5.2. The metric is A = alpha I + S'S, S = [P^(1/2) V; G] the sketch of
h = sqrt(curvature + eta / sqrt(t)) g, g the gradient (see `sketches.sparse_frequent_directions`):
    sketch h,    w <- w - A^-1 g,    A^-1 = (I - S' (alpha I + S S')^-1 S) / alpha.
With w = u + V'b + G'c a step's part in the sketch goes to b and c, the rest to u: O(m^2 + m s) for s non-zeros. Of
B = I + S S' / alpha its Cholesky factor L is kept, which gains a row a vector; the paper's rank-two updates of the
inverse lose digits where alpha is small.

Sketch size 0 is online gradient descent; for `diagonal` see `sketched_newton`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source, kernel
from ouzel.kernels.simd import LANES, add_lanes
from ouzel.layout import float64, made_from, require
from ouzel.learners.limits import learnable
from ouzel.learners.loops import learning_in
from ouzel.learners.newton import sketched
from ouzel.learners.newton.sketched import (
    Settings,
    clip,
    fetch,
    first_scale,
    is_sketched,
    look_ahead,
    put,
    rescale,
    scale,
    sketch_scale,
)
from ouzel.sketches.spectral import sparse_frequent_directions as sketch
from ouzel.sketches.spectral.low_rank_table import LEAD, dot, gather, square_of
from ouzel.terms.bounds import projects
from ouzel.terms.losses import derivative


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

    scales: np.ndarray  # (non-zeros,)
    scaled: np.ndarray  # (non-zeros,)
    projected: np.ndarray  # (width,)
    shift: np.ndarray  # (4,)  what u gains for 1 of D^-1/2 x
    solved: np.ndarray  # (2 m,)
    entry: np.ndarray  # (width,)
    spare: np.ndarray  # as long as rows of a turn


@kernel
def make_room(state, nonzeros):
    """Room to work in for examples of up to so many non-zeros."""
    m, width = len(state.mass), state.table.shape[1]
    scales, scaled, shift, spare = (
        np.empty(nonzeros),
        np.empty(nonzeros),
        np.zeros(LANES),
        np.empty(state.turns.shape[1]),
    )
    return Work(scales, scaled, np.empty(width), shift, np.empty(2 * m), np.empty(width), spare)


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    size = int(settings.sketch_size)
    return State(*sketch.layout(dimension, size), factor=float64(size, 2 * size))


init, grow = made_from(layout, sketch.begin)


def check(state: State, settings: Settings) -> None:
    """Refuse a sketch that contradicts itself, and a factor whose diagonal is below 1."""
    sketch.check(state)
    own = np.diagonal(state.factor, len(state.mass))[: int(state.counts[sketch.FILLED])]
    require((own >= 1.0).all(), "factor is not one of a matrix above the identity")


@inline_source
def _learn(state, indices, values, target, importance, settings, work):
    if importance == 0.0:
        return _predict(state, indices, values, settings, work)
    if fetch(state.table, indices, values, work.scales) > 0:
        sketch.welcome(state, indices, values, first_scale(settings))
        fetch(state.table, indices, values, work.scales)
    scale(values, work.scales, work.scaled)
    sketch.bring_up(state, indices, work.spare)
    gather(state.table, indices, work.scaled, work.projected)
    free = dot(work.projected, state.coefficients)
    margin = clip(free, settings)
    state.counts[0] += 1.0
    slope = importance * derivative(settings.loss, margin, target)
    square = square_of(work.scaled, len(indices))
    rate = settings.learning_rate
    if learnable(slope, square, free):
        if projects(settings.bound) and free != margin:
            inverse = square - _solve(state, work.projected, rate, work.solved)  # alpha x' A^-1 x
            if inverse > 0.0:
                _move(state, (free - margin) / inverse, rate, work)
                add_lanes(state.table, indices, work.scaled, 0, work.shift)
        if slope != 0.0:
            if settings.diagonal:
                rescale(values, slope, work.scales, work.scaled)
                put(state.table, indices, work.scales)
                square = square_of(work.scaled, len(indices))
                gather(state.table, indices, work.scaled, work.projected)
            _sketch(state, indices, square, slope, settings, work)
            _solve(state, work.projected, rate, work.solved)
            _move(state, slope * rate, rate, work)
            add_lanes(state.table, indices, work.scaled, 0, work.shift)
    return margin


@force_inline
def _sketch(state, indices, square, slope, settings, work):
    """Sketch the gradient, and bring `projected` up to date."""
    factor = sketch_scale(slope, state.counts[0], settings)
    if len(state.mass) > 0 and factor * factor * square > 0.0 and is_sketched(state.counts[0], settings):
        column = sketch.enter(state, indices, work.scaled, factor, work.projected, square)
        if sketch.epoch_is_full(state):  # the step is then taken with the new directions
            sketch.end_epoch(state)
            gather(state.table, indices, work.scaled, work.projected)
        else:
            work.projected[column] = factor * square
            _extend(state, settings.learning_rate)


@force_inline
def _extend(state, rate):
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
def _solve(state, projected, rate, out):
    """out = B^-1 S x / alpha, from `projected` = table' x; return x' S' times that."""
    m, filled = len(state.mass), int(state.counts[sketch.FILLED])
    total = 0.0
    for i in range(m):
        out[i] = np.sqrt(state.mass[i] * rate / (1.0 + state.mass[i] * rate)) * projected[LEAD + i]
        total += out[i] * out[i]
    for k in range(filled):
        rest = np.sqrt(rate) * projected[LEAD + m + k]
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
def _move(state, length, rate, work):
    """w <- w - length (x - S' B^-1 S x / alpha); u's part of it goes to `shift`."""
    m, solved = len(state.mass), work.solved
    work.shift[0] = -length
    for i in range(m):
        state.coefficients[LEAD + i] += length * np.sqrt(state.mass[i]) * solved[i]
    for k in range(int(state.counts[sketch.FILLED])):
        state.coefficients[LEAD + m + k] += length * solved[m + k]


learn_row, learn_rows = learning_in(make_room, _learn, look_ahead)


@force_inline
def _predict(state, indices, values, settings, work):
    margin = 0.0
    for k in range(len(indices)):
        if state.table[indices[k], 1] > 0.0:
            entry = work.entry
            for j in range(len(entry)):
                entry[j] = state.table[indices[k], j]
            sketch.renew(state, entry, work.spare)
            margin += dot(entry, state.coefficients) * values[k] * entry[1]
    return clip(margin, settings)


@kernel
def predict_row(state, indices, values, settings):
    """The margin of one example, clipped to the largest allowed."""
    return _predict(state, indices, values, settings, make_room(state, 0))


@kernel
def predict_rows(state, rows, settings, margins):
    """Write the margins of a block to `margins` (n,)."""
    work = make_room(state, 0)
    for i in range(len(margins)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        margins[i] = _predict(state, rows.indices[here], rows.values[here], settings, work)


def _swept(state: State) -> State:
    """The same with all of w in u and V, at the end of an epoch."""
    copy = State(*(array.copy() for array in state))
    if copy.counts[sketch.FILLED] > 0.0:
        sketch.end_epoch(copy)
    if len(copy.mass) > 0:
        sketch.sweep(copy)
    return copy


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot, as it multiplies the example's own values."""
    return sketched.weights(state._replace(table=sketch.up_to_date(state)), settings)


def eigenvalues(state: State) -> np.ndarray:
    """Estimated eigenvalues (m,) of the mean outer product of what is sketched, largest first."""
    return sketch.spectrum(state)[0] / max(state.counts[0], 1.0)


def directions(state: State) -> np.ndarray:
    """The eigenvectors (m, d) to `eigenvalues`."""
    return sketch.spectrum(state)[1]


def condition_number(state: State, settings: Settings) -> float:
    """Condition number of the metric A."""
    return float(1.0 + sketch.spectrum(state)[0].max(initial=0.0) * settings.learning_rate)


def swap_classes(state: State) -> State:
    """The state that exchanged classes would have led to."""
    copy = sketched.swap_classes(state)
    copy.turns[:, 1:, 0] *= -1.0
    return copy


def merge(states: list[State], settings: Settings) -> State:
    """Average the weights by examples seen, with the sketch of the worker that has seen most."""
    return sketched.merge([_swept(state) for state in states], settings)
