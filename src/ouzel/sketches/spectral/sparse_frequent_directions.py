"""Frequent Directions of sparse vectors, decomposed once for every m of them.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), Algorithms 6, 7 and 9. The sketch is S = [D V; G]: up to m orthonormal
directions V with masses D^2, and the vectors G of the epoch under way. When there are m of those, S'S has the leading
eigenvectors V' = N_1 V + N_2 G, whose eigenvalues less the m-th are the new masses. A learner may keep weights in the
same table, w = u + V'b + G'c, which the end of an epoch makes w = u.

The paper keeps V = F Z with F <- N_1 and Z <- Z + N_1^-1 N_2 G. But N_1 has no inverse in any epoch as printed, and
hardly one otherwise: the weaker directions are replaced in nearly every epoch. So here V itself is kept, late: outside
the epoch's slots a column v of V with its u only turns to (u + b'v, N_1 v), and a slot goes through that when it is
next needed (see `lazy_maps`). A slot that has lagged costs O(m^2 log lag) once an epoch, all else O(m^2 + m s) a vector
of s non-zeros. Every so often all slots catch up, and rows are made orthonormal afresh. V g and G g are known from when
a vector came in, so neither the Gram matrix nor the Gram-Schmidt of the paper is needed.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from ouzel.kernels.eigen import symmetric_eigen
from ouzel.kernels.jit import force_inline, kernel
from ouzel.kernels.vectors import dot
from ouzel.layout import check_list, float64, made_from, require, uint32
from ouzel.ranges import Directions, Size
from ouzel.sketches.spectral.lazy_maps import catch_up, record, room_for
from ouzel.sketches.spectral.low_rank_table import (
    LEAD,
    combine,
    gather,
    register_new_slots,
    reorthonormalise,
    square_of,
    width_of,
)

TINY, FEWEST_EPOCHS = 1e-13, 32  # a square that is rounding beside the largest; between sweeps over all slots
SEEN, FILLED, RECENT, EPOCH = 1, 2, 3, 4  # in counts


class State(NamedTuple):
    table: np.ndarray  # (d, width) float64  u, its scale, the columns of V and of G, the epoch they are of
    coefficients: np.ndarray  # (width,) float64  1, 0, b, c, 0: what makes w out of a row
    mass: np.ndarray  # (m,) float64  D^2, largest first
    products: np.ndarray  # (m, 2 m) float64  of each vector of the epoch: V g, and G g up to itself
    turns: np.ndarray  # (epochs, columns, columns) float64  what ends of epochs did to (u, scale, v); products of it
    touched: np.ndarray  # (d,) uint32  slots seen, in order
    recent: np.ndarray  # (d,) uint32  slots of the epoch under way
    counts: np.ndarray  # (5,) float64  t, slots seen, vectors of the epoch, its slots, epochs since the last sweep


def layout(dimension: Size, size: Directions) -> State:
    """What a sketch of `size` directions with room for `dimension` slots is made of.

    >>> sketch = init(2, 2)
    >>> for _ in range(4):
    ...     update(sketch, np.array([0, 1], np.uint32), np.array([3.0, 4.0]))
    >>> matrix(sketch).round(6)[0]
    array([6., 8.])
    """
    epochs = epochs_between_sweeps(dimension, size)
    return State(
        table=float64(dimension, width_of(2 * size + 1), aligned=True),
        coefficients=float64(width_of(2 * size + 1)),
        mass=float64(size, least=0.0),
        products=float64(size, 2 * size),
        turns=float64(*room_for(epochs, width_of(size))),
        touched=uint32(dimension),
        recent=uint32(dimension),
        counts=float64(5, least=0.0, most=(inf, dimension, max(size - 1, 0), dimension, epochs - 1)),
    )


def begin(state, settings) -> None:
    """Make all of w be u."""
    state.coefficients[0] = 1.0


init, grow = made_from(layout, begin)


def check(state) -> None:
    """Refuse lists of slots that are not those with a scale, or with vectors; and slots ahead of the epoch."""
    m, counts, table = len(state.mass), state.counts, state.table
    require((counts[1:] == np.floor(counts[1:])).all(), "counts are not whole")
    check_list(state.touched[: int(counts[SEEN])], table[:, 1] != 0.0, "slots seen")
    require((table[:, 1] >= 0.0).all(), "table has scales below 0")
    vectors, stamps = table[:, LEAD + m : LEAD + 2 * m] != 0.0, table[:, LEAD + 2 * m]
    check_list(state.recent[: int(counts[RECENT])], vectors.any(axis=1), "slots of the epoch")
    require(not vectors[:, int(counts[FILLED]) :].any(), "table has vectors to come")
    require((stamps == np.floor(stamps)).all() and (stamps >= 0.0).all(), "table has epochs that are not whole")
    require((stamps <= counts[EPOCH]).all(), "table has epochs to come")
    require((stamps[vectors.any(axis=1)] == counts[EPOCH]).all(), "slots of the epoch have another")


@kernel
def epochs_between_sweeps(slots, size):
    """So many that a sweep costs O(m^2) an example, and what ends of epochs did takes less room than the table."""
    return max(FEWEST_EPOCHS, slots // (4 * max(size, 1)))


@kernel
def welcome(state, slots, values, first):
    """List the slots that are new with `first` for their scale."""
    before = int(state.counts[SEEN])
    seen = register_new_slots(state.table, state.touched, before, slots, values, first)
    for k in range(before, seen):
        state.table[state.touched[k], LEAD + 2 * len(state.mass)] = state.counts[EPOCH]
    state.counts[SEEN] = seen


@force_inline
def bring_up(state, slots, spare):
    """Have slots catch up with the ends of epochs since they were last needed; `spare` is as long as rows of a turn."""
    for k in range(len(slots)):
        if state.table[slots[k], LEAD + 2 * len(state.mass)] != state.counts[EPOCH]:
            renew(state, state.table[slots[k]], spare)


@force_inline
def renew(state, entry, spare):
    """Have one row of the table, or a copy of it, catch up; it has nothing of the epoch under way."""
    stamp, epoch = LEAD + 2 * len(state.mass), int(state.counts[EPOCH])
    catch_up(state.turns, int(entry[stamp]), epoch, entry[: len(spare)], spare)
    entry[stamp] = epoch


@force_inline
def enter(state, slots, values, factor, projected, square):
    """Enter g = factor x as the epoch's next vector: `projected` is table' x, `square` x'x. Return its column."""
    m, place, recent = len(state.mass), int(state.counts[FILLED]), int(state.counts[RECENT])
    for i in range(m + place):
        state.products[place, i] = factor * projected[LEAD + i]
    state.products[place, m + place] = factor * factor * square
    for k in range(len(slots)):
        row = state.table[slots[k]]
        row[LEAD + m + place] = factor * values[k]
        new = row[LEAD + m + place] != 0.0
        for j in range(LEAD + m, LEAD + m + place):
            new &= row[j] == 0.0
        if new:
            state.recent[recent] = slots[k]
            recent += 1
    state.counts[RECENT] = recent
    state.counts[FILLED] += 1.0
    return LEAD + m + place


