"""Columns of lists: where rows begin among their items, and rows written as lists of ids and values."""

from __future__ import annotations

import numpy as np
import pyarrow
import pyarrow.compute as compute

from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.feature_space import FeatureSpace, numbered
from ouzel.streams.tables.arrow_types import filled
from ouzel.streams.tables.cells import check_offsets
from ouzel.streams.tables.lanes import Rows, in_order


def list_rows(array: pyarrow.Array, items: int) -> np.ndarray:
    """Where the items of each list begin (n + 1,) among all of them."""
    lengths = filled(compute.list_value_length(array), 0)
    rows = np.concatenate([[0], np.cumsum(lengths)])
    check_offsets(rows, len(array), items)
    return rows


def any_in_row(flags: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Whether any entry of each row is so."""
    return np.diff(np.concatenate([[0], np.cumsum(flags)])[offsets]) > 0


def read_sparse(batch: pyarrow.RecordBatch) -> tuple[Rows, FeatureSpace, np.ndarray, np.ndarray]:
    """Rows whose features stand in two list columns, and what they are known by.

    And which rows (n,) have other values than a finite one for each id, and which have what is not an id.
    """
    ids = batch.column("indices").cast(pyarrow.large_list(pyarrow.int64()))
    values = batch.column("values").cast(pyarrow.large_list(pyarrow.float32()))
    lengths, others = (filled(compute.list_value_length(lists), 0) for lists in (ids, values))
    offsets, ends = (np.concatenate([[0], np.cumsum(counts)]) for counts in (lengths, others))
    numbers = filled(values.flatten(), np.nan)
    whole = filled(ids.flatten(), -1)
    check_offsets(offsets, batch.num_rows, len(whole))
    check_offsets(ends, batch.num_rows, len(numbers))
    unsound = (lengths != others) | any_in_row(~np.isfinite(numbers), ends)
    wrong = any_in_row((whole < 0) | (whole > MOST_ID), offsets)
    rows = Rows(offsets.astype(np.uint64), whole.astype(np.uint32), numbers.copy())
    return in_order(rows), numbered(whole), unsound, wrong
