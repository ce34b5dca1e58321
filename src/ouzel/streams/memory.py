"""Blocks of data in memory: arrays, sparse matrices, data frames, and pairs of a dictionary and a label."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sparse

from ouzel.errors import DataError
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.block import ROWS, Block, Names
from ouzel.streams.block_stream import BlockStream, GivenBlocks
from ouzel.streams.dictionaries import blocks_of_dictionaries
from ouzel.streams.feature_space import columns_of_array
from ouzel.streams.frames import as_table, is_table, table_blocks
from ouzel.streams.interactions.deriver import Deriver
from ouzel.streams.kernels.row_buffer import without_zeros
from ouzel.streams.labels import Label, as_weights, encode_labels
from ouzel.streams.limits import UNLIMITED
from ouzel.streams.missing import NA_FEATURE
from ouzel.streams.options import OF_COLUMNS_BY_NAME, OF_EXAMPLES, OF_FILES, Options, check_in_memory, make_options
from ouzel.streams.sources.error_context import wrap_errors


def to_block(
    X: Any,
    labels: np.ndarray | None = None,
    *,
    label_names: Sequence[Label] | None = None,
    weights: np.ndarray | None = None,
    missing: bool | None = None,
) -> Block:
    """One block of an array (n, d) or of a SciPy matrix, zeros left out; ids are column numbers.

    `labels` (n,) are numbers, NaN for none, or positions in `label_names`. NaN in an array is `missing`: the feature
    column + d if that is true, none if it is false, and refused if it is None.
    """
    if np.ndim(X) != 2:
        raise DataError(f"examples are the rows of an array of two dimensions; got one of {np.ndim(X)}")
    is_sparse, names, width = sparse.issparse(X), None, X.shape[1] if sparse.issparse(X) else np.shape(X)[1]
    if is_sparse:
        X = _sound(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        offsets, indices, data = X.indptr, X.indices, X.data
    else:
        X = np.asarray(X)
        if X.shape[1] > MOST_ID + 1:
            raise DataError(f"the array has {X.shape[1]} columns; expected ids of features from 0 to {MOST_ID}")
        mask = X != 0
        if missing is not None and X.dtype.kind == "f" and np.isnan(X).any():
            X, mask, names = _with_marks(X, mask, missing)
        offsets = np.concatenate([[0], np.cumsum(np.count_nonzero(mask, axis=1))])
        indices = np.broadcast_to(np.arange(X.shape[1], dtype=np.uint32), X.shape)[mask]
        data = X[mask]
    with np.errstate(over="ignore"):
        values = data.astype(np.float32)  # a copy
    if not np.isfinite(values).all():
        k = int(np.flatnonzero(~np.isfinite(values))[0])
        row = int(np.searchsorted(offsets, k, side="right")) - 1
        raise DataError.at(None, str(data[k]), "expected a finite number below 3.4e38", row=row, column=int(indices[k]))
    n = X.shape[0]
    offsets, ids = offsets.astype(np.uint64), indices.astype(np.uint32)
    space = columns_of_array(width, ids[ids < width])._replace(indicator=None if is_sparse else missing)
    end = without_zeros(offsets, ids, values)  # zeros of a sparse matrix, or values too small for single precision
    return Block(
        offsets,
        ids[:end],
        values[:end],
        np.full(n, np.nan) if labels is None else np.asarray(labels, np.float64),
        as_weights(weights, n),
        label_names=label_names,
        names=names,
        space=space,
    )


def _with_marks(X: np.ndarray, mask: np.ndarray, marked: bool) -> tuple[np.ndarray, np.ndarray, Names | None]:
    """An array (n, d) with NaN, its non-zeros and names: d more columns say what is missing, if that is `marked`."""
    lacking, width = np.isnan(X), X.shape[1]
    if not marked:
        return X, mask & ~lacking, None
    if 2 * width > MOST_ID + 1:
        raise DataError(f"the array has {width} columns, and some are missing; expected at most {(MOST_ID + 1) // 2}")
    columns = np.flatnonzero(lacking.any(axis=0)).tolist()
    names = Names.joined([Names.of_one(width + column, f"{column}={NA_FEATURE}") for column in columns])
    wide = np.concatenate([X, np.ones_like(X)], axis=1)
    return wide, np.concatenate([mask & ~lacking, lacking], axis=1), names


def marks_missing(options: Options) -> bool:
    """Whether NaN in an array is a feature of its own: not to a model whose ids are no columns of an array."""
    space = options.space
    return options.indicator and (space.width is not None or not space.known)


def check_sparse(X: Any) -> None:
    """Refuse a SciPy matrix whose offsets and ids contradict each other: kernels trust them, and SciPy itself does.

    SciPy's own check converts offsets to 32 bits first, and lets 2^31 pass.

    >>> X = sparse.csr_array(np.eye(2))
    >>> X.indices[0] = 9
    >>> check_sparse(X)
    Traceback (most recent call last):
    ouzel.errors.DataError: sparse matrix: its ids lie outside of 0 to 1
    """
    if not sparse.issparse(X) or X.format not in ("csr", "csc"):
        return
    major, minor = X.shape if X.format == "csr" else X.shape[::-1]
    offsets, ids = np.asarray(X.indptr), np.asarray(X.indices)
    if offsets.shape != (major + 1,) or offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any():
        raise DataError("sparse matrix: its offsets are not one more than its rows, rising from 0")
    if len(ids) != len(X.data) or offsets[-1] > len(ids):
        raise DataError("sparse matrix: its offsets, ids and values are not of one length")
    if len(ids) and not 0 <= ids.min() <= ids.max() < minor:
        raise DataError(f"sparse matrix: its ids lie outside of 0 to {minor - 1}")


def _sound(X: Any) -> Any:
    """A SciPy matrix in compressed sparse rows whose offsets and ids are in order; DataError if they are not."""
    check_sparse(X)
    with wrap_errors("sparse matrix"):
        if X.format == "bsr":
            X.check_format(full_check=True)
        X = X.tocsr()
    if X.shape[1] > MOST_ID + 1 and X.nnz and X.indices.max() > MOST_ID:
        k = int(np.argmax(X.indices > MOST_ID))
        row = int(np.searchsorted(X.indptr, k, side="right")) - 1
        raise DataError.at(None, f"the id {X.indices[k]} of a feature", f"expected ids from 0 to {MOST_ID}", row=row)
    return X


def blocks_from(
    data: Any,
    labels: Any = None,
    *,
    weights: Any = None,
    model: Any = None,
    block_rows: int = ROWS,
    **options: Any,
) -> BlockStream:
    """A stream of an array, a SciPy matrix, a pandas, polars or Arrow table, or pairs (features, label[, weight]).

    Columns of tables have the features that files with such columns have: `column` for numbers, `column=value` for
    words. Features given as dictionaries likewise. Labels are numbers, or names of any kind. `options` are those of
    `ouzel.streams.options.Options` on the kinds of columns, and `bits` and `seed` of the hash; those of a table may
    name its columns of labels, weights, groups and ids: `label="clicked"`. For a `model` or an estimator that has
    learnt something, columns are read as it knows them.

    Examples
    --------
    >>> block = next(blocks_from([({"price": 2.5, "city": "Rome"}, 1)]))
    >>> block.values.tolist(), block.labels.tolist()
    ([2.5, 1.0], [1.0])
    """
    if model is not None:
        model = getattr(model, "model_", model)
        options = {"bits": model.bits, "seed": model.seed, "space": model.space, **options}
    given = make_options(options)
    by_name = not (sparse.issparse(data) or isinstance(data, np.ndarray))
    frame = by_name and is_table(data)
    kind = "a data frame" if frame else "examples given as dictionaries" if by_name else "an array"
    of_columns = [] if by_name else [name for name in OF_COLUMNS_BY_NAME if name != "missing" or sparse.issparse(data)]
    check_in_memory(given, kind, [*OF_FILES, *(() if frame else OF_EXAMPLES), *of_columns])
    given = replace(given, limits=UNLIMITED)
    remarks: list[str] = []
    if frame:
        blocks = _of_table(data, labels, weights, given, remarks.append, block_rows)
    elif not by_name:
        blocks = _of_array(data, labels, weights, given, block_rows)
    else:
        blocks = _of_pairs(data, labels, weights, given, block_rows)
    return GivenBlocks(blocks, kind, given, remarks)


def _of_table(
    data: Any, labels: Any, weights: Any, options: Options, say: Callable[[str], None], block_rows: int
) -> Iterator[Block]:
    yield from table_blocks(as_table(data), labels, weights, options, say, block_rows)


def _of_array(data: Any, labels: Any, weights: Any, options: Options, block_rows: int) -> Iterator[Block]:
    deriver = Deriver(options)
    X = _sound(data) if sparse.issparse(data) else data
    codes, names = encode_labels(labels, X.shape[0])
    weights = None if weights is None else as_weights(weights, X.shape[0])
    for start in range(0, X.shape[0], block_rows):
        here = slice(start, start + block_rows)
        weight = None if weights is None else weights[here]
        block = to_block(X[here], codes[here], label_names=names, weights=weight, missing=marks_missing(options))
        yield from deriver.derive([block])


def _of_pairs(data: Any, labels: Any, weights: Any, options: Options, block_rows: int) -> Iterator[Block]:
    if labels is not None:
        data = zip(data, labels, strict=True)
    if weights is not None:
        data = ((*row[:2], weight) for row, weight in zip(data, weights, strict=True))
    yield from Deriver(options).derive(blocks_of_dictionaries(data, options, block_rows))
