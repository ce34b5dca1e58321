"""Numbers of arrays and of columns as rows in single precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.streams.block import LARGEST
from ouzel.streams.kernels import array_values
from ouzel.streams.kernels.array_values import rows_of_array, rows_of_columns, survey

KINDS = st.lists(st.sampled_from([np.float64, np.float32, np.int64, np.uint8, np.bool_]), min_size=1, max_size=40)


@given(kinds=KINDS, n=st.integers(0, 5000), seed=st.integers(0, 99))
def test_rows_of_columns_are_the_columns_side_by_side_in_single_precision(kinds, n, seed):
    rng = np.random.default_rng(seed)
    columns = [rng.normal(0, 100, n).astype(kind) for kind in kinds]

    rows = rows_of_columns(columns)

    np.testing.assert_array_equal(rows, np.column_stack([column.astype(np.float32) for column in columns]))
    assert rows.flags.c_contiguous
    assert survey(rows.ravel()) == (True, bool((rows == 0).any()))


@pytest.mark.parametrize("ones", [0, 1])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (7, 40), (40, 7), (8, 8), (701, 13)])
def test_rows_of_an_array_are_its_rows_however_it_lies_in_memory(shape, ones, monkeypatch):
    monkeypatch.setattr(array_values, "CACHED", 1000)
    X = np.random.default_rng(0).normal(size=shape)
    expected = np.column_stack([np.ones((len(X), ones)), X]).astype(np.float32)

    for same in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], np.flip(np.asfortranarray(np.flip(X)))):
        for kind in (np.float64, np.float32):
            rows = rows_of_array(same.astype(kind), ones)

            np.testing.assert_array_equal(rows, expected)
            assert rows.flags.c_contiguous


@pytest.mark.parametrize("n", [3, 33])
@pytest.mark.parametrize("wrong", [np.inf, -np.inf, np.nan, 1e39, -1e39])
def test_what_is_too_large_or_missing_is_found(n, wrong):
    column = np.full(n, LARGEST)
    assert survey(rows_of_columns([column, -column]).ravel()) == (True, False)

    column[1] = wrong

    for rows in (rows_of_columns([column, np.ones(n)]), rows_of_array(np.asfortranarray([column, column]), 1)):
        assert survey(rows.ravel())[0] is False
