"""Blocks from what lies in memory: arrays, sparse matrices, data frames, and pairs of a dictionary and a label."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sparse

from ouzel.classes import Label
from ouzel.errors import DataError
from ouzel.sketches.hashing import feature_id
from ouzel.streams.block import Block, Names
from ouzel.streams.canonical import canonical_rows
from ouzel.streams.options import Options

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
    if sparse.issparse(X):
        X = X.tocsr()
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        offsets, indices, data = X.indptr, X.indices, X.data
    else:
        X = np.asarray(X)
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
        np.ones(n, np.float32) if weights is None else np.asarray(weights, np.float32),
        label_names=label_names,
    )


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
    options = Options(bits=bits, seed=seed)
    if hasattr(data, "__arrow_c_stream__"):
        yield from _of_table(data, labels, weights, options, block_rows)
    elif sparse.issparse(data) or isinstance(data, np.ndarray):
        X = data.tocsr() if sparse.issparse(data) else data
        codes, names = encode_labels(labels, X.shape[0])
        for start in range(0, X.shape[0], block_rows):
            here = slice(start, start + block_rows)
            weight = None if weights is None else np.asarray(weights, np.float32)[here]
            yield to_block(X[here], codes[here], label_names=names, weights=weight)
    else:
        rows = iter(data) if labels is None else zip(data, labels, strict=True)
        while chosen := list(islice(rows, block_rows)):
            yield _of_dictionaries(chosen, options)


def encode_labels(labels: Any, count: int) -> tuple[np.ndarray, list[Label] | None]:
    """Labels (n,) as numbers, or as positions in a list of the names; NaN where there are none."""
    if labels is None:
        return np.full(count, np.nan), None
    given = labels if isinstance(labels, list) else np.asarray(labels).tolist()
    kinds = {type(label) for label in given}
    if kinds <= {int, float, type(None)}:
        return np.array([math.nan if label is None else label for label in given], np.float64), None
    names = list(dict.fromkeys(label for label in given if label is not None))
    places: dict[Any, float] = {name: place for place, name in enumerate(names)}
    return np.array([places.get(label, math.nan) for label in given]), names


def _of_table(data: Any, labels: Any, weights: Any, options: Options, block_rows: int) -> Iterator[Block]:
    import pyarrow

    from ouzel.streams.columns import Columns

    table = pyarrow.table(data)
    codes, names = encode_labels(labels, table.num_rows)
    columns = Columns(options, table.schema, label=None)
    start = 0
    for batch in table.to_batches(max_chunksize=block_rows):
        here = slice(start, start + batch.num_rows)
        for block in columns.blocks(batch, lambda _: None):
            block = block._replace(labels=codes[here], label_names=names)
            if weights is not None:
                block = block._replace(weights=np.asarray(weights, np.float32)[here])
            yield block
        start += batch.num_rows


def _of_dictionaries(rows: list[Any], options: Options) -> Block:
    ids: list[int] = []
    values: list[float] = []
    offsets = [0]
    named: dict[int, bytes] = {}
    for number, (features, *_) in enumerate(rows):
        for name, value in features.items():
            if isinstance(value, str):
                name, value = f"{name}={value}", 1.0
            if value is None:
                continue
            value = float(value)
            if not math.isfinite(value) or abs(value) > 3.4e38:
                raise DataError(f"example {number}: feature {name!r} is {value}; expected a finite number below 3.4e38")
            ids.append(feature_id(name, options.seed, options.bits))
            values.append(value)
            if isinstance(name, str):
                named.setdefault(ids[-1], name.encode())
        offsets.append(len(ids))
    starts = np.array(offsets, np.uint64)
    indices, numbers = np.array(ids, np.uint32), np.array(values, np.float32)
    end = canonical_rows(starts, indices, numbers)
    codes, label_names = encode_labels([row[1] for row in rows], len(rows))
    weights = np.array([row[2] if len(row) > 2 else 1.0 for row in rows], np.float32)
    lengths = np.array([len(name) for name in named.values()], np.uint64)
    ends = np.cumsum(lengths, dtype=np.uint64)
    text = np.frombuffer(b"".join(named.values()), np.uint8)
    names = Names(np.fromiter(named, np.uint32, len(named)), ends - lengths, ends, text)
    return Block(starts, indices[:end], numbers[:end], codes, weights, label_names=label_names, names=names)
