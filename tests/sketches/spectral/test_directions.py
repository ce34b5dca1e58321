"""Frequent Directions keeps its guarantee, in every form; Oja's directions stay orthonormal."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.sketches.spectral import frequent_directions, lazy_maps, oja
from ouzel.sketches.spectral import sparse_frequent_directions as sparse_directions
from ouzel.sketches.spectral.starting_directions import begin_at
from ouzel.terms.starts import Random


def matrix(rows, dimension, rank, seed, nonzeros=None):
    """Rows with a decaying spectrum and a tail; all but `nonzeros` of each row's values are 0."""
    rng = np.random.default_rng(seed)
    A = (rng.normal(size=(rows, rank)) * 3.0 ** -np.arange(rank)) @ rng.normal(size=(rank, dimension))
    A += 0.01 * rng.normal(size=A.shape)
    if nonzeros is not None:
        A *= rng.random(A.shape).argsort(axis=1) < nonzeros
    return A


def sketched(A, m):
    state = sparse_directions.init(A.shape[1], m)
    for row in A:
        slots = np.flatnonzero(row).astype(np.uint32)
        sparse_directions.update(state, slots, row[slots])
    return state


def densely(A, m):
    state = frequent_directions.init(A.shape[1], m)
    for row in A:
        frequent_directions.update(state, row)
    return state


def assert_guarantee(A, S, m):
    """0 <= A'A - S'S <= ||A - A_k||^2 / (m - k) for every k < m."""
    error = np.linalg.eigvalsh(A.T @ A - S.T @ S)
    squares = np.linalg.svd(A, compute_uv=False) ** 2
    rounding = 1e-10 * max(squares.max(), 1e-30)

    assert error[0] >= -rounding
    for k in range(m):
        assert error[-1] <= squares[k:].sum() / (m - k) + rounding


SHAPES = st.tuples(st.integers(1, 60), st.integers(1, 12), st.integers(1, 6), st.integers(0, 10**6))


@settings(deadline=None, max_examples=40)
@given(SHAPES, st.integers(1, 15))
def test_the_dense_sketch_keeps_the_guarantee(shape, m):
    A = matrix(*shape)

    assert_guarantee(A, densely(A, m).rows, m)


@pytest.mark.interpreted
@settings(deadline=None, max_examples=60)
@given(SHAPES, st.integers(1, 15), st.integers(1, 12))
def test_the_sparse_sketch_keeps_the_guarantee(shape, m, nonzeros):
    A = matrix(*shape, nonzeros)

    assert_guarantee(A, sparse_directions.matrix(sketched(A, m)), m)


@settings(deadline=None, max_examples=20)
@given(SHAPES, SHAPES, st.integers(1, 8))
def test_merged_sketches_keep_the_guarantee_of_both_streams(one, other, m):
    A, B = matrix(*one), matrix(other[0], one[1], *other[2:])
    both = np.vstack([A, B])

    assert_guarantee(both, frequent_directions.merge([densely(A, m), densely(B, m)]).rows, m)
    assert_guarantee(both, sparse_directions.matrix(sparse_directions.merge([sketched(A, m), sketched(B, m)])), m)


def plain(rows, dimension, seed, shortest=0.0):
    """Normal vectors, of lengths down to a power of ten; as many epochs as come before a sweep."""
    rng = np.random.default_rng(seed)
    lengths = rng.random((rows, 1)) if shortest == 0.0 else 10.0 ** rng.uniform(shortest, 0.0, (rows, 1))
    return rng.normal(size=(rows, dimension)) * lengths


STREAMS = {
    "sparse": (6, matrix(3000, 30, 8, seed=1, nonzeros=5)),
    "plain, one feature more than directions": (10, plain(310, 11, seed=1)),
    "plain, two more": (10, plain(310, 12, seed=2)),
    "plain, half as many more": (10, plain(310, 15, seed=3)),
    "long and short vectors": (10, plain(310, 12, seed=4, shortest=-5.0)),
    "about a distant mean": (10, 5.0 + 0.01 * plain(310, 12, seed=5)),
}


@pytest.mark.parametrize("name", STREAMS)
def test_the_sparse_sketch_is_the_dense_one_decomposed_once_an_epoch(name):
    """Against a decomposition of the whole matrix [D V; G] whenever there are m new vectors (Algorithm 6)."""
    m, A = STREAMS[name]
    S = np.zeros((m, A.shape[1]))
    for k in range(0, len(A), m):
        _, roots, V = np.linalg.svd(np.vstack([S, A[k : k + m]]), full_matrices=False)
        S = np.sqrt(np.maximum(roots[:m] ** 2 - roots[m - 1] ** 2, 0.0))[:, None] * V[:m]

    found = sparse_directions.matrix(sketched(A, m))

    np.testing.assert_allclose(found.T @ found, S.T @ S, atol=1e-10 * roots[0] ** 2)


@pytest.mark.parametrize("dimension", [10, 11, 12, 13, 15, 20])
def test_rows_of_v_stay_orthonormal_where_they_are_nearly_all_there_are(dimension):
    """What lies beyond ten directions has fewer dimensions than an epoch has vectors."""
    V = sparse_directions.directions(sketched(plain(310, dimension, seed=dimension), 10))[:9]

    assert abs(V @ V.T - np.eye(9)).max() < 1e-12


@pytest.mark.parametrize(("m", "nonzeros"), [(1, 3), (5, 4), (10, 40), (50, 4)])
def test_rows_of_v_stay_orthonormal(m, nonzeros):
    state = sketched(matrix(4000, 40, 20, seed=2, nonzeros=nonzeros), m)
    V = sparse_directions.directions(state)[state.mass > 0.0]

    assert len(V) == min(m - 1, 40)
    assert abs(V @ V.T - np.eye(len(V))).max(initial=0.0) < 1e-10


