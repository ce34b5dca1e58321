"""Blocks from what lies in memory: arrays, sparse matrices, data frames, and pairs of a dictionary and a label."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sparse

from ouzel.errors import DataError
from ouzel.sketches.hashing import MOST_ID, feature_id
from ouzel.streams.block import LARGEST, Block, Names
from ouzel.streams.guard import one_line
from ouzel.streams.label_values import Label
from ouzel.streams.limits import UNLIMITED
from ouzel.streams.options import Options
from ouzel.streams.row_order import canonical_rows

ROWS = 4096


def to_block(
    X: Any,
    labels: np.ndarray | None = None,
    *,
    label_names: Sequence[Label] | None = None,
    weights: np.ndarray | None = None,
) -> Block:
    """One block of an array (n, d), zeros left out, or of a SciPy matrix; ids are column numbers.

    `labels` (n,) are numbers, NaN for none, or positions in `label_names`.
    """
    if np.ndim(X) != 2:
        raise DataError(f"examples are the rows of an array of two dimensions; got one of {np.ndim(X)}")
    if sparse.issparse(X):
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
        offsets = np.concatenate([[0], np.cumsum(np.count_nonzero(mask, axis=1))])
        indices = np.broadcast_to(np.arange(X.shape[1], dtype=np.uint32), X.shape)[mask]
        data = X[mask]
    with np.errstate(over="ignore"):
        values = data.astype(np.float32)
    if not np.isfinite(values).all():
        k = int(np.flatnonzero(~np.isfinite(values))[0])
        row = int(np.searchsorted(offsets, k, side="right")) - 1
        raise DataError(f"row {row}, column {indices[k]}: found {data[k]}; expected a finite number below 3.4e38")
    n = X.shape[0]
    return Block(
        offsets.astype(np.uint64),
        indices.astype(np.uint32),
        values,
        np.full(n, np.nan) if labels is None else np.asarray(labels, np.float64),
        as_weights(weights, n),
        label_names=label_names,
    )


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
    with one_line("sparse matrix"):
        if X.format == "bsr":
            X.check_format(full_check=True)
        X = X.tocsr()
    if X.shape[1] > MOST_ID + 1 and X.nnz and X.indices.max() > MOST_ID:
        k = int(np.argmax(X.indices > MOST_ID))
        row = int(np.searchsorted(X.indptr, k, side="right")) - 1
        raise DataError(f"row {row}: found the id {X.indices[k]} of a feature; expected ids from 0 to {MOST_ID}")
    return X


def blocks_from(
    data: Any,
    labels: Any = None,
    *,
    weights: Any = None,
    bits: int = 18,
    seed: int = 0,
    block_rows: int = ROWS,
) -> Iterator[Block]:
    """Blocks of an array, a SciPy matrix, a pandas, polars or Arrow table, or pairs (features, label[, weight]).

    Columns of tables have the features that files with such columns have: `column` for numbers, `column=value` for
    words. Features given as dictionaries likewise. Labels are numbers, or names of any kind.

    Examples
    --------
    >>> block = next(blocks_from([({"price": 2.5, "city": "Rome"}, 1)]))
    >>> block.values.tolist(), block.labels.tolist()
    ([2.5, 1.0], [1.0])
    """
    options = Options(bits=bits, seed=seed, limits=UNLIMITED)
    if hasattr(data, "__arrow_c_stream__"):
        yield from _of_table(data, labels, weights, options, block_rows)
    elif sparse.issparse(data) or isinstance(data, np.ndarray):
        X = _sound(data) if sparse.issparse(data) else data
        codes, names = encode_labels(labels, X.shape[0])
        weights = None if weights is None else as_weights(weights, X.shape[0])
        for start in range(0, X.shape[0], block_rows):
            here = slice(start, start + block_rows)
            weight = None if weights is None else weights[here]
            yield to_block(X[here], codes[here], label_names=names, weights=weight)
    else:
        if labels is not None:
            data = zip(data, labels, strict=True)
        if weights is not None:
            data = ((*row[:2], weight) for row, weight in zip(data, weights, strict=True))
        rows = iter(data)
        while chosen := list(islice(rows, block_rows)):
            if not (isinstance(chosen[0], (tuple, list)) and hasattr(chosen[0][0], "items")):
                raise DataError("examples are arrays, tables, or pairs of a dictionary of features and a label")
            yield _of_dictionaries(chosen, options)


def encode_labels(labels: Any, count: int) -> tuple[np.ndarray, list[Label] | None]:
    """Labels (n,) as numbers, or as positions in a list of the names; NaN where there are none."""
    if labels is None:
        return np.full(count, np.nan), None
    listed = labels if isinstance(labels, list) else np.asarray(labels).tolist()
    given = [_known(label.item() if isinstance(label, np.generic) else label) for label in listed]
    if len(given) != count:
        raise DataError(f"there are {count} examples but {len(given)} labels; give one for each")
    kinds = {type(label) for label in given}
    if kinds <= {int, float, type(None)}:
        numbers = np.array([math.nan if label is None else label for label in given], np.float64)
        if np.isinf(numbers).any():
            raise DataError(f"example {np.argmax(np.isinf(numbers))}: its label is infinite; expected a finite number")
        return numbers, None
    names = list(dict.fromkeys(label for label in given if label is not None))
    places: dict[Any, float] = {name: place for place, name in enumerate(names)}
    return np.array([places.get(label, math.nan) for label in given]), names


def _known(label: Any) -> Any:
    """A label, None if it is one of the ways to say that there is none."""
    missing = type(label).__name__ == "NAType" or (isinstance(label, float) and math.isnan(label))
    return None if missing else label


def as_weights(weights: Any, count: int) -> np.ndarray:
    """Importance weights (n,) float32, 1 unless given; they are finite and 0 or more."""
    if weights is None:
        return np.ones(count, np.float32)
    given = np.asarray(weights, np.float32)
    if given.shape != (count,):
        raise DataError(f"there are {count} examples but {given.size} weights; give one for each")
    bad = ~((given >= 0.0) & (given <= LARGEST))
    if bad.any():
        raise DataError(
            f"example {np.argmax(bad)}: its weight is {given[np.argmax(bad)]}; expected a finite number of 0 or more"
        )
    return given


def as_table(data: Any) -> Any:
    """A pandas, polars or Arrow table as one of Arrow, without an index, objects parted into a column a member."""
    import pyarrow

    from ouzel.streams.tables.arrow_types import flat

    with one_line("table"):
        table = pyarrow.table(data)
        table.validate(full=True)  # a kernel trusts the offsets it is given
        index = (table.schema.pandas_metadata or {}).get("index_columns", [])
        return flat(table.drop_columns([column for column in index if isinstance(column, str)]))


def _of_table(data: Any, labels: Any, weights: Any, options: Options, block_rows: int) -> Iterator[Block]:
    from ouzel.streams.tables.columns import Columns

    table = as_table(data)
    codes, names = encode_labels(labels, table.num_rows)
    importances = as_weights(weights, table.num_rows)
    columns = Columns(options, table.schema, label=None)
    start = 0
    with one_line("table"):
        for batch in table.to_batches(max_chunksize=block_rows):
            for block in columns.blocks(batch, lambda _: None):
                here = slice(start, start + block.rows)
                yield block._replace(labels=codes[here], label_names=names, weights=importances[here])
                start += block.rows


def _of_dictionaries(rows: list[Any], options: Options) -> Block:
    ids: list[int] = []
    values: list[float] = []
    offsets = [0]
    known: dict[str, int] = {}  # ids of names
    for number, (features, *_) in enumerate(rows):
        for name, value in features.items():
            if isinstance(value, str):
                name, value = f"{name}={value}", 1.0
            if value is None:
                continue
            if not abs(value) <= LARGEST:
                raise DataError(f"example {number}: feature {name!r} is {value}; expected a finite number below 3.4e38")
            feature = known.get(name) if isinstance(name, str) else feature_id(name, options.seed, options.bits)
            if feature is None:
                feature = known[name] = feature_id(name, options.seed, options.bits)
            ids.append(feature)
            values.append(float(value))
        offsets.append(len(ids))
    starts = np.array(offsets, np.uint64)
    indices, numbers = np.array(ids, np.uint32), np.array(values, np.float32)
    end = canonical_rows(starts, indices, numbers)
    codes, label_names = encode_labels([row[1] for row in rows], len(rows))
    weights = as_weights([row[2] if len(row) > 2 else 1.0 for row in rows], len(rows))
    texts = [name.encode() for name in known]
    lengths = np.array([len(text) for text in texts], np.uint64)
    ends = np.cumsum(lengths, dtype=np.uint64)
    text = np.frombuffer(b"".join(texts), np.uint8)
    names = Names(np.fromiter(known.values(), np.uint32, len(known)), ends - lengths, ends, text)
    return Block(starts, indices[:end], numbers[:end], codes, weights, label_names=label_names, names=names)