@force_inline
def epoch_is_full(state):
    """Whether there are m vectors."""
    return state.counts[FILLED] >= len(state.mass)


@kernel
def decompose(mass, products):
    """N_1, N_2 (m, m) and the new masses (m,) of Algorithm 7, and the eigenvalue that all of them were reduced by.

    G - M V = L Q with the rows of Q orthonormal, M = G V'; in terms of V and Q, S'S is diag(D^2, 0) + [M L]' [M L].
    L is the Cholesky factor of the Gram matrix of G - M V, always with the longest rest next: divided by short ones,
    rounding errors would grow from epoch to epoch. A vector that V and those before it span has no row in Q.
    """
    m = len(mass)
    rest, back = np.empty((m, m)), np.zeros((m, m))  # Gram matrix of G - M V; inverse of L': Q = back' (G - M V)
    joined, squares, largest = np.zeros((m, 2 * m)), np.empty(m), 0.0  # [M L]; squares beyond Q, -1 of what has a row
    for i in range(m):
        largest = max(largest, products[i, m + i])
        for j in range(m):
            joined[i, j] = products[i, j]
            rest[i, j] = products[max(i, j), m + min(i, j)] - dot(products[i, :m], products[j, :m])
        squares[i] = max(rest[i, i], 0.0)
    factor = joined[:, m:]
    for k in range(m):
        longest = np.argmax(squares)
        if squares[longest] <= TINY * largest:
            break
        root = np.sqrt(squares[longest])
        for i in range(m):
            if squares[i] >= 0.0:
                factor[i, k] = (rest[i, longest] - dot(factor[i, :k], factor[longest, :k])) / root
                squares[i] = max(squares[i] - factor[i, k] * factor[i, k], 0.0)
            else:
                back[i, k] = -dot(factor[longest, :k], back[i, :k]) / root
        factor[longest, k], back[longest, k], squares[longest] = root, 1.0 / root, -1.0
    inner = joined.T @ joined
    for i in range(m):
        inner[i, i] += mass[i]
    eigenvalues, vectors = symmetric_eigen(inner)  # the smallest first
    first, second, masses = np.zeros((m, m)), np.zeros((m, m)), np.zeros(m)
    least = max(eigenvalues[m], 0.0)
    for i in range(m):
        last = 2 * m - 1 - i
        if eigenvalues[last] - least > TINY * eigenvalues[2 * m - 1]:
            masses[i] = eigenvalues[last] - least
            for j in range(m):
                second[i, j] = dot(back[j], vectors[m:, last])
            for j in range(m):
                first[i, j] = vectors[j, last] - dot(second[i], products[:, j])
    return first, second, masses, least


