"""Where the directions of Oja's sketch start, with nothing known beforehand of the slots that will come.

All slots that are not seen yet are m virtual ones, the `pool`, since V has rank m there: its rows and those of the
slots in use are orthonormal together. A slot that comes takes its row out of the pool Q, in some direction o of length
at most 1,
    row = o'Q,    Q <- (I - o o')^(1/2) Q = Q - o row / (1 + sqrt(1 - o'o)),
which leaves the sums of squares and products of all rows as they were: V stays orthonormal exactly. The pool goes
through whatever all slots go through, so this may be done at any time.

Unit vectors o give directions that start as slots. If o is the first column of m random orthonormal rows over the n
slots that are left, of length Beta(m / 2, (n - m) / 2), V is uniformly random over all of them (the experiments of
Luo et al. 2016 have 2^18). The random numbers for a slot are seeded by how many were seen before its example and by
its value there, so that they do not depend on how slots are numbered.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source, kernel
from ouzel.sketches.reservoir import random_word
from ouzel.sketches.spectral.low_rank_table import LEAD
from ouzel.terms.starts import FIRST_SEEN, GIVEN, RANDOM, code_of

MIX = np.uint64(0xD1342543DE82EF95)  # an odd number, for telling seeds apart
SIXTEEN = np.uint64(16)


def begin_at(state: Any, start: Any, seed: float) -> None:
    """Have no slot seen yet, and directions to start in some way."""
    state.pool[:] = 0.0
    np.fill_diagonal(state.pool[:, LEAD:], 1.0)
    state.start[:] = *code_of(start), seed


def start_given(state: Any, slots: np.ndarray, vectors: np.ndarray, scale: float = 1.0) -> None:
    """Have V start as `vectors` (m, n), orthonormal rows over the n `slots`, which are seen then, with that scale."""
    state.start[:2] = GIVEN, 2.0**48  # no other slot has a part
    state.pool[:] = 0.0
    state.table[slots, LEAD : LEAD + len(vectors)] = vectors.T
    state.table[slots, 1] = scale
    state.touched[: len(slots)] = slots
    state.counts[1] = len(slots)


@inline_source
def start_new(state, slots, values):
    """Start the slots of an example that are not seen yet, where that is random."""
    if state.start[0] == RANDOM and len(state.pool) > 0:
        for k in range(len(slots)):
            if state.table[slots[k], 1] == 0.0 and values[k] != 0.0:
                start_at_random(state, slots[k], np.float32(values[k]))


@inline_source
def start_listed(state, before, seen):
    """Start the slots that were listed from `before` on, where directions are slots."""
    m = len(state.pool)
    for k in range(before, seen):
        direction = -1.0
        if state.start[0] == FIRST_SEEN:
            direction = k
        elif state.start[0] == GIVEN:
            direction = state.touched[k] - state.start[1]
        if 0.0 <= direction < m:
            start_along(state, state.touched[k], int(direction))


@kernel
def start_along(state, slot, direction):
    """Give a slot all of one virtual one."""
    for j in range(state.table.shape[1]):
        if j != 1:
            state.table[slot, j] = state.pool[direction, j]
            state.pool[direction, j] = 0.0


@kernel
def start_at_random(state, slot, value):
    """Give a slot its part of the pool, in a random direction."""
    m, seen = len(state.pool), np.uint64(state.counts[1])
    left = state.start[1] - state.counts[1]  # slots that the pool stands for
    if left < 1.0:
        return
    bits = np.uint64(np.float32(value).view(np.uint32))
    counts = np.empty(2, np.uint64)
    counts[1] = (np.uint64(state.start[2]) * MIX + seen) * MIX + bits
    direction, square = np.empty(m), 0.0
    for i in range(m):
        direction[i] = _normal(counts)
        square += direction[i] ** 2
    length = np.sqrt(square + _chi_square(counts, left - m))
    shrink = 1.0 / (1.0 + np.sqrt(max(1.0 - square / length**2, 0.0)))
    row = state.table[slot]
    for i in range(m):
        direction[i] /= length
        for j in range(len(row)):
            if j != 1:
                row[j] += direction[i] * state.pool[i, j]
    for i in range(m):
        for j in range(len(row)):
            if j != 1:
                state.pool[i, j] -= shrink * direction[i] * row[j]


@force_inline
def _normal(counts):
    """A random number, normal but for its tails: the sum of four even ones of 16 bits."""
    word = random_word(counts)
    total = 0.0
    for _ in range(4):
        total += float(word & np.uint64(0xFFFF))
        word >>= SIXTEEN
    return (total - 131070.0) / 37837.2


@force_inline
def _chi_square(counts, freedom):
    """A random number of about a chi-square distribution (Wilson & Hilferty 1931)."""
    if freedom < 1.0:
        return 0.0
    spread = 2.0 / (9.0 * freedom)
    return freedom * max(1.0 - spread + np.sqrt(spread) * _normal(counts), 0.0) ** 3
