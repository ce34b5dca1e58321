"""Sketched online Newton with Oja's sketch, for sparse examples.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), "Efficient Second Order Online Learning by Sketching", Algorithms 1, 3, 4
and 5, section 5.2. The metric is A = alpha I + V' diag(P) V with V (m, d) orthonormal. With g the gradient,
h = sqrt(curvature + eta / sqrt(t)) g what is sketched, and gamma = 1 / t,
    P_i <- P_i + (V_i h)^2,    V <- orthonormalised (V + gamma (V h) h'),    w <- w - A^-1 g.
Kept as V = F Z and w = u + Z' b, where an example changes only its own columns of Z and u: O(m^2 + m s) an example of s
non-zeros. Two departures from the paper, both exact: the Gram matrix of the new V is I + c v v', whose Cholesky factor
is known in closed form, so that orthonormalising costs O(m^2) and not O(m^3); and as u and Z'b grow without bound while
their sum stays small, they are folded into one another before digits are lost. Direction k starts as the unit vector of
the k-th feature seen, so that nothing need be known of the features beforehand.

With `diagonal` the learner is fed D^-1/2 x, D the sums of squared gradients (0.1 to begin with). Sketch size 0 is
online gradient descent. Rows are 64-bit, for u + Z'b cancels; 32 bits would save a twentieth of the time.
"""

from __future__ import annotations

from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from ouzel._jit import inlined, kernel
from ouzel.terms.losses import Logistic, derivative

FIRST_SCALE = 0.1  # D_1
MOST_GROWTH = 1e4  # of the Gram determinant between folds
LIMIT = 1e30  # a stream that has diverged this far is predicted, but no longer learnt


class State(NamedTuple):
    table: np.ndarray  # (d, 2 + m) float64  u, D, and the column of Z, of each slot; D = 0 says it was never seen
    basis: np.ndarray  # (m, m) float64  F
    shift: np.ndarray  # (m,) float64  b
    mass: np.ndarray  # (m,) float64  P, t times the estimated eigenvalues
    touched: np.ndarray  # (d,) uint32  slots seen, in order
    counts: np.ndarray  # (3,) float64  t, slots seen, growth since the last fold


class Settings(NamedTuple):
    loss: NamedTuple = Logistic()
    sketch_size: float = 10.0  # m
    learning_rate: float = 1.0  # 1 / alpha
    curvature: float = 0.25  # sigma: 1/4 at a logistic loss's steepest, 1 / (8 C^2) for the square loss
    eta: float = 0.0  # for losses without curvature: added as eta / sqrt(t)
    sketch_every: float = 1.0
    diagonal: float = 1.0
    bound: float = 0.0  # beyond `largest`: 0 clips predictions, 1 projects weights (Lemma 1)
    largest: float = inf  # C


def init(dimension: int, settings: Settings) -> State:
    """A state that has seen nothing, with room for `dimension` slots."""
    m = int(settings.sketch_size)
    return State(
        np.zeros((dimension, 2 + m)),
        np.eye(m),
        np.zeros(m),
        np.zeros(m),
        np.zeros(dimension, np.uint32),
        np.array([0.0, 0.0, 1.0]),
    )


def grow(state: State, dimension: int, settings: Settings) -> State:
    """The same state with room for `dimension` slots."""
    more = dimension - len(state.table)
    return state._replace(table=np.pad(state.table, ((0, more), (0, 0))), touched=np.pad(state.touched, (0, more)))


@kernel
def _touch(state, indices, values, settings):
    """Meet the slots of an example; those that are new may start a direction, the smallest first."""
    before = int(state.counts[1])
    seen = before
    for k in range(len(indices)):
        slot = indices[k]
        if state.table[slot, 1] == 0.0 and values[k] != 0.0:
            state.table[slot, 1] = FIRST_SCALE if settings.diagonal != 0.0 else 1.0
            state.touched[seen] = slot
            seen += 1
    if before < len(state.shift) and seen > before:
        state.touched[before:seen] = np.sort(state.touched[before:seen])
        for k in range(before, min(seen, len(state.shift))):
            state.table[state.touched[k], 2 + k] = 1.0
    state.counts[1] = seen


