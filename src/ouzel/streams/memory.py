"""Blocks of data in memory: arrays, sparse matrices, data frames, and pairs of a dictionary and a label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sparse

from ouzel.errors import OuzelError
from ouzel.streams.arrays import ArrayRows, marks_missing, unmasked
from ouzel.streams.block import ROWS, Block
from ouzel.streams.block_stream import BlockStream, GivenBlocks
from ouzel.streams.dictionaries import blocks_of_dictionaries
from ouzel.streams.frames import as_table, check_collected, goes_by_name, is_table, table_blocks
from ouzel.streams.interactions.deriver import Deriver
from ouzel.streams.labels import Label, encode_labels
from ouzel.streams.limits import UNLIMITED
from ouzel.streams.options import OF_COLUMNS_BY_NAME, OF_EXAMPLES, OF_FILES, Options, check_in_memory, make_options
from ouzel.streams.weights import as_weights


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
    rows = ArrayRows(X, missing=missing)
    return rows.block(0, rows.shape[0], labels, weights, label_names)


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
    check_collected(data)
    if isinstance(data, (str, bytes)) or not (hasattr(data, "shape") or isinstance(data, Iterable) or is_table(data)):
        raise OuzelError(
            f"data is an array, a sparse matrix, a data frame, or pairs of features and label; got {data!r:.80}"
        )
    if is_table(data) and not goes_by_name(data) and _may_be_array(options, given):
        data = data.to_numpy(np.float64, na_value=np.nan)
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


def _may_be_array(options: dict[str, Any], given: Options) -> bool:
    """Whether nothing speaks of columns by name: neither an option nor what a model knows its features by."""
    said = [name for name in (*OF_EXAMPLES, *OF_COLUMNS_BY_NAME) if name != "missing" and options.get(name) is not None]
    return not said and (given.space.width is not None or not given.space.known)


def _of_table(
    data: Any, labels: Any, weights: Any, options: Options, say: Callable[[str], None], block_rows: int
) -> Iterator[Block]:
    yield from table_blocks(as_table(data), labels, weights, options, say, block_rows)


def _of_array(data: Any, labels: Any, weights: Any, options: Options, block_rows: int) -> Iterator[Block]:
    deriver = Deriver(options)
    rows = ArrayRows(unmasked(data), missing=marks_missing(options))
    codes, names = encode_labels(labels, rows.shape[0])
    weights = None if weights is None else as_weights(weights, rows.shape[0])
    yield from deriver.derive(rows.blocks(block_rows, codes, label_names=names, weights=weights))


def _of_pairs(data: Any, labels: Any, weights: Any, options: Options, block_rows: int) -> Iterator[Block]:
    if labels is not None:
        data = zip(data, labels, strict=True)
    if weights is not None:
        data = ((*row[:2], weight) for row, weight in zip(data, weights, strict=True))
    yield from Deriver(options).derive(blocks_of_dictionaries(data, options, block_rows))