@kernel
def end_epoch(state, others):
    """Turn the vectors of the epoch into directions, all of w into u; return what eigenvalues were reduced by.

    The rows `others` (n, width) change as those of the table do, but for what a sweep does.
    """
    m, (size, columns), width = len(state.mass), state.turns.shape[1:], state.table.shape[1]
    first, second, masses, least = decompose(state.mass, state.products)
    into, turn = np.zeros((width, columns)), np.zeros((size, columns))  # of a row, and of one without vectors
    into[0, 0] = into[1, 1] = 1.0
    for j in range(m):
        into[LEAD + j, 0], into[LEAD + m + j, 0] = state.coefficients[LEAD + j], state.coefficients[LEAD + m + j]
        for i in range(m):
            into[LEAD + j, LEAD + i], into[LEAD + m + j, LEAD + i] = first[i, j], second[i, j]
    for j in range(LEAD + m):
        for i in range(columns):
            turn[j, i] = into[j, i]
    record(state.turns, int(state.counts[EPOCH]), turn)
    state.counts[EPOCH] += 1.0
    moved = np.empty(columns)
    for k in range(-len(others), int(state.counts[RECENT])):
        row = state.table[state.recent[k]] if k >= 0 else others[k]
        combine(into, row, moved)
        for j in range(width):
            row[j] = moved[j] if j < columns else 0.0
        row[LEAD + 2 * m] = state.counts[EPOCH]
    state.coefficients[1:] = 0.0
    state.products[:] = 0.0
    for i in range(m):
        state.mass[i] = masses[i]
    state.counts[FILLED] = state.counts[RECENT] = 0.0
    if state.counts[EPOCH] >= epochs_between_sweeps(int(state.counts[SEEN]), m):
        sweep(state)
    return least


@kernel
def sweep(state):
    """Have every slot catch up at the end of an epoch, and make V orthonormal afresh."""
    m, touched = len(state.mass), state.touched[: int(state.counts[SEEN])]
    bring_up(state, touched, np.empty(state.turns.shape[1]))
    same = np.eye(m, state.table.shape[1], LEAD)
    reorthonormalise(state.table, touched, state.table[:0], same, state.coefficients)
    state.counts[EPOCH] = 0.0


@kernel
def update(state, slots, values):
    """Sketch one vector, given by its slots (uint32, none twice) and values."""
    if len(state.mass) == 0:
        return
    projected = np.empty(state.table.shape[1])
    welcome(state, slots, values, 1.0)
    bring_up(state, slots, np.empty(state.turns.shape[1]))
    gather(state.table, slots, values, projected)
    enter(state, slots, values, 1.0, projected, square_of(values, len(values)))
    state.counts[0] += 1.0
    if epoch_is_full(state):
        end_epoch(state, state.table[:0])


@kernel
def up_to_date(state):
    """The table as it were if every slot had caught up."""
    table, spare = state.table.copy(), np.empty(state.turns.shape[1])
    for k in range(int(state.counts[SEEN])):
        renew(state, table[state.touched[k]], spare)
    return table


def directions(state) -> np.ndarray:
    """V (m, d): orthonormal rows, and zeros where there is no mass."""
    return up_to_date(state)[:, LEAD : LEAD + len(state.mass)].T


def matrix(state) -> np.ndarray:
    """S (2 m, d)."""
    m, columns = len(state.mass), up_to_date(state).T
    return np.vstack([np.sqrt(state.mass)[:, None] * columns[LEAD : LEAD + m], columns[LEAD + m : LEAD + 2 * m]])


def spectrum(state) -> tuple[np.ndarray, np.ndarray]:
    """The m largest eigenvalues of S'S, and their eigenvectors (m, d)."""
    m = len(state.mass)
    _, roots, vectors = np.linalg.svd(matrix(state), full_matrices=False)
    return roots[:m] ** 2, vectors[:m]


def merge(states):
    """The sketch of all the streams together, with the same guarantee: the first takes in the rows of the others."""
    merged = type(states[0])(*(array.copy() for array in states[0]))
    for state in states[1:]:
        for row in matrix(state):
            slots = np.flatnonzero(row).astype(np.uint32)
            if len(slots) > 0:
                update(merged, slots, row[slots])
    return merged