@kernel
def _project(state, indices, scaled, sketched):
    """u'x of an example given as scaled values; Zx goes to `sketched` (m,); also x'x."""
    m = len(state.shift)
    sketched[:] = 0.0
    plain = 0.0
    square = 0.0
    for k in range(len(indices)):
        row = state.table[indices[k]]
        x = scaled[k]
        plain += row[0] * x
        square += x * x
        for i in range(m):
            sketched[i] += row[2 + i] * x
    return plain, square


@kernel
def _margin(state, plain, sketched):
    for i in range(len(sketched)):
        plain += state.shift[i] * sketched[i]
    return plain


@kernel
def _clip(margin, settings):
    return min(max(margin, -settings.largest), settings.largest)


@kernel
def predict_row(state, indices, values, settings):
    """The margin of one example, clipped to the largest allowed."""
    margin = 0.0
    for k in range(len(indices)):
        row = state.table[indices[k]]
        if row[1] > 0.0:
            weight = row[0] + 0.0
            for i in range(len(state.shift)):
                weight += row[2 + i] * state.shift[i]
            margin += weight * values[k] / np.sqrt(row[1])
    return _clip(margin, settings)


@kernel
def _turn(state, along, c):
    """F <- L^-1 F with L the Cholesky factor of I + c v v', v = `along`; return the last tau, the Gram determinant."""
    m = len(along)
    before = 1.0
    running = np.zeros(m)
    for i in range(m):
        tau = before + c * along[i] * along[i]
        diagonal = np.sqrt(tau / before)
        weight = along[i] / np.sqrt(tau * before)
        for j in range(m):
            state.basis[i, j] = (state.basis[i, j] - c * along[i] * running[j]) / diagonal
            running[j] += weight * state.basis[i, j]
        before = tau
    return before


@kernel
def _fold(state):
    """Z <- FZ orthonormalised afresh, F <- I, and w split anew into u + Z'b with b = Zw."""
    m = len(state.shift)
    seen = int(state.counts[1])
    gram = np.zeros((m, m))
    column = np.empty(m)
    for k in range(seen):
        row = state.table[state.touched[k]]
        weight = row[0] + 0.0
        for i in range(m):
            weight += row[2 + i] * state.shift[i]
            column[i] = 0.0
            for j in range(m):
                column[i] += state.basis[i, j] * row[2 + j]
        row[0] = weight
        for i in range(m):
            row[2 + i] = column[i]
            for j in range(i + 1):
                gram[i, j] += column[i] * column[j]
    for i in range(m):
        for j in range(i + 1):
            rest = gram[i, j]
            for k in range(j):
                rest -= gram[i, k] * gram[j, k]
            gram[i, j] = rest / gram[j, j] if j < i else np.sqrt(rest) if rest > 0.0 else 1.0
    state.shift[:] = 0.0
    for k in range(seen):
        row = state.table[state.touched[k]]
        for i in range(m):
            rest = row[2 + i] + 0.0
            for j in range(i):
                rest -= gram[i, j] * row[2 + j]
            row[2 + i] = rest / gram[i, i]
            state.shift[i] += row[2 + i] * row[0]
    for k in range(seen):
        row = state.table[state.touched[k]]
        for i in range(m):
            row[0] -= row[2 + i] * state.shift[i]
    state.basis[:] = 0.0
    for i in range(m):
        state.basis[i, i] = 1.0
    state.counts[2] = 1.0


@kernel
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    m = len(state.shift)
    scaled = np.empty(len(indices))
    sketched = np.empty(m)  # Z x
    _touch(state, indices, values, settings)
    for k in range(len(indices)):
        scaled[k] = values[k] / np.sqrt(state.table[indices[k], 1]) if values[k] != 0.0 else 0.0
    plain, square = _project(state, indices, scaled, sketched)
    free = _margin(state, plain, sketched)
    margin = _clip(free, settings)
    state.counts[0] += 1.0
    slope = importance * derivative(settings.loss, margin, target)
    if not (abs(slope) < LIMIT and square < LIMIT and abs(free) < LIMIT):
        return margin

    along = np.zeros(m)  # V x
    for i in range(m):
        for j in range(m):
            along[i] += state.basis[i, j] * sketched[j]
    step = slope * settings.learning_rate
    if settings.bound != 0.0 and free != margin:
        inverse = square  # alpha x' A^-1 x
        for i in range(m):
            inverse -= _share(state.mass[i], settings) * along[i] ** 2
        if inverse > 0.0:
            step += _move(state, along, (free - margin) / inverse, settings)
    if slope != 0.0:
        step += _newton(state, sketched, along, square, slope, indices, scaled, settings)
    if step != 0.0:
        for k in range(len(indices)):
            state.table[indices[k], 0] -= step * scaled[k]
            if settings.diagonal != 0.0:
                state.table[indices[k], 1] += (slope * values[k]) ** 2
    if state.counts[2] > MOST_GROWTH:
        _fold(state)
    return margin


