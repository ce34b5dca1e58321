"""Types of Arrow columns, their conversions to NumPy and to text, and errors of a library that name the column."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow

from ouzel.deferred import deferred
from ouzel.errors import DataError
from ouzel.streams.feature_space import CATEGORY, NUMBER
from ouzel.streams.labels import text_of
from ouzel.streams.missing import is_missing
from ouzel.streams.sources.error_context import is_library_error, reason_of
from ouzel.streams.values import plain_value, word_of

types = pyarrow.types
compute = deferred("pyarrow.compute")  # 25 ms and 9 MB, which a table of numbers does without
BLOCKS_KEY = b"ouzel.blocks"  # in the metadata of a table of blocks
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""The number of units of time in a second."""


def holds_blocks(schema: pyarrow.Schema) -> bool:
    """Return whether a table is one of blocks."""
    return BLOCKS_KEY in (schema.metadata or {})


def is_number(kind: pyarrow.DataType) -> bool:
    """Whether an Arrow type holds numbers; a duration is the number of its seconds."""
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_duration(kind))


def is_moment(kind: pyarrow.DataType) -> bool:
    """Whether an Arrow type holds dates, or times of a day."""
    return bool(types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind))


def is_list(kind: pyarrow.DataType) -> bool:
    """Whether an Arrow type holds lists."""
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def is_single(kind: pyarrow.DataType) -> bool:
    """Whether an Arrow type has one value in a cell."""
    return not (is_list(kind) or types.is_nested(kind) or types.is_run_end_encoded(kind))


def is_view(kind: pyarrow.DataType) -> bool:
    """Whether an Arrow type holds text in the form that polars prefers, which few functions of PyArrow take."""
    return bool(types.is_string_view(kind) or types.is_binary_view(kind))


def is_text(kind: pyarrow.DataType) -> bool:
    """Whether an Arrow type holds text."""
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
        or is_view(kind)
    )


def is_empty(kind: pyarrow.DataType) -> bool:
    """Whether the values of an Arrow type take no bytes."""
    return bool(types.is_null(kind) or (types.is_fixed_size_binary(kind) and kind.byte_width == 0))


def is_dictionary(array: pyarrow.Array) -> bool:
    """Whether cells are positions in a dictionary."""
    return bool(types.is_dictionary(array.type))


def as_text(array: pyarrow.Array) -> pyarrow.Array:
    """An Arrow array of any type as large_binary; whether it is UTF-8, `not_utf8` says."""
    if is_dictionary(array):
        return as_text(array.dictionary).take(array.indices)
    if is_view(array.type):
        array = array.cast(pyarrow.large_string() if types.is_string_view(array.type) else pyarrow.large_binary())
    elif not is_text(array.type):
        array = array.cast(pyarrow.large_string())
    if types.is_large_string(array.type):
        return array.view(pyarrow.large_binary())
    return array if types.is_large_binary(array.type) else array.cast(pyarrow.large_binary())


def as_words(array: pyarrow.Array) -> pyarrow.Array:
    """A column as text, or a dictionary of text: each cell becomes its word in a column of categories.

    Text, with its truth values, stays unchanged, and so do whole numbers, whose text is their word.
    """
    kind = array.type
    if is_dictionary(array):
        cells = array.dictionary
        if is_text(cells.type) or types.is_integer(cells.type):
            return array
        return pyarrow.DictionaryArray.from_arrays(array.indices, _as_word_texts(cells))
    if is_text(kind) or types.is_integer(kind) or is_empty(kind) or is_list(kind):
        return array
    if types.is_boolean(kind):
        return pyarrow.DictionaryArray.from_arrays(array.cast(pyarrow.int8()), pyarrow.array(["false", "true"]))
    coded = array.dictionary_encode()
    return pyarrow.DictionaryArray.from_arrays(coded.indices, _as_word_texts(coded.dictionary))


def _as_word_texts(cells: pyarrow.Array) -> pyarrow.Array:
    """The word of each cell of an array; numbers of single precision have as few digits as they need."""
    if types.is_floating(cells.type):
        found = [None if text is None else word_of(float(text)) for text in cells.cast(pyarrow.string()).to_pylist()]
    else:
        found = [None if cell is None else word_of(cell) for cell in cells_of(cells)]
    return pyarrow.array([None if word == "None" else word for word in found], pyarrow.large_string())


