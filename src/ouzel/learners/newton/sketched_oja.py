"""Sketched online Newton with Oja's sketch, for sparse examples.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), "Efficient Second Order Online Learning by Sketching", Algorithms 1 and 4,
section 5.2. The metric is A = alpha I + V' diag(P) V with V, P the directions and masses of an Oja sketch of
h = sqrt(curvature + eta / sqrt(t)) g, g the gradient:
    sketch h,    w <- w - A^-1 g,    A^-1 = (I - V' diag(P / (alpha + P)) V) / alpha.
With V = F Z and w = u + Z'b (see `sketches.spectral.low_rank_table`) an example of s non-zeros costs O(m^2 + m s). As Z
changes by gamma (Z h) h', u loses gamma (h'Z'b) h, so that w stays; the step's part in the sketch goes to b, the rest
to u.

Sketch size 0 is online gradient descent; for `diagonal` see `sketched`.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source
from ouzel.kernels.simd import add_lanes
from ouzel.layout import made_from
from ouzel.learners.limits import learnable
from ouzel.learners.loops import learning_in
from ouzel.learners.newton.sketched import (
    FIRST_SCALE,
    Settings,
    clip,
    condition_number,
    fetch,
    first_scale,
    is_sketched,
    look_ahead,
    merge,
    predict_in,
    predict_row,
    predict_rows,
    put,
    rescale,
    scale,
    sketch_scale,
    swap_classes,
    weights,
)
from ouzel.sketches.spectral import oja
from ouzel.sketches.spectral.low_rank_table import LEAD, add_outer, dot, gather, multiply, square_of
from ouzel.sketches.spectral.oja import State, directions, eigenvalues
from ouzel.terms.bounds import projects
from ouzel.terms.losses import derivative

__all__ = [
    "Settings",
    "State",
    "check",
    "condition_number",
    "directions",
    "eigenvalues",
    "fade",
    "grow",
    "init",
    "layout",
]
__all__ += ["fade", "learn_row", "learn_rows", "merge", "predict_row", "predict_rows", "swap_classes", "weights"]


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    return oja.layout(dimension, int(settings.sketch_size))


init, grow = made_from(layout, oja.begin)


def check(state: State, settings: Settings) -> None:
    """Refuse a sketch that contradicts itself."""
    oja.check(state)


@inline_source
def _learn(state, indices, values, target, importance, settings, work):
    if importance == 0.0:
        return predict_in(state, indices, values, settings, work.scales, work.projected)
    if fetch(state.table, indices, values, work.scales) > 0:
        oja.welcome(state, indices, values, first_scale(settings))
        fetch(state.table, indices, values, work.scales)
    scale(values, work.scales, work.scaled)
    gather(state.table, indices, work.scaled, work.projected)
    free = dot(work.projected, state.coefficients)
    margin = clip(free, settings)
    state.counts[0] += 1.0
    slope = importance * derivative(settings.loss, margin, target)
    square = square_of(work.scaled, len(indices))
    if learnable(slope, square, free):
        if projects(settings.bound) and free != margin:
            multiply(state.basis, work.projected, work.along)
            inverse = square  # alpha x' A^-1 x
            for i in range(len(work.along)):
                inverse -= _share(state.mass[i], settings) * work.along[i] ** 2
            if inverse > 0.0:
                _move(state, (free - margin) / inverse, settings, work)
                add_lanes(state.table, indices, work.scaled, 0, work.shift)
        if slope != 0.0:
            if settings.diagonal:
                rescale(values, slope, work.scales, work.scaled)
                put(state.table, indices, work.scales)
                square = square_of(work.scaled, len(indices))
                gather(state.table, indices, work.scaled, work.projected)
            multiply(state.basis, work.projected, work.along)
            size = sketch_scale(slope, state.counts[0], settings)
            if size != 0.0 and is_sketched(state.counts[0], settings):
                _sketch_and_move(state, square, slope, size, settings, work)
                add_outer(state.table, indices, work.scaled, work.step)
                oja.reorthonormalise_if_due(state)
            else:
                _move(state, slope * settings.learning_rate, settings, work)
                add_lanes(state.table, indices, work.scaled, 0, work.shift)
    return margin


@force_inline
def _share(mass, settings):
    """P / (alpha + P): how much of a step along a direction the sketch takes back."""
    return mass * settings.learning_rate / (1.0 + mass * settings.learning_rate)


@force_inline
def _move(state, length, settings, work):
    """w <- w - length (I - V' diag(P / (alpha + P)) V) x; u's part of it goes to `shift`."""
    work.shift[0] = -length
    for i in range(len(work.along)):
        part = length * work.along[i] * _share(state.mass[i], settings)
        for j in range(len(state.coefficients)):
            state.coefficients[j] += part * state.basis[i, j]


@force_inline
def _sketch_and_move(state, square, slope, size, settings, work):
    """Sketch `size` x and take the Newton step: all of it but adding `step` x' to the table."""
    along, step = work.along, work.step
    gamma = 1.0 / state.counts[0]
    for i in range(len(along)):
        along[i] *= size
    oja.absorb(state, along, size * size * square, gamma, work.turns)
    length = slope * settings.learning_rate
    step[0] = -length
    for j in range(LEAD, len(step)):
        step[j] = gamma * size * size * work.projected[j]
        step[0] -= step[j] * state.coefficients[j]
    for i in range(len(along)):
        work.moves[i] = length / size * along[i] * _share(state.mass[i], settings)
    oja.turn(state.basis, state.coefficients, work.turns, work.moves)


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay the masses and D, no further than to where it began; weights of the features as they are stay."""
    state.counts[0] = np.floor(kept * state.counts[0])
    state.mass[...] *= kept
    if not settings.diagonal:
        return
    before, root = state.table[:, 1].copy(), np.sqrt(kept)
    weight = state.table @ state.coefficients * before
    after = np.where(before > 0.0, np.minimum(before / root, FIRST_SCALE), 0.0)
    state.table[:, 1] = after
    state.coefficients[LEAD:] *= root
    state.table[:, 0] = 0.0
    scaled = np.divide(weight, after, out=np.zeros_like(weight), where=after > 0.0)
    state.table[:, 0] = scaled - state.table @ state.coefficients


learn_row, learn_rows = learning_in(oja.make_room, _learn, look_ahead)
