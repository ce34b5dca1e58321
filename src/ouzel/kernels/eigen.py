"""Eigenvalues and eigenvectors of small symmetric matrices, in a third to two thirds of LAPACK's time.

Householder's reflections make the matrix tridiagonal, and implicit QL steps with Wilkinson's shift make that diagonal:
Golub & Van Loan (2013), "Matrix Computations", 4th edition, section 8.3. Rows are put in the order of the diagonal
first and reflected from the last up, so that small eigenvalues next to large ones keep more of their digits. The
transformations are kept as rows, so that each of them changes numbers that lie together in memory.
"""

from __future__ import annotations

from functools import partial
from math import frexp, inf, ldexp

import numpy as np

from ouzel.kernels.jit import inline_source, kernel

LAPACK_FROM = 64  # rows from which LAPACK is as fast
MOST_STEPS = 30  # for each eigenvalue: two are usual
ROUNDING = 2.0**-53
NOTHING = 2.0**-450  # of the largest number: its square still has all digits
LEAST_EXPONENT = -1000


@partial(kernel, plain=np.linalg.eigh)
def symmetric_eigen(matrix):
    """Return the eigenvalues (n,) of a symmetric matrix (n, n), smallest first, and eigenvectors (n, n), one a column.

    Only the lower half is read. Errors of eigenvalues are some 2^-52 of the largest, as those of `np.linalg.eigh` are.
    That is called from `LAPACK_FROM` rows on, where numbers are not finite, and if the steps do not converge.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a number is infinite or not a number.

    Examples
    --------
    >>> values, vectors = symmetric_eigen(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> values.round(12).tolist()
    [1.0, 3.0]
    >>> abs(vectors).round(6).tolist()
    [[0.707107, 0.707107], [0.707107, 0.707107]]
    """
    size, largest = len(matrix), 0.0
    if size < LAPACK_FROM:
        for i in range(size):
            for j in range(i + 1):
                largest = max(largest, abs(matrix[i, j])) if matrix[i, j] == matrix[i, j] else inf
    if size < LAPACK_FROM and largest < inf:
        exponent = max(frexp(largest)[1], LEAST_EXPONENT)
        scale = ldexp(1.0, -exponent)
        reduced, rows, vectors = np.empty((size, size)), np.zeros((size, size)), np.empty((size, size))
        numbers, off_diagonal, factors = np.empty(size), np.zeros(size), np.zeros(size)
        places, order = np.empty(size, np.int64), np.empty(size, np.int64)
        for i in range(size):
            numbers[i] = abs(matrix[i, i])
        _rank(numbers, places)
        for i in range(size):
            for j in range(i + 1):
                entry = matrix[max(places[i], places[j]), min(places[i], places[j])]
                reduced[i, j] = reduced[j, i] = scale * entry
        _make_tridiagonal(reduced, off_diagonal, factors, numbers)
        _multiply_reflections(reduced, factors, rows)
        for i in range(size):
            numbers[i] = reduced[i, i]
        if _make_diagonal(numbers, off_diagonal, rows):
            _rank(numbers, order)
            for i in range(size):
                factors[i] = ldexp(numbers[order[i]], exponent)
                for j in range(size):
                    vectors[places[j], i] = rows[order[i], j]
            return factors, vectors
    values, vectors = np.linalg.eigh(matrix)
    return values, np.ascontiguousarray(vectors)


@inline_source
def _rank(numbers, order):
    """Write the places of numbers, that of the smallest first, to `order`."""
    for i in range(len(numbers)):
        place = i
        while place > 0 and numbers[order[place - 1]] > numbers[i]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = i


@inline_source
def _make_tridiagonal(matrix, off_diagonal, factors, spare):
    """Reflect rows and columns, from the last up, until only the diagonal and the numbers next to it are left.

    Those go to `off_diagonal`; row k keeps the vector u of its reflection I - factors[k] u u', in its first k columns.
    """
    for k in range(len(matrix) - 1, 0, -1):
        row, square = matrix[k], 0.0
        for j in range(k - 1):
            square += row[j] * row[j]
        last = row[k - 1]
        if square <= NOTHING * NOTHING:
            off_diagonal[k - 1] = last
            continue
        length = np.sqrt(square + last * last)
        if last > 0.0:
            length = -length
        off_diagonal[k - 1] = length
        row[k - 1] = last - length
        factor = -1.0 / (length * row[k - 1])
        factors[k] = factor
        for j in range(k):
            spare[j] = 0.0
        for i in range(k):
            scaled, other = factor * row[i], matrix[i]
            for j in range(k):
                spare[j] += scaled * other[j]
        along = 0.0
        for j in range(k):
            along += spare[j] * row[j]
        along *= 0.5 * factor
        for j in range(k):
            spare[j] -= along * row[j]
        for i in range(k):
            first, second, other = row[i], spare[i], matrix[i]
            for j in range(k):
                other[j] -= first * spare[j] + second * row[j]


@inline_source
def _multiply_reflections(reduced, factors, rows):
    """Write the product of the reflections to `rows`, which are 0, a column of it to each row."""
    for k in range(len(rows)):
        rows[k, k] = 1.0
        if factors[k] != 0.0:
            vector = reduced[k]
            for i in range(k):
                row, along = rows[i], 0.0
                for j in range(k):
                    along += row[j] * vector[j]
                along *= factors[k]
                for j in range(k):
                    row[j] -= along * vector[j]


@inline_source
def _make_diagonal(values, off_diagonal, rows):
    """Turn the tridiagonal matrix diagonal, and `rows` with it; return whether that took no more steps than allowed."""
    size, steps = len(values), 0
    for first in range(size):
        while True:
            last = first
            while last < size - 1:
                near = abs(values[last]) + abs(values[last + 1])
                if abs(off_diagonal[last]) <= max(ROUNDING * near, NOTHING):
                    break
                last += 1
            if last == first:
                break
            if steps == MOST_STEPS * size:
                return False
            steps += 1
            _take_step(values, off_diagonal, rows, first, last)
    return True


@inline_source
def _take_step(values, off_diagonal, rows, first, last):
    """One implicit QL step between two rows: rotations of neighbours from the last pair up."""
    half = (values[first + 1] - values[first]) / (2.0 * off_diagonal[first])
    root = np.sqrt(half * half + 1.0)
    bulge = values[last] - values[first] + off_diagonal[first] / (half + (root if half >= 0.0 else -root))
    sine = cosine = 1.0
    shift = 0.0
    for i in range(last - 1, first - 1, -1):
        off, kept = sine * off_diagonal[i], cosine * off_diagonal[i]
        square = off * off + bulge * bulge
        if square <= NOTHING * NOTHING:
            values[i + 1] -= shift
            off_diagonal[i + 1] = off_diagonal[last] = 0.0
            return
        root = np.sqrt(square)
        off_diagonal[i + 1] = root
        inverse = 1.0 / root
        sine, cosine = off * inverse, bulge * inverse
        moved = values[i + 1] - shift
        root = (values[i] - moved) * sine + 2.0 * cosine * kept
        shift = sine * root
        values[i + 1] = moved + shift
        bulge = cosine * root - kept
        upper, lower = rows[i], rows[i + 1]
        for j in range(len(upper)):
            before = lower[j]
            lower[j] = sine * upper[j] + cosine * before
            upper[j] = cosine * upper[j] - sine * before
    values[first] -= shift
    off_diagonal[first] = bulge
    off_diagonal[last] = 0.0
