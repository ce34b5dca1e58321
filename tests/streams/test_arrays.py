"""Rows of arrays are checked in place, and learnt in pieces as they would be in one block."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sparse

import ouzel
from ouzel.errors import DataError
from ouzel.layout import flat
from ouzel.model.model import Model
from ouzel.model.room import slots_of
from ouzel.streams import arrays
from ouzel.streams.arrays import ArrayRows
from ouzel.streams.block import Slots
from ouzel.streams.memory import to_block

N, D = 700, 9


def filled(share=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((N, D)) * (rng.random((N, D)) < share)


def read_only(X):
    X.data.flags.writeable = X.indices.flags.writeable = False
    return X


def long_ids(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


KINDS = {
    "rows": filled(),
    "single": filled().astype(np.float32),
    "columns": np.asfortranarray(filled()),
    "strided": np.repeat(filled(), 2, axis=1)[:, ::2],
    "zeros": filled(0.3),
    "whole numbers": (3.0 * filled()).astype(int),
    "csr": sparse.csr_matrix(filled(0.3)).astype(np.float32),
    "csr, double": sparse.csr_array(filled(0.3)),
    "csr, read only": read_only(sparse.csr_matrix(filled(0.3)).astype(np.float32)),
    "csr, long ids": long_ids(sparse.csr_matrix(filled(0.3)).astype(np.float32)),
    "csc": sparse.csc_matrix(filled(0.3)),
    "coo": sparse.coo_matrix(filled(0.3)),
}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(arrays, "MOST_ROWS", 64)


def stored_zeros():
    X = sparse.csr_matrix(filled(0.3)).astype(np.float32)
    X.data[::5] = 0.0
    return X


@pytest.mark.parametrize("kind", [*KINDS, "stored zeros"])
def test_pieces_are_learnt_as_one_block_and_the_array_stays_as_it_is(kind):
    X = KINDS.get(kind, stored_zeros())
    before, y = X.copy(), np.random.default_rng(1).integers(0, 3, N)
    whole = Model("adagrad", loss="logistic")
    whole.learn(to_block(X, y.astype(np.float64), label_names=[0, 1, 2], missing=True))

    estimator = ouzel.AdaGradClassifier().partial_fit(X, y)

    model = estimator.model_
    assert len(list(ArrayRows(X).blocks())) > 5
    assert (model.space, model.dimension, model.classes.known) == (whole.space, whole.dimension, whole.classes.known)
    for state, other in zip(model.states, whole.states, strict=True):
        for (_, found), (_, expected) in zip(flat(state), flat(other), strict=True):
            np.testing.assert_array_equal(found, expected)
    order = model.classes.order()
    np.testing.assert_array_equal(estimator.decision_function(X), whole.margins(to_block(X))[:, order])
    same = before != X
    assert not (same.nnz if sparse.issparse(X) else same.any())


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *itertools.product(["rows", "single", "columns", "csr", "csr, double"], [-np.inf, 3.5e38]),
        *itertools.product(["csr", "csr, double"], [np.nan]),  # in an array it is missing
    ],
)
def test_a_bad_value_in_the_last_piece_is_refused_before_anything_is_learnt(kind, value):
    X, y = KINDS[kind].copy(), np.arange(N) % 2
    if X.dtype == np.float32 and value == 3.5e38:
        value = np.inf
    estimator = ouzel.AdaGradClassifier().partial_fit(X, y)
    weights = estimator.coef_.copy()
    row = N - 2
    if sparse.issparse(X):
        column = X.indices[X.indptr[row]]
        X.data[X.indptr[row]] = value
    else:
        column = 4
        X[row, column] = value

    says = "Input X contains infinity" if np.isinf(value) else f"row {row}, column {column}: found"
    for call in (estimator.partial_fit, lambda X, y: estimator.predict(X)):
        with pytest.raises(ValueError, match=says):
            call(X, y)
    with pytest.raises(DataError, match=f"row {row}, column {column}: found"):
        list(ArrayRows(X).blocks())
    np.testing.assert_array_equal(estimator.coef_, weights)
    assert estimator.model_.examples == N


def test_blocks_of_given_size_do_not_share_memory_with_the_array():
    for X in (KINDS["single"], KINDS["csr"]):
        stored = X.data if sparse.issparse(X) else X
        assert not any(np.shares_memory(block.values, stored) for block in ArrayRows(X).blocks(100))
        assert any(np.shares_memory(block.values, stored) for block in ArrayRows(X).blocks())


@pytest.mark.filterwarnings("ignore:no better than a constant")
def test_examples_without_weight_are_left_out_of_pieces():
    X, y, weights = KINDS["rows"], np.arange(N) % 2, (np.arange(N) % 3).astype(float)
    some = ouzel.AdaGradClassifier().fit(X, y, sample_weight=weights)
    kept = weights > 0
    others = ouzel.AdaGradClassifier().fit(X[kept], y[kept], sample_weight=weights[kept])

    np.testing.assert_array_equal(some.coef_, others.coef_)
    assert some.model_.examples == kept.sum()
    with pytest.raises(ValueError, match=r"non-zero|every example has weight 0"):
        ouzel.AdaGradClassifier().fit(X, y, sample_weight=np.zeros(N))


@pytest.mark.parametrize("marked", [True, False])
def test_pieces_with_nan_are_the_rows_of_one_block(marked):
    X = filled(0.5)
    X[100:, 2], X[600:, 5], X[650] = np.nan, np.nan, np.nan
    rows = ArrayRows(X, missing=marked)
    whole, pieces = rows.block(0, N), list(rows.blocks())

    np.testing.assert_array_equal(np.concatenate([piece.indices for piece in pieces]), whole.indices)
    np.testing.assert_array_equal(np.concatenate([piece.values for piece in pieces]), whole.values)
    last = whole.indices[int(whole.offsets[650]) : int(whole.offsets[651])]
    assert last.tolist() == ([D + column for column in range(D)] if marked else [])
    kept = np.flatnonzero(~np.isnan(X[300]) & (X[300] != 0)).tolist()
    at = slice(int(whole.offsets[300]), int(whole.offsets[301]))
    assert whole.indices[at].tolist() == kept + [D + 2] * marked
    assert pieces[0].names is None
    with pytest.raises(DataError, match="row 100, column 2: found nan"):
        list(ArrayRows(X).blocks())


def hidden(X):
    X = X.copy()
    X[100:, 2], X[600:, 5], X[650] = np.nan, np.nan, np.nan
    return X


def late(X):
    """Its first rows, and its last columns, are empty: a model of those has fewer slots than it has columns."""
    X = np.column_stack([X, np.zeros((N, 3000))])
    X[:300] = 0.0
    return X


ARRAYS_IN_SLOTS = {
    **{kind: X for kind, X in KINDS.items() if not sparse.issparse(X)},
    "missing": hidden(filled(0.5)),
    "tiny": np.where(filled(0.5) > 0.0, -1e-60, filled()),  # a zero with a sign, in single precision
    "late": late(filled()),
}


@pytest.mark.parametrize("kind", ARRAYS_IN_SLOTS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("learner", ["adagrad", "auto", "awm", "adagrad-full"])
def test_predictions_of_pieces_in_slots_are_those_of_blocks(kind, intercept, learner):
    X, y = ARRAYS_IN_SLOTS[kind], np.random.default_rng(1).integers(0, 2, N)
    estimator = ouzel.OnlineClassifier(learner, fit_intercept=intercept).partial_fit(X, y)

    for given in (X, X[:, ::-1]):
        expected = [estimator.model_.margins(block) for block in ArrayRows(given, missing=True).blocks()]
        np.testing.assert_array_equal(estimator._margins(given), np.concatenate(expected))
    fits = learner != "adagrad-full" and (kind != "late" or learner == "awm")
    assert next(estimator._unlabelled(X, slots_of(estimator.model_))).in_slots == fits


def test_pieces_are_in_slots_where_nothing_is_missing():
    missing, full = (
        ArrayRows(ARRAYS_IN_SLOTS[kind], missing=True).blocks(slots=Slots(True, D + 1)) for kind in ("missing", "tiny")
    )

    assert [block.in_slots for block in missing] == [True] + [False] * 10
    for block in full:
        assert block.in_slots
        assert set(block.indices[block.offsets[:-1].astype(int)].tolist()) == {0}
        assert block.values.all()


@pytest.mark.filterwarnings("ignore:no better than a constant")
def test_a_prediction_is_that_of_one_model_though_another_is_begun_meanwhile(monkeypatch):
    X, y = np.column_stack([filled(), np.ones((N, 3000))]), np.arange(N) % 2
    estimator = ouzel.AdaGradClassifier().fit(X, y)
    expected, unlabelled = estimator._margins(X), estimator._unlabelled

    def begun_anew(X, slots):
        for block in unlabelled(X, slots):
            estimator.fit(np.where(np.arange(X.shape[1]) < D, X, 0.0), y)
            yield block

    monkeypatch.setattr(estimator, "_unlabelled", begun_anew)

    np.testing.assert_array_equal(estimator._margins(X), expected)
    assert estimator.model_.reach < X.shape[1]