def as_kind(array: pyarrow.Array, kind: str) -> pyarrow.Array:
    """A column of a known kind as readers take it: truth values are words among categories, 1 and 0 among numbers."""
    if kind == CATEGORY:
        return as_words(array)
    return array.cast(pyarrow.uint8()) if kind == NUMBER and types.is_boolean(array.type) else array


def encoded(array: pyarrow.Array, errors: str = "replace") -> tuple[np.ndarray, list[Any]]:
    """A column as positions (n,) in a list of its different cells, -1 where it is null.

    Bytes that are not UTF-8 are replaced, or an error if `errors` is "strict".
    """
    encoded = as_text(array).dictionary_encode() if is_view(array.type) else array.dictionary_encode()
    codes = filled(encoded.indices.cast(pyarrow.int64()), -1)
    cells = encoded.dictionary
    if is_dictionary(array):  # it may have cells that no row has
        used = np.unique(codes[codes >= 0])
        codes = np.where(codes < 0, codes, np.searchsorted(used, codes))
        cells = cells.take(pyarrow.array(used))
    return codes, cells_of(cells, errors)


def cells_of(array: pyarrow.Array, errors: str = "replace") -> list[Any]:
    """The values of a column; bytes that are not UTF-8 are replaced, unless `errors` is "strict"."""
    if is_text(array.type):
        return [None if cell is None else cell.decode("utf-8", errors) for cell in as_text(array).to_pylist()]
    return list(array.to_pylist())


def not_utf8(array: pyarrow.Array) -> np.ndarray:
    """Return whether each cell (n,) has bytes that are not UTF-8, alone or in a list."""
    if _is_utf8(array):
        return np.zeros(len(array), np.bool_)
    return np.array([not _is_utf8(array.slice(row, 1)) for row in range(len(array))], np.bool_)


def _is_utf8(array: pyarrow.Array) -> bool:
    """Whether all text of a column is UTF-8; what has the type of text has been checked."""
    kind = array.type
    if is_list(kind):
        return _is_utf8(array.flatten())
    if is_dictionary(array):
        kind = array.dictionary.type
    if not is_text(kind) or types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return True
    if is_dictionary(array):
        array = as_text(array.dictionary).take(array.indices.unique().drop_null())
    try:
        as_text(array).cast(pyarrow.large_string())
    except pyarrow.ArrowInvalid:
        return False
    return True


def is_there(array: pyarrow.Array) -> np.ndarray:
    """A mask (n,) of the cells of an Arrow array that are not null."""
    if not array.null_count:
        return np.ones(len(array), np.bool_)
    return np.from_dlpack(array.is_valid().cast(pyarrow.uint8())).view(np.bool_)


def filled(array: pyarrow.Array, null: float) -> np.ndarray:
    """The numbers (n,) of an Arrow array, `null` where it is null. Avoids `to_numpy`, which imports pandas."""
    if not len(array):
        return np.empty(0, array.type.to_pandas_dtype())
    numbers = np.from_dlpack(
        pyarrow.Array.from_buffers(array.type, len(array), [None, array.buffers()[1]], offset=array.offset)
    )
    return np.where(is_there(array), numbers, null) if array.null_count else numbers


def tags_of(array: pyarrow.Array) -> pyarrow.Array:
    """The names of rows in a column: whole numbers unchanged, all else as text."""
    if types.is_integer(array.type):
        return array
    texts = [None if cell is None else text_of(cell) for cell in cells_of(array)]
    return pyarrow.array(texts, pyarrow.large_string())


def numbers_of(array: pyarrow.Array, null: float) -> np.ndarray:
    """A numeric column (n,) float64, whole numbers beyond 2^53 rounded; float32 as it is where nothing is null."""
    if types.is_float64(array.type) or (types.is_float32(array.type) and not array.null_count):
        return filled(array, null)
    if types.is_duration(array.type):
        whole = array.cast(pyarrow.int64())
        return np.where(is_there(array), filled(whole, 0) / PER_SECOND[array.type.unit], null)
    return filled(array.cast(pyarrow.float64(), safe=False), null)


