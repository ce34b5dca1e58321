"""Rows of arrays and sparse matrices, which are checked in place and become blocks piece by piece.

A piece fits the caches of a processor, where to convert it costs little. Rows converted whole would each be written to
memory that the system has to find first, and read again from there: several times what learning them costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, NoReturn, cast

import numpy as np
import scipy.sparse as sparse

from ouzel.errors import DataError
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.block import Block, Names, Slots
from ouzel.streams.feature_space import FeatureSpace, columns_of_array
from ouzel.streams.kernels.array_values import CACHED, rows_of_array, survey
from ouzel.streams.kernels.row_buffer import without_zeros
from ouzel.streams.labels import Label
from ouzel.streams.missing import NA_FEATURE
from ouzel.streams.options import Options
from ouzel.streams.sources.error_context import wrap_errors
from ouzel.streams.weights import as_weights

MOST_ROWS = 1 << 14  # of a piece
Filled = tuple[int, ...]  # the first and the last column that have values, or nothing


def unmasked(X: Any) -> Any:
    """An array in which what NumPy masks is missing; anything else as it is.

    >>> unmasked(np.ma.masked_array([[1, 2]], [[False, True]])).tolist()
    [[1.0, nan]]
    """
    return np.ma.filled(X.astype(np.float64), np.nan) if isinstance(X, np.ma.MaskedArray) else X


class ArrayRows:
    """The rows of an array (n, d) or of a SciPy matrix; ids are column numbers, and zeros are left out.

    NaN in an array is `missing`: the feature column + d if that is true, none if it is false, and refused if it is
    None. Of a matrix that was given to `check_sparse` already, that has told the `filled` columns.

    >>> rows = ArrayRows(np.array([[0.0, 2.0], [3.0, 0.0], [4.0, 5.0]]))
    >>> [block.values.tolist() for block in rows.blocks(2)]
    [[2.0, 3.0], [4.0, 5.0]]
    >>> ArrayRows(np.array([[1.0, np.nan]]), missing=True).block(0, 1).indices.tolist()
    [0, 3]
    """

    def __init__(self, X: Any, filled: Filled | None = None, missing: bool | None = None) -> None:
        if np.ndim(X) != 2:
            raise DataError(f"examples are the rows of an array of two dimensions; got one of {np.ndim(X)}")
        self.is_sparse = sparse.issparse(X)
        self.X: Any
        self.filled: Filled | None
        self.filled, self.X = _canonical(X, filled) if self.is_sparse else (None, np.asarray(X))
        self.shape: tuple[int, int] = self.X.shape
        if not self.is_sparse and self.shape[1] > MOST_ID + 1:
            raise DataError(f"the array has {self.shape[1]} columns; expected ids of features from 0 to {MOST_ID}")
        self.missing = None if self.is_sparse else missing
        self._full_rows: dict[range, np.ndarray] = {}  # ids of rows that have all of these

    @property
    def at_once(self) -> int:
        """Rows of a piece that fits the caches."""
        n, d = self.shape
        cells = self.X.nnz if self.is_sparse else n * d
        return max(1, min(MOST_ROWS, CACHED * n // max(cells, 1)))

    def check(self) -> None:
        """Refuse values that are no finite numbers of single precision, with the place of the first: DataError."""
        for start, stop in _cut(self.shape[0], self.at_once):
            if not survey(self._values(start, stop, order="K"))[0]:
                self.block(start, stop)

    def blocks(
        self,
        rows: int | None = None,
        labels: np.ndarray | None = None,
        *,
        label_names: Sequence[Label] | None = None,
        weights: np.ndarray | None = None,
        slots: Slots | None = None,
    ) -> Iterator[Block]:
        """Blocks of a number of rows each, by default of pieces that fit the caches and may share the array's memory.

        `labels` (n,) are numbers, NaN for none, or positions in `label_names`; `weights` (n,) are 1 unless given. With
        the `slots` of a learner, blocks of an array without missing values are `in_slots` if all columns have one.
        """
        for start, stop in _cut(self.shape[0], rows or self.at_once):
            given = None if labels is None else labels[start:stop], None if weights is None else weights[start:stop]
            yield self.block(start, stop, *given, label_names, rows is not None, slots)

    def block(
        self,
        start: int,
        stop: int,
        labels: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        label_names: Sequence[Label] | None = None,
        copy: bool = True,
        slots: Slots | None = None,
    ) -> Block:
        """Rows `start` to `stop` - 1 as one block, without a `copy` over the numbers of the array where they fit."""
        width = self.shape[1]
        if slots is not None and (self.is_sparse or width >= slots.limit):
            slots = None
        columns = range(width) if slots is None else range(int(not slots.constant), width + 1)
        values = self._values(start, stop, ones=len(columns) - width)
        are_finite, have_zeros = survey(values)
        if not are_finite and slots is not None:
            return self.block(start, stop, labels, weights, label_names, copy)
        ids, names, n = self._ids(start, stop, columns), None, stop - start
        if not are_finite:
            ids, values, names = self._without_nan(start, stop, values)
            have_zeros = True
        if self.is_sparse:
            offsets = (self.X.indptr[start : stop + 1] - self.X.indptr[start]).astype(np.uint64)
        else:
            offsets = np.arange(n + 1, dtype=np.uint64) * np.uint64(len(ids) // max(n, 1))
        if copy or have_zeros:
            ids = ids.copy()
            values = values.copy() if np.may_share_memory(values, self.X.data if self.is_sparse else self.X) else values
        if have_zeros:  # of a sparse matrix, or values too small for single precision
            end = without_zeros(offsets, ids, values)
            ids, values = ids[:end], values[:end]
        return Block(
            offsets,
            ids,
            values,
            np.full(n, np.nan) if labels is None else np.asarray(labels, np.float64),
            as_weights(weights, n),
            label_names=label_names,
            names=names,
            space=self.space,
            in_slots=slots is not None,
        )

    @cached_property
    def space(self) -> FeatureSpace:
        """The space of the columns, with the first and the last filled one."""
        if self.filled is not None:
            return columns_of_array(self.shape[1], np.array(self.filled, np.int64))
        found, start, rows = np.zeros(self.shape[1], bool), 0, 1  # most often the first row tells
        while start < self.shape[0] and not (found.size and found[0] and found[-1]):
            found |= (self.X[start : start + rows] != 0).any(axis=0)
            start, rows = start + rows, min(8 * rows, self.at_once)
        return columns_of_array(self.shape[1], np.flatnonzero(found))._replace(indicator=self.missing)

    def _values(self, start: int, stop: int, order: Literal["C", "K"] = "C", ones: int = 0) -> np.ndarray:
        """The values of some rows in single precision, all of an array or those stored of a sparse matrix.

        They come row by row, with so many `ones` in front of each row, or with `order` K in the order of memory.
        """
        indptr = self.X.indptr if self.is_sparse else ()
        stored = self.X.data[indptr[start] : indptr[stop]] if self.is_sparse else self.X[start:stop]
        if ones or not (self.is_sparse or order == "K" or stored.flags.c_contiguous):
            return rows_of_array(stored, ones).ravel()
        with np.errstate(over="ignore"):
            values = cast(np.ndarray, stored.astype(np.float32, order=order, copy=False).ravel(order))
        return values if values.flags.writeable else values.copy()  # kernels are compiled for such

    def _ids(self, start: int, stop: int, columns: range) -> np.ndarray:
        """The ids of those values, which are these in each row of an array."""
        if self.is_sparse:
            ids = self.X.indices[self.X.indptr[start] : self.X.indptr[stop]]
            ids = ids.view(np.uint32) if ids.dtype == np.int32 and ids.flags.writeable else ids.astype(np.uint32)
            return cast(np.ndarray, ids)
        rows = self._full_rows.get(columns)
        if rows is None or len(rows) < stop - start:
            ids = np.arange(columns.start, columns.stop, dtype=np.uint32)
            rows = self._full_rows[columns] = np.tile(ids, (stop - start, 1))
        return rows[: stop - start].ravel()

    def _without_nan(self, start: int, stop: int, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, Names | None]:
        """The ids, the values and the names of rows with NaN: d more columns say what is missing, if that is marked.

        DataError if it is refused, or if a value is infinite.
        """
        lacking, (rows, width) = np.isnan(values), (stop - start, self.shape[1])
        if self.missing is None or not np.isfinite(values[~lacking]).all():
            self._refuse(start, stop, values)
        numbers = np.where(lacking, np.float32(0.0), values)
        if not self.missing:
            return self._ids(start, stop, range(width)), numbers, None
        if 2 * width > MOST_ID + 1:
            raise DataError(
                f"the array has {width} columns, and some are missing; expected at most {(MOST_ID + 1) // 2}"
            )
        marks = lacking.reshape(rows, width)
        columns = np.flatnonzero(marks.any(axis=0)).tolist()
        names = Names.joined([Names.of_one(width + column, f"{column}={NA_FEATURE}") for column in columns])
        ids = np.tile(np.arange(2 * width, dtype=np.uint32), rows)
        return ids, np.concatenate([numbers.reshape(rows, width), marks], axis=1, dtype=np.float32).ravel(), names

    def _refuse(self, start: int, stop: int, values: np.ndarray) -> NoReturn:
        """Say where the first bad one of the values of some rows stands."""
        is_bad = ~np.isfinite(values) if self.missing is None else np.isinf(values)
        k = int(np.flatnonzero(is_bad)[0])
        if self.is_sparse:
            k += int(self.X.indptr[start])
            row, column = int(np.searchsorted(self.X.indptr, k, side="right")) - 1, int(self.X.indices[k])
            found = self.X.data[k]
        else:
            row, column = start + k // self.shape[1], k % self.shape[1]
            found = self.X[row, column]
        raise DataError.at(None, str(found), "expected a finite number below 3.4e38", row=row, column=column)


def marks_missing(options: Options) -> bool:
    """Whether NaN in an array is a feature of its own: not to a model whose ids are no columns of an array."""
    space = options.space
    return options.indicator and (space.width is not None or not space.known)


def _cut(count: int, most: int) -> Iterator[tuple[int, int]]:
    """Start and stop of each piece of at most `most` of `count` items."""
    return ((start, min(start + most, count)) for start in range(0, count, most))


def check_sparse(X: Any) -> Filled | None:
    """Refuse a SciPy matrix whose offsets and ids contradict each other: kernels trust them, and SciPy itself does.

    SciPy's own check converts offsets to 32 bits first, and lets 2^31 pass. The first and the last column with a stored
    value are returned, none of a matrix without; None of a matrix that is not compressed.

    >>> X = sparse.csr_array(np.eye(2))
    >>> X.indices[0] = 9
    >>> check_sparse(X)
    Traceback (most recent call last):
    ouzel.errors.DataError: sparse matrix: its ids lie outside of 0 to 1
    """
    if not sparse.issparse(X) or X.format not in ("csr", "csc"):
        return None
    major, minor = X.shape if X.format == "csr" else X.shape[::-1]
    offsets, ids = np.asarray(X.indptr), np.asarray(X.indices)
    if offsets.shape != (major + 1,) or offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any():
        raise DataError("sparse matrix: its offsets are not one more than its rows, rising from 0")
    if len(ids) != len(X.data) or offsets[-1] > len(ids):
        raise DataError("sparse matrix: its offsets, ids and values are not of one length")
    ends = [end for start, stop in _cut(len(ids), CACHED) for end in (ids[start:stop].min(), ids[start:stop].max())]
    if ends and not 0 <= min(ends) <= max(ends) < minor:
        raise DataError(f"sparse matrix: its ids lie outside of 0 to {minor - 1}")
    if X.format == "csr":
        return (int(min(ends)), int(max(ends))) if ends else ()
    filled = np.flatnonzero(np.diff(offsets))
    return (int(filled[0]), int(filled[-1])) if len(filled) else ()


def _canonical(X: Any, filled: Filled | None) -> tuple[Filled, Any]:
    """A SciPy matrix in compressed sparse rows, whose offsets and ids are in order; DataError if they are not."""
    if filled is None:
        filled = check_sparse(X)
    with wrap_errors("sparse matrix"):
        if X.format == "bsr":
            X.check_format(full_check=True)
        X = X.tocsr()
    if filled is None:
        filled = check_sparse(X) or ()
    if X.shape[1] > MOST_ID + 1 and filled and filled[-1] > MOST_ID:
        k = int(np.argmax(X.indices > MOST_ID))
        row = int(np.searchsorted(X.indptr, k, side="right")) - 1
        raise DataError.at(None, f"the id {X.indices[k]} of a feature", f"expected ids from 0 to {MOST_ID}", row=row)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return filled, X
