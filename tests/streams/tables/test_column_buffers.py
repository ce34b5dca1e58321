"""Rows made of columns are those that a row by row transcription makes."""

import itertools

import numpy as np
import pytest

from ouzel.streams.tables.column_buffers import ColumnBuffers, rows_of_buffers


def buffers(columns, rows, seed=0):
    rng = np.random.default_rng(seed)
    ids, values = ColumnBuffers().allocate(columns, rows)
    ids[:] = rng.permutation(1 << 14)[:columns].astype(np.uint32)[:, None]
    values[:] = rng.uniform(1.0, 2.0, values.shape)
    return ids, values


def slow(ids, values):
    """Row by row: features by id, values of one id added up, zeros left out."""
    rows = []
    for i in range(ids.shape[1]):
        found = {}
        for identity, value in zip(ids[:, i].tolist(), values[:, i], strict=True):
            if value != 0.0:
                found[identity] = np.float32(found.get(identity, np.float32(0.0)) + value)
        rows.append(sorted(found.items()))
    return rows


def as_lists(rows):
    ends = rows.offsets.astype(int).tolist()
    return [list(zip(rows.ids[a:b].tolist(), rows.values[a:b], strict=True)) for a, b in itertools.pairwise(ends)]


@pytest.mark.parametrize("columns", [1, 3, 30, 9000])  # one tile and several, a row longer than a tile
def test_full_rows_are_those_of_the_columns(columns):
    ids, values = buffers(columns, 700 if columns < 100 else 3)

    assert as_lists(rows_of_buffers(ids, values)) == slow(ids, values)


@pytest.mark.parametrize("change", ["zero", "other id", "same id"])
def test_rows_that_are_not_full_are_those_of_the_columns(change):
    ids, values = buffers(5, 700)
    if change == "zero":
        values[2, 699] = 0.0
    elif change == "other id":
        ids[2, 699] = (1 << 14) + 1
    else:
        ids[2] = ids[1]

    assert as_lists(rows_of_buffers(ids, values)) == slow(ids, values)


def test_no_rows_and_no_columns():
    for shape in ((3, 0), (0, 3), (0, 0)):
        rows = rows_of_buffers(np.empty(shape, np.uint32), np.empty(shape, np.float32))

        assert (len(rows.offsets), len(rows.ids)) == (shape[1] + 1, 0)