def test_room_that_grows_changes_nothing():
    A, m = matrix(600, 40, 6, seed=3, nonzeros=4), 4
    A[:300, 20:] = 0.0
    grown = sketched(A[:300, :20], m)
    grown = sparse_directions.grow(grown, 40, m)
    for row in A[300:]:
        slots = np.flatnonzero(row).astype(np.uint32)
        sparse_directions.update(grown, slots, row[slots])

    np.testing.assert_array_equal(sparse_directions.matrix(grown), sparse_directions.matrix(sketched(A, m)))


def test_a_row_catches_up_by_any_way():
    rng = np.random.default_rng(4)
    maps = rng.normal(size=(50, 4, 4))
    products = np.zeros(lazy_maps.room_for(50, 4))
    for number, turn in enumerate(maps):
        lazy_maps.record(products, number, turn)
    for start, stop in [(0, 50), (7, 43), (31, 32), (16, 48), (5, 5)]:
        row = rng.normal(size=4)
        expected = row.copy()
        for turn in maps[start:stop]:
            expected = expected @ turn

        lazy_maps.catch_up(products, start, stop, row, np.empty(4))

        np.testing.assert_allclose(row, expected, rtol=1e-9)


def test_oja_finds_the_leading_eigenvectors():
    rng = np.random.default_rng(5)
    basis = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    spectrum = np.array([100.0, 50.0, 25.0] + [1.0] * 9)
    state = oja.init(12, 3)
    for row in (rng.normal(size=(4000, 12)) * np.sqrt(spectrum)) @ basis.T:
        oja.update(state, np.arange(12, dtype=np.uint32), row)

    assert (abs(np.diag(oja.directions(state) @ basis[:, :3])) > 0.98).all()
    np.testing.assert_allclose(oja.eigenvalues(state), spectrum[:3], rtol=0.1)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 60), st.integers(1, 12), st.integers(1, 15), st.integers(-8, 8), st.integers(0, 10**6))
def test_ojas_directions_are_orthonormal(rows, dimension, m, exponent, seed):
    A = 2.0**exponent * matrix(rows, dimension, 3, seed, nonzeros=3)
    state = oja.init(dimension, m)
    for row in A:
        slots = np.flatnonzero(row).astype(np.uint32)
        oja.update(state, slots, row[slots])
    V = oja.directions(state)
    V = V[abs(V).max(axis=1) > 0.0]

    assert len(V) == min(m, int(state.counts[1]))
    assert abs(V @ V.T - np.eye(len(V))).max(initial=0.0) < 1e-10


@pytest.mark.parametrize(("m", "dimension"), [(3, 20), (6, 4)])
def test_directions_over_the_slots_in_use_are_orthonormal_wherever_they_start(m, dimension):
    state = oja.init(dimension, m)
    begin_at(state, Random(1000.0), 3)
    for row in matrix(50, dimension, 3, seed=1):
        oja.update(state, np.arange(dimension, dtype=np.uint32), row)
    V = oja.directions(state)
    V = V[abs(V).max(axis=1) > 0.0]

    assert len(V) == min(m, dimension)
    np.testing.assert_allclose(V @ V.T, np.eye(len(V)), atol=1e-10)


def test_a_late_slot_starts_with_an_even_share_of_what_is_left_of_a_random_start():
    m, dimension, most, shares = 3, 8, 100.0, []
    for seed in range(400):
        state = oja.init(dimension + 1, m)
        begin_at(state, Random(most), seed)
        for row in matrix(12, dimension, 4, seed):
            oja.update(state, np.arange(dimension, dtype=np.uint32), row)
        left = m - (oja.vectors(state) ** 2).sum()
        oja.update(state, np.array([dimension], np.uint32), np.array([1e-9]))
        late = (oja.vectors(state)[:, -1] ** 2).sum()
        shares.append((left / m, late / (left / (most - dimension))))
    left, late = np.array(shares).T
    assert left.mean() < 0.9  # gradients have turned the start
    assert abs(late.mean() - 1.0) < 4.0 * late.std() / 20.0


@pytest.mark.parametrize("spanned", ["none", "by another vector", "by the directions"])
def test_an_epoch_is_decomposed_as_the_whole_matrix_is(spanned):
    """Algorithm 7 beside eigenvectors of S'S, also where a vector adds nothing to what the others span."""
    random = np.random.default_rng(0)
    for m in range(2, 9):
        directions = np.linalg.qr(random.normal(size=(20, m)))[0].T
        mass = np.sort(random.exponential(size=m))[::-1].copy()
        vectors = random.normal(size=(m, 20))
        if spanned != "none":
            vectors[-1] = 2.0 * vectors[0] if spanned == "by another vector" else directions[0] - directions[1]
        gram = np.tril(vectors @ vectors.T)
        first, second, masses, _ = sparse_directions.decompose(mass, np.hstack([vectors @ directions.T, gram]))

        found = first @ directions + second @ vectors
        rows = np.vstack([np.sqrt(mass)[:, None] * directions, vectors])
        squares, basis = np.linalg.eigh(rows.T @ rows)
        squares, basis = squares[::-1][:m], basis[:, ::-1][:, :m]
        np.testing.assert_allclose(masses, squares - squares[-1], atol=1e-9 * squares[0])
        np.testing.assert_allclose(
            found.T @ np.diag(masses) @ found, basis @ np.diag(masses) @ basis.T, atol=1e-8 * squares[0]
        )
        np.testing.assert_allclose(found[:-1] @ found[:-1].T, np.eye(m - 1), atol=1e-8)
