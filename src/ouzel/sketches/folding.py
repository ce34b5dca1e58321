"""Directions and a weight vector over very many slots, of which an example changes only its own.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), section 4: orthonormal directions V (m, d) are kept as V = F Z and weights
as w = u + Z'b, since Z and u change where an example has values while V and w change everywhere. A slot is a row
    [u, D, its column of Z, further columns, zeros up to a multiple of four]
of one table, so that it costs one cache miss, and w = table @ mix with mix = [1, 0, b, ...]. D > 0 says that the slot
has been seen.

Z and u grow without bound while V and w do not, and digits are lost to their cancelling. So now and then rows are
folded: V is formed and made orthonormal afresh, F becomes I, and w is split anew with b = Vw, u = w - V'b.
"""

from __future__ import annotations

import numpy as np

from ouzel._jit import inlined, kernel

LEAD = 2  # columns before those of Z
NEAR = 1e-6  # from the identity a Gram matrix may be for one Cholesky factor to make rows orthonormal to rounding


def width_of(columns: int) -> int:
    """Columns of a table that holds u, D and so many more."""
    return -(-(LEAD + columns) // 4) * 4


def unmixed(width: int) -> np.ndarray:
    """`mix` of a table in which all of w is u."""
    mix = np.zeros(width)
    mix[0] = 1.0
    return mix


@inlined
def meet(table, touched, seen, slots, values, first):
    """List the slots of an example that are new, smallest first but the constant's, 0, last, and set their D.

    Return how many are seen now. Sketches that start directions from the first slots seen do better by others than by
    the constant, which is in every example and would be a first direction for good.
    """
    before = seen
    ordered = True
    for k in range(len(slots)):
        if table[slots[k], 1] == 0.0 and values[k] != 0.0:
            table[slots[k], 1] = first
            touched[seen] = slots[k]
            ordered &= seen == before or touched[seen - 1] < slots[k]
            seen += 1
    if not ordered:
        _sort(touched, before, seen)
    if seen > before and touched[before] == 0:
        for k in range(before, seen - 1):
            touched[k] = touched[k + 1]
        touched[seen - 1] = 0
    return seen


@kernel
def _sort(touched, start, stop):
    """Shell's sort, for rows out of order, which are rare: Numba's own takes seconds to compile."""
    gap = np.int64(1)
    while gap < (stop - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(start + gap, stop):
            slot = touched[k]
            place = k
            while place >= start + gap and touched[place - gap] > slot:
                touched[place] = touched[place - gap]
                place -= gap
            touched[place] = slot
        gap //= 3


@inlined
def gather(table, slots, values, out):
    """out = sum of values[k] table[slots[k]], for every column; return the sum of squares of the values.

    Four rows at a time: sums stay in registers, and no addition waits for the one before it.
    """
    out[:] = 0.0
    square = 0.0
    n = len(slots)
    for k in range(0, n - 3, 4):
        a, b, c, d = table[slots[k]], table[slots[k + 1]], table[slots[k + 2]], table[slots[k + 3]]
        x, y, z, v = values[k], values[k + 1], values[k + 2], values[k + 3]
        square += (x * x + y * y) + (z * z + v * v)
        for j in range(len(out)):
            out[j] += (a[j] * x + b[j] * y) + (c[j] * z + d[j] * v)
    for k in range(n - n % 4, n):
        row = table[slots[k]]
        square += values[k] * values[k]
        for j in range(len(out)):
            out[j] += row[j] * values[k]
    return square


@inlined
def add_outer(table, slots, values, step):
    """table[slots[k]] += values[k] step, for every k."""
    for k in range(len(slots)):
        row = table[slots[k]]
        value = values[k]
        for j in range(len(step)):
            row[j] += value * step[j]


@inlined
def multiply(matrix, vector, out):
    """out = matrix @ vector."""
    for i in range(len(out)):
        total = 0.0
        for j in range(len(vector)):
            total += matrix[i, j] * vector[j]
        out[i] = total


@inlined
def add_combination(target, weights, matrix):
    """target += weights @ matrix."""
    for i in range(len(weights)):
        for j in range(len(target)):
            target[j] += weights[i] * matrix[i, j]


@inlined
def dot(a, b):
    """The inner product."""
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@kernel
def fold(table, touched, turn, mix):
    """Give every slot `turn` @ row for directions, made orthonormal, and split w anew; `turn` is (m, width).

    Directions that are zero, for want of as many slots or examples, stay zero.
    """
    m = len(turn)
    direction = np.empty(m)
    for k in range(len(touched)):
        row = table[touched[k]]
        weight = dot(row, mix)
        multiply(turn, row, direction)
        row[0] = weight
        row[LEAD : LEAD + m] = direction
        row[LEAD + m :] = 0.0
    for _ in range(3):
        if _orthonormalise(table, touched, m) < NEAR:
            break
    mix[:] = 0.0
    mix[0] = 1.0
    for k in range(len(touched)):
        row = table[touched[k]]
        for i in range(m):
            mix[LEAD + i] += row[LEAD + i] * row[0]
    for k in range(len(touched)):
        row = table[touched[k]]
        for i in range(m):
            row[0] -= row[LEAD + i] * mix[LEAD + i]


@kernel
def _orthonormalise(table, touched, m):
    """Multiply the directions by the inverse Cholesky factor of their Gram matrix; return how far that was from I."""
    gram = np.zeros((m, m))
    for k in range(len(touched)):
        row = table[touched[k]]
        for i in range(m):
            for j in range(i + 1):
                gram[i, j] += row[LEAD + i] * row[LEAD + j]
    error = 0.0
    for i in range(m):
        for j in range(i + 1):
            if gram[i, i] > 0.0:
                error = max(error, abs(gram[i, j] - (1.0 if i == j else 0.0)))
            rest = gram[i, j]
            for k in range(j):
                rest -= gram[i, k] * gram[j, k]
            if j < i:
                gram[i, j] = rest / gram[j, j]
            else:
                gram[i, i] = np.sqrt(rest) if rest > 0.0 else 1.0
    for k in range(len(touched)):
        row = table[touched[k]]
        for i in range(m):
            rest = row[LEAD + i] + 0.0
            for j in range(i):
                rest -= gram[i, j] * row[LEAD + j]
            row[LEAD + i] = rest / gram[i, i]
    return error
