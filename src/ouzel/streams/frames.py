"""Data frames: pandas, polars and Arrow tables, read like tables in files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.streams.block import ROWS, Block, Slots, rows_at_once
from ouzel.streams.interactions.deriver import Deriver
from ouzel.streams.labels import encode_labels
from ouzel.streams.missing import is_missing
from ouzel.streams.options import Options
from ouzel.streams.sources.error_context import wrap_errors
from ouzel.streams.values import NAMED_BY_TEXT, plain_value, word_of
from ouzel.streams.weights import as_weights

if TYPE_CHECKING:
    import pyarrow


NUMBERS = {np.dtype(kind) for kind in "bhilqBHILQfd"}
"""Types of columns whose memory Arrow takes as it is."""
LISTS = {list, tuple, set, frozenset, np.ndarray}


def is_table(data: Any) -> bool:
    """Whether data is a pandas, polars or Arrow table: anything that exports its columns as a stream of Arrow.

    A single column exports one, too, and is no table.
    """
    return hasattr(data, "__arrow_c_stream__") and len(getattr(data, "shape", (0, 0))) == 2


def check_collected(data: Any) -> None:
    """Refuse a lazy frame, such as that of polars: its rows are not there yet."""
    if type(data).__name__ == "LazyFrame":
        raise OuzelError("this frame is lazy, and has no rows yet; give frame.collect()")


def goes_by_name(data: Any) -> bool:
    """Whether data is a table whose columns have names; one of numbers, numbered by pandas, is an array."""
    check_collected(data)
    if not is_table(data):
        return False
    columns = getattr(data, "columns", ())
    if not hasattr(data, "dtypes") or not len(columns) or not all(isinstance(column, Integral) for column in columns):
        return True
    return any(getattr(kind, "kind", "O") not in "biuf" for kind in data.dtypes)


def as_table(data: Any) -> pyarrow.Table:
    """A pandas, polars or Arrow table as one of Arrow, without an index, with a column for each member of objects."""
    import pyarrow

    from ouzel.streams.tables.arrow_types import flat, untyped_where_empty

    with wrap_errors("table"):
        try:
            table = _in_place(data)
            if table is None:
                table = pyarrow.table(data)
        except (pyarrow.ArrowException, TypeError, ValueError):
            if not hasattr(data, "iloc"):
                raise
            table = pyarrow.table(arrow_ready(data))
        table.validate(full=True)  # kernels trust offsets
        index = (table.schema.pandas_metadata or {}).get("index_columns", [])
        return untyped_where_empty(flat(table.drop_columns([column for column in index if isinstance(column, str)])))


def _in_place(data: Any) -> pyarrow.Table | None:
    """A pandas data frame of finite numbers as an Arrow table over the same memory; None of any other.

    PyArrow itself looks for what is missing one number after the other: five times the time that adding them up takes.
    """
    import pyarrow

    if not (hasattr(data, "iloc") and all(kind in NUMBERS for kind in data.dtypes)):
        return None
    names = [*data.columns]
    if not names or len({*names}) < len(names) or not all(isinstance(name, str) for name in names):
        return None
    columns = [np.ascontiguousarray(column.to_numpy()) for _, column in data.items()]
    with np.errstate(over="ignore", invalid="ignore"):
        if not all(np.isfinite(column.sum()) for column in columns):
            return None
    types = [pyarrow.from_numpy_dtype(column.dtype) for column in columns]
    buffers = [[None, pyarrow.py_buffer(column)] for column in columns]
    arrays = [pyarrow.Array.from_buffers(kind, len(data), part) for kind, part in zip(types, buffers, strict=True)]
    return pyarrow.Table.from_arrays(arrays, names)


def arrow_ready(frame: Any) -> Any:
    """A pandas data frame that Arrow accepts: sparse columns are dense, those of objects of several types are text."""
    changed = {}
    for place, kind in enumerate(frame.dtypes):
        column = frame.iloc[:, place]
        if hasattr(kind, "fill_value"):
            changed[place] = column.sparse.to_dense()
            continue
        different = getattr(kind, "categories", column)
        if getattr(different.dtype, "hasobject", False):
            kinds = {type(value) for value in different if not is_missing(value)}
            if len(kinds) > 1 and kinds & LISTS:
                changed[place] = column.astype(object).map(_as_list)
                continue
            if (len(kinds) > 1 and str in kinds) or {one.__name__ for one in kinds} & NAMED_BY_TEXT:
                words = column.astype(object).map(lambda value: None if is_missing(value) else word_of(value))
                changed[place] = words
    if not changed:
        return frame
    frame = frame.copy(deep=False)
    for place, column in changed.items():
        frame.isetitem(place, column)
    return frame


def _as_list(value: Any) -> list[str] | None:
    """A cell of a column that has lists, and words or numbers too, as a list of words."""
    plain = plain_value(value)
    if plain is None:
        return None
    items = plain if isinstance(plain, list) else [value]
    if any(isinstance(plain_value(item), list) for item in items):
        raise OuzelError(f"table: found {value!r}; expected words or numbers in a list, and no lists")
    return [word_of(item) for item in items if plain_value(item) is not None]


def table_blocks(
    table: pyarrow.Table,
    labels: Any,
    weights: Any,
    options: Options,
    say: Callable[[str], None] = lambda line: None,
    block_rows: int = ROWS,
    slots: Slots | None = None,
) -> Iterator[Block]:
    """Blocks of an Arrow table, with separate labels and weights, or those of columns that the options name.

    `say` is called with remarks on its columns. With a learner's `slots`, blocks of numbers alone are `in_slots`.
    """
    from ouzel.streams.tables.columns import Columns
    from ouzel.streams.tables.schema import ColumnKinds

    for given, option in ((labels, "label"), (weights, "weight")):
        if given is not None and getattr(options, option) is not None:
            raise OuzelError(f"{option}s are given already; leave out", **{option: getattr(options, option)})
    if labels is not None and options.label_positive is not None:
        raise OuzelError("labels are given as they are; leave out", label_positive=options.label_positive)
    codes, names = labels if isinstance(labels, tuple) else encode_labels(labels, table.num_rows)
    importances = as_weights(weights, table.num_rows)
    label = None if options.unlabelled and options.label not in table.column_names else options.label
    columns = Columns(options, table.schema, label, kinds=ColumnKinds(options, say), slots=slots)
    deriver = Deriver(options)
    start = 0
    with wrap_errors("table"):
        batches = table.to_batches(max_chunksize=rows_at_once(table.num_columns))
        for block in deriver.derive(
            block for batch in batches for block in columns.blocks(batch, lambda _: None, block_rows)
        ):
            here = slice(start, start + block.rows) if block.numbers is None else block.numbers  # some may be skipped
            if label is None:
                block = block._replace(labels=codes[here], label_names=names)
            if weights is not None:
                block = block._replace(weights=importances[here])
            yield block
            start += block.rows