def text_size(array: pyarrow.Array) -> int:
    """Bytes of the text in a column, roughly; a word of a dictionary counts for each of its cells."""
    if is_list(array.type):
        return text_size(array.flatten())
    if is_dictionary(array):
        lengths = compute.binary_length(as_text(array.dictionary))
        return int(compute.sum(lengths.take(array.indices)).as_py() or 0)
    if is_view(array.type):
        views = np.frombuffer(array.buffers()[1], np.int32).reshape(-1, 4)
        return int(views[array.offset : array.offset + len(array), 0].sum(dtype=np.int64))
    if is_text(array.type):
        return int(array.nbytes)
    return 0 if is_empty(array.type) else 8 * len(array)


def dictionary_size(array: pyarrow.Array) -> int:
    """Bytes of the text of a dictionary, roughly if its offsets do not have 32 bits."""
    cells = array.dictionary
    if not (types.is_string(cells.type) and len(cells)):
        return int(cells.nbytes)
    offsets = np.frombuffer(cells.buffers()[1], np.int32)
    return int(offsets[cells.offset + len(cells)]) - int(offsets[cells.offset])


def flat(table: pyarrow.Table) -> pyarrow.Table:
    """An Arrow table with a column `outer.inner` for each member of an object, and without extension types."""
    while any(types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    for k, field in enumerate(table.schema):
        if isinstance(field.type, pyarrow.BaseExtensionType):
            table = table.set_column(k, field.name, _as_stored(table.column(k)))
        elif types.is_dictionary(field.type) and isinstance(field.type.value_type, pyarrow.BaseExtensionType):
            cells = [
                pyarrow.DictionaryArray.from_arrays(
                    chunk.indices, _as_stored(pyarrow.chunked_array([chunk.dictionary])).combine_chunks()
                )
                for chunk in table.column(k).chunks
            ]
            table = table.set_column(k, field.name, pyarrow.chunked_array(cells))
    return table


def untyped_where_empty(table: pyarrow.Table) -> pyarrow.Table:
    """A table whose columns of missing values alone have no type: what pandas gives them, floats, says nothing."""
    for k, field in enumerate(table.schema if table.num_rows else ()):
        if not types.is_null(field.type) and _is_all_missing(table.column(k)):
            table = table.set_column(k, field.name, pyarrow.nulls(table.num_rows))
    return table


def _is_all_missing(column: pyarrow.ChunkedArray) -> bool:
    if not types.is_floating(column.type):
        return bool(column.null_count == len(column))
    return all(np.isnan(numbers_of(chunk[:1], math.nan)).all() for chunk in column.chunks) and all(
        np.isnan(numbers_of(chunk, math.nan)).all() for chunk in column.chunks
    )


def _as_stored(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """A column of an extension type in its storage type; a UUID as its text, a period of pandas as its start.

    So is an interval of pandas, which its function `cut` makes: `(0, 10]`.
    """
    name = getattr(column.type, "extension_name", "")
    if name in ("arrow.uuid", "pandas.interval"):
        cells = column.to_pylist() if name == "arrow.uuid" else column.to_pandas()
        texts = [None if is_missing(cell) else word_of(cell) for cell in cells]
        return pyarrow.chunked_array([texts], pyarrow.string())
    if name == "pandas.period":
        starts = [plain_value(period) for period in column.to_pandas()]
        return pyarrow.chunked_array([starts])
    return column.cast(column.type.storage_type)


@contextmanager
def column_errors(batch: pyarrow.RecordBatch, column: str, name: str, role: str = "ignore") -> Iterator[None]:
    """Turn errors of a library within this context into one line that names the column.

    `role` is the option that names such a column, or that ignores it.
    """
    try:
        yield
    except Exception as error:
        if not is_library_error(error) or isinstance(error, MemoryError):
            raise
        kind = batch.schema.field(column).type
        found = f"holds {kind}, which does not read as numbers or text ({reason_of(error)})"
        if role == "ignore":
            raise DataError.at(name, found, column=column, advice="leave it out with", ignore=column) from error
        option: dict[str, Any] = {role: "NAME"}
        raise DataError.at(name, found, column=column, advice="name another column with", **option) from error
