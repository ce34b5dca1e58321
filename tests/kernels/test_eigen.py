"""Small symmetric matrices have the eigenvalues and eigenvectors that LAPACK finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.kernels import eigen
from ouzel.kernels.eigen import LAPACK_FROM, symmetric_eigen

ROUNDING = 2.0**-52


def normal(size, seed=0):
    rng = np.random.default_rng(seed)
    square = rng.normal(size=(size, size))
    return square + square.T


def basis(size, seed=0):
    return np.linalg.qr(normal(size, seed))[0]


def with_eigenvalues(values, seed=0):
    directions = basis(len(values), seed)
    made = (directions * values) @ directions.T
    return 0.5 * (made + made.T)


def assert_decomposed(matrix):
    values, vectors = symmetric_eigen(matrix)
    expected = np.linalg.eigvalsh(matrix)
    size, largest = len(matrix), max(abs(expected).max(), 2.0**-1022)
    rounding = 4.0 * size * ROUNDING

    assert (np.diff(values) >= 0.0).all()
    np.testing.assert_allclose(values / largest, expected / largest, rtol=0.0, atol=rounding)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(size), rtol=0.0, atol=rounding)
    np.testing.assert_allclose((vectors * (values / largest)) @ vectors.T, matrix / largest, rtol=0.0, atol=rounding)


@settings(deadline=None, max_examples=100)
@given(st.integers(1, LAPACK_FROM + 1), st.integers(0, 10**6), st.integers(0, 40), st.integers(-60, 60))
def test_matrices_of_any_spectrum_are_decomposed(size, seed, decay, exponent):
    values = np.random.default_rng(seed).normal(size=size) * 2.0 ** -(decay / 8.0 * np.arange(size))

    assert_decomposed(10.0**exponent * with_eigenvalues(values, seed))


@pytest.mark.parametrize("factor", [1e-300, 1e-160, 1.0, 1e150, 1e306])
@pytest.mark.parametrize("size", [1, 2, 3, 20])
def test_numbers_at_the_ends_of_the_range_lose_nothing(size, factor):
    assert_decomposed(factor * normal(size))


DEGENERATE = {
    "zeros": np.zeros((6, 6)),
    "identity": np.eye(7),
    "all ones": np.ones((20, 20)),
    "diagonal": np.diag(np.arange(20.0)[::-1]),
    "rank three": basis(20)[:, :3] @ basis(20)[:, :3].T,
    "two eigenvalues": with_eigenvalues([3.0] * 5 + [1.0] * 15),
    "nearly equal": with_eigenvalues(1.0 + 1e-15 * np.arange(12)),
    "tridiagonal without a diagonal": np.eye(20, k=1) + np.eye(20, k=-1),
    "Wilkinson's pairs": np.diag(abs(np.arange(-10.0, 11.0))) + np.eye(21, k=1) + np.eye(21, k=-1),
    "graded": np.outer(10.0 ** -np.arange(0.0, 300.0, 15.0), 10.0 ** -np.arange(0.0, 300.0, 15.0)) * normal(20),
    "next to nothing beside one": np.diag([1.0, 0.0, 0.0, 0.0]) + 1e-160,
    "smaller than a normal number": 5e-324 * np.ones((4, 4)),
    "negative": -np.ones((3, 3)),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_matrices_are_decomposed(name):
    assert_decomposed(DEGENERATE[name])


def test_small_eigenvalues_of_graded_matrices_keep_their_digits_in_any_order():
    """Of a positive definite matrix whose rows differ in their unit, from 1 to 1e-18."""
    units = 10.0 ** -np.arange(0.0, 10.0)
    matrix = np.outer(units, units) * (normal(10, seed=3) + 20.0 * np.eye(10))
    first = symmetric_eigen(matrix)[0]

    for seed in range(5):
        order = np.random.default_rng(seed).permutation(10)
        np.testing.assert_allclose(symmetric_eigen(matrix[np.ix_(order, order)])[0], first, rtol=1e-12)


def test_only_the_lower_half_is_read():
    matrix = normal(9)
    half = np.tril(matrix) + np.triu(np.full((9, 9), np.nan), 1)

    for found, expected in zip(symmetric_eigen(half), symmetric_eigen(matrix), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("size", [1, 5])
def test_numbers_that_are_not_finite_are_refused(size, bad):
    matrix = normal(size)
    matrix[-1, 0] = bad

    with pytest.raises(np.linalg.LinAlgError):
        symmetric_eigen(matrix)


def test_steps_that_do_not_converge_come_to_an_end_and_lapack_takes_over(monkeypatch):
    never = np.full(5, np.nan)

    assert not eigen._make_diagonal(never.copy(), never.copy(), np.eye(5))

    matrix = normal(5)
    monkeypatch.setattr(eigen, "_make_diagonal", lambda *_: False)
    found = getattr(symmetric_eigen, "py_func", symmetric_eigen)(matrix)
    np.testing.assert_array_equal(found[0], np.linalg.eigh(matrix)[0])
