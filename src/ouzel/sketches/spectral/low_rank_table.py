"""Directions and a weight vector over very many slots, of which an example changes only its own.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), section 4: orthonormal directions V (m, d) are kept as V = F Z and weights
as w = u + Z'b, since Z and u change where an example has values while V and w change everywhere. A slot is a row
    [u, its scale, its column of Z, further columns, zeros up to a multiple of four]
of one table, so that it costs one cache miss, and w = table @ mix with mix = [1, 0, b, ...]. A scale above 0, by which
a learner may multiply the slot's values, says that the slot has been seen.

Z and u grow without bound while V and w do not, and digits are lost to their cancelling. So now and then rows are
folded: V is formed and made orthonormal afresh, F becomes I, and w is split anew with b = Vw, u = w - V'b.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source, kernel_of
from ouzel.kernels.simd import LANES, add_eight, add_lanes, add_twelve, combine_lanes, sum_eight, sum_lanes, sum_twelve
from ouzel.kernels.sort import sort
from ouzel.kernels.vectors import dot

Function = Callable[..., Any]

LEAD = 2  # columns before those of Z
TINY = 1e-9  # a length that is rounding
NEAR = 1e-6  # from the identity a Gram matrix may be for one Cholesky factor to make rows orthonormal to rounding


def width_of(columns: int) -> int:
    """Columns of a table that holds u, the scale and so many more."""
    return -(-(LEAD + columns) // LANES) * LANES


@inline_source
def register_new_slots(table, touched, seen, slots, values, first):
    """List the slots of an example that are new, smallest first but the constant's, 0, last, and set their scale.

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
        sort(touched, before, seen)
    if seen > before and touched[before] == 0:
        for k in range(before, seen - 1):
            touched[k] = touched[k + 1]
        touched[seen - 1] = 0
    return seen


def _in_all_columns(twelve: Function, eight: Function, four: Function) -> Function:
    """A function of all columns, of those of so many: twelve at once, for which a slot is found once."""

    @kernel_of(__name__, inline=True)
    def in_all_columns(table, slots, values, vector):
        """Between `table[slots]` and a `vector` of as many numbers as there are columns."""
        whole = len(vector) - len(vector) % 12
        for column in range(0, whole, 12):
            twelve(table, slots, values, column, vector)
        if len(vector) - whole == 8:
            eight(table, slots, values, whole, vector)
        elif len(vector) > whole:
            four(table, slots, values, whole, vector)

    return in_all_columns


gather = _in_all_columns(sum_twelve, sum_eight, sum_lanes)
"""`gather(table, slots, values, out)`: out = sum of values[k] table[slots[k]]."""
add_outer = _in_all_columns(add_twelve, add_eight, add_lanes)
"""`add_outer(table, slots, values, step)`: table[slots[k]] += values[k] step."""


@force_inline
def multiply(matrix, vector, out):
    """out = matrix @ vector."""
    for i in range(len(out)):
        total = 0.0
        for j in range(len(vector)):
            total += matrix[i, j] * vector[j]
        out[i] = total


@force_inline
def combine(matrix, vector, out):
    """out = vector @ matrix."""
    for column in range(0, len(out), LANES):
        combine_lanes(matrix, vector, column, out)


@force_inline
def margin_of(state, slots, values, work):
    """w'x, of a sketch that has nothing else to do for it; `work.projected` is table' x."""
    gather(state.table, slots, values, work.projected)
    return dot(work.projected, state.coefficients)


@force_inline
def square_of(values, count):
    """The sum of squares of so many values, in four sums by turns, so that no addition waits for the one before it."""
    a = b = c = d = 0.0
    whole = count - count % 4
    for k in range(0, whole, 4):
        a += values[k] * values[k]
        b += values[k + 1] * values[k + 1]
        c += values[k + 2] * values[k + 2]
        d += values[k + 3] * values[k + 3]
    for k in range(whole, count):
        a += values[k] * values[k]
    return (a + b) + (c + d)


@inline_source
def reorthonormalise(table, touched, beside, turn, coefficients):
    """Give every slot `turn` @ row for directions, made orthonormal, and split w anew; `turn` is (m, width).

    The rows `beside` (n, width) the table's are slots as well. Directions that are zero, for want of as many slots or
    examples, stay zero.
    """
    m, width = turn.shape
    direction = np.empty(m)
    count = len(touched)
    for k in range(count + len(beside)):
        row = table[touched[k]] if k < count else beside[k - count]
        weight = dot(row, coefficients)
        multiply(turn, row, direction)
        row[0] = weight
        for j in range(LEAD, width):
            row[j] = direction[j - LEAD] if j < LEAD + m else 0.0
    for _ in range(3):
        if _orthonormalise(table, touched, beside, m) < NEAR:
            break
    for j in range(width):
        coefficients[j] = j == 0
    for k in range(count + len(beside)):
        row = table[touched[k]] if k < count else beside[k - count]
        for j in range(LEAD, LEAD + m):
            coefficients[j] += row[j] * row[0]
    for k in range(count + len(beside)):
        row = table[touched[k]] if k < count else beside[k - count]
        for j in range(LEAD, LEAD + m):
            row[0] -= row[j] * coefficients[j]


@inline_source
def _orthonormalise(table, touched, beside, m):
    """Multiply the directions by the inverse Cholesky factor of their Gram matrix; return how far that was from I."""
    gram = np.zeros((m, m))
    count = len(touched)
    for k in range(count + len(beside)):
        row = table[touched[k]] if k < count else beside[k - count]
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
    for k in range(count + len(beside)):
        row = table[touched[k]] if k < count else beside[k - count]
        for i in range(m):
            rest = row[LEAD + i] + 0.0
            for j in range(i):
                rest -= gram[i, j] * row[LEAD + j]
            row[LEAD + i] = rest / gram[i, i]
    return error


@inline_source
def fold(table, touched, coefficients):
    """Make all of w be u."""
    for k in range(len(touched)):
        table[touched[k], 0] = dot(table[touched[k]], coefficients)
    for j in range(len(coefficients)):
        coefficients[j] = j == 0


def orthonormal_rows(rows: np.ndarray) -> np.ndarray:
    """Make rows (m, d) orthonormal in place, by Gram and Schmidt; zeros where nothing but rounding is left of one."""
    for i, row in enumerate(rows):
        for _ in range(2):  # the second time for digits that the first has cost
            row -= (rows[:i] @ row) @ rows[:i]
        length = np.linalg.norm(row)
        row *= 1.0 / length if length > TINY else 0.0
    return rows


def settle(state: Any) -> None:
    """Do nothing: in a sketch that takes all in at once nothing waits."""