@inlined
def _share(mass, settings):
    """P / (alpha + P): how much of a step along a direction the sketch takes back."""
    return mass * settings.learning_rate / (1.0 + mass * settings.learning_rate)


@kernel
def _move(state, along, length, settings):
    """b <- b + length F' diag(P / (alpha + P)) along: the part in the sketch of a step; returns the length."""
    m = len(along)
    for i in range(m):
        part = length * along[i] * _share(state.mass[i], settings)
        for j in range(m):
            state.shift[j] += part * state.basis[i, j]
    return length


@kernel
def _newton(state, sketched, along, square, slope, indices, scaled, settings):
    """Sketch the gradient, then take the sketch's part of the Newton step; return what is left for u."""
    m = len(along)
    rounds = state.counts[0]
    size = slope * np.sqrt(settings.curvature + settings.eta / np.sqrt(rounds))
    gamma = settings.sketch_every / rounds
    c = 2.0 * gamma + gamma * gamma * size * size * square
    left = 0.0
    if m > 0 and size != 0.0 and rounds % settings.sketch_every == 0.0 and isfinite(c * size * size):
        for i in range(m):
            left += gamma * size * size * sketched[i] * state.shift[i]
            along[i] *= size
            state.mass[i] += along[i] ** 2
        state.counts[2] *= _turn(state, along, c)
        for k in range(len(indices)):
            row = state.table[indices[k]]
            x = gamma * size * size * scaled[k]
            for i in range(m):
                row[2 + i] += x * sketched[i]
        grown = 1.0 + gamma * size * size * square
        for i in range(m):
            along[i] = 0.0
            for j in range(m):
                along[i] += grown * state.basis[i, j] * sketched[j]
    _move(state, along, slope * settings.learning_rate, settings)
    return left


@kernel
def learn_rows(state, rows, targets, importances, settings, margins):
    """Learn a block; `margins` (n,) takes the predictions made before learning each example."""
    for i in range(len(targets)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        margins[i] = learn_row(state, rows.indices[here], rows.values[here], targets[i], importances[i], settings)


@kernel
def predict_rows(state, rows, settings, margins):
    """Write the margins of a block to `margins` (n,)."""
    for i in range(len(margins)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        margins[i] = predict_row(state, rows.indices[here], rows.values[here], settings)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot, as it multiplies the example's own values."""
    whole = state.table[:, 0] + state.table[:, 2:] @ state.shift
    return np.where(state.table[:, 1] > 0.0, whole / np.sqrt(np.maximum(state.table[:, 1], 1e-30)), 0.0)


def directions(state: State) -> np.ndarray:
    """V (m, d), the sketched directions, orthonormal rows (in the scaled space if `diagonal`)."""
    return state.basis @ state.table[:, 2:].T


def eigenvalues(state: State) -> np.ndarray:
    """Estimated eigenvalues (m,) of the average outer product of what was sketched, in the order of `directions`."""
    return state.mass / max(state.counts[0], 1.0)


def condition_number(state: State, settings: Settings) -> float:
    """Condition number of the metric A that the sketch stands for."""
    return float(1.0 + state.mass.max(initial=0.0) * settings.learning_rate)


def mirror(state: State) -> State:
    """The state that exchanged classes would have led to."""
    table = state.table.copy()
    table[:, 0] *= -1
    return state._replace(
        table=table,
        basis=state.basis.copy(),
        shift=-state.shift,
        mass=state.mass.copy(),
        touched=state.touched.copy(),
        counts=state.counts.copy(),
    )


def merge(states: list[State], settings: Settings) -> State:
    """Average the weights by examples seen, with the sketch of the worker that has seen most: sketches do not add."""
    seen = np.array([state.counts[0] for state in states])
    first = mirror(mirror(states[int(seen.argmax())]))
    mean = np.average([weights(state, settings) for state in states], axis=0, weights=np.maximum(seen, 1e-9))
    scale = np.sqrt(first.table[:, 1])
    first.table[:, 0] = mean * scale - first.table[:, 2:] @ first.shift
    return first
