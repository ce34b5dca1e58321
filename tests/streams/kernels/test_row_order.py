"""Rows in canonical order."""

import numpy as np
import pyarrow
import pytest
from numpy.testing import assert_array_equal

from ouzel.streams.block import LARGEST
from ouzel.streams.kernels.row_buffer import RANKED, canonical_rows
from ouzel.streams.read import read


@pytest.mark.parametrize("more", [0, RANKED])
def test_repeated_ids_add_up_to_no_more_than_a_value_may_be(more):
    ids = np.array([5, 3, 5, 3, *range(10, 10 + more)], np.uint32)
    values = np.array([3e38, -3e38, 3e38, -3e38, *[1.0] * more], np.float32)
    offsets = np.array([0, len(ids)], np.uint64)

    end = canonical_rows(offsets, ids, values)

    assert end == 2 + more
    assert_array_equal(ids[:2], [3, 5])
    assert_array_equal(values[:2], np.float32([-LARGEST, LARGEST]))


def test_sparse_rows_of_tables_have_finite_values(tmp_path):
    table = pyarrow.table({"label": [1], "indices": [[7, 7]], "values": pyarrow.array([[3e38, 3e38]])})
    with pyarrow.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, pyarrow.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)

    (block,) = read(str(tmp_path / "a.arrow"))

    assert_array_equal(block.values, np.float32([LARGEST]))
