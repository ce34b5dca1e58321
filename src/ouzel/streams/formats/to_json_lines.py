"""Arrow record batches as lines of JSON: cells become text column by column, and one kernel writes the rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute as compute

from ouzel.kernels.jit import kernel
from ouzel.streams.dates import is_iso
from ouzel.streams.feature_names import is_named
from ouzel.streams.tables.arrow_types import (
    as_text,
    as_words,
    column_errors,
    filled,
    flat,
    is_dictionary,
    is_empty,
    is_list,
    is_number,
    is_text,
    is_there,
    numbers_of,
    types,
)
from ouzel.streams.tables.column_buffers import list_rows

Encode = Callable[[Any], bytes]
TEXT = pyarrow.large_binary()
OPEN, CLOSE, COMMA, NEWLINE, MINUS, POINT, ZERO = (np.uint8(ord(mark)) for mark in "{},\n-.0")
NULL = np.frombuffer(b"null", np.uint8)
POWERS = tuple(10.0**places for places in range(7))  # of as many decimals as are few
MOST_WHOLE = 1e15
MOST_WIDTH = 24  # bytes of one


def lines_of_batch(
    batch: pyarrow.RecordBatch, encode: Encode, name: str = "the stream", categories: Collection[str] = ()
) -> bytes:
    """Return each row of an Arrow record batch as a line of JSON with the features that a file of it has.

    Its members are the columns that have names. What is missing is null; an infinite number stays, for readers to
    refuse. A word of a column of `categories` that would be read as a date is a list of one word. `encode` writes names
    and words. Raises DataError if a column holds neither numbers, words nor lists.
    """
    table = flat(pyarrow.Table.from_batches([batch]))
    table = table.select([place for place, name in enumerate(table.column_names) if is_named(name)])
    if not table.num_rows or not table.num_columns:
        return b"{}\n" * batch.num_rows
    columns = []
    for field, column in zip(table.schema, table.columns, strict=True):
        with column_errors(table, field.name, name):
            columns.append(_as_json(column.combine_chunks(), encode, field.name in categories))
    cells = pyarrow.concat_arrays(columns)
    _, offsets, data = cells.buffers()
    starts = np.frombuffer(offsets, np.int64)[cells.offset : cells.offset + len(cells) + 1]
    text = np.frombuffer(data if data is not None and data.size else b"\0", np.uint8)
    keys = [encode(name) + b":" for name in table.column_names]
    ends = np.cumsum([0, *map(len, keys)])
    given = starts, text, ends, np.frombuffer(b"".join(keys), np.uint8), table.num_rows
    lines = np.empty(_size(*given), np.uint8)
    _write(*given, lines)
    return lines.tobytes()


def _as_json(column: pyarrow.Array, encode: Encode, categories: bool) -> pyarrow.Array:
    """Return the cells of a column, which may be known to hold categories, as texts of JSON, empty for null."""
    kind = column.type
    if types.is_decimal(kind) or types.is_floating(kind):
        return _numbers(column.cast(pyarrow.float64(), safe=False))
    if types.is_duration(kind):
        return _numbers(pyarrow.array(numbers_of(column, np.nan)))
    if types.is_integer(kind) or types.is_boolean(kind):
        return column.cast(pyarrow.large_string()).cast(TEXT).fill_null(b"")
    if is_empty(kind):
        return pyarrow.array([b""] * len(column), TEXT)
    if is_list(kind):
        return _lists(column, encode)
    categories |= is_dictionary(column) and not is_text(kind.value_type)
    coded = as_words(column)
    coded = coded if is_dictionary(coded) else as_text(coded).dictionary_encode()
    words = [b"" if cell is None else _word(cell, encode) for cell in as_text(coded.dictionary).to_pylist()]
    if categories:
        words = [b"[" + word + b"]" if is_iso(word[1:-1].decode("utf-8", "replace")) else word for word in words]
    return _texts(words).take(coded.indices).fill_null(b"")


def _numbers(column: pyarrow.Array) -> pyarrow.Array:
    """Return numbers (n,) float64 as JSON: a kernel writes those of few decimals, PyArrow all others."""
    numbers = filled(column, np.nan)
    starts, text = np.empty(len(numbers) + 1, np.int64), np.empty(MOST_WIDTH * len(numbers), np.uint8)
    if write_decimals(numbers, starts, text):
        return _array(starts, text[: starts[-1]])
    found = compute.if_else(compute.is_nan(column), None, column).cast(pyarrow.large_string())
    if np.isinf(numbers).any():
        found = compute.replace_substring(found, "inf", "Infinity")
    return found.cast(TEXT).fill_null(b"")


def _lists(column: pyarrow.Array, encode: Encode) -> pyarrow.Array:
    """Return lists as lists of words; an infinite number is written as one, for readers to refuse."""
    items = column.flatten()
    endless = np.isinf(numbers_of(items, 0.0)) if is_number(items.type) else np.zeros(len(items), np.bool_)
    cells = zip(as_text(as_words(items)).to_pylist(), endless.tolist(), strict=True)
    texts = [b"null" if cell is None else b"Infinity" if odd else _word(cell, encode) for cell, odd in cells]
    ends = list_rows(column, len(items)).tolist()
    return _texts(
        [
            b"[" + b",".join(texts[start:stop]) + b"]" if known else b""
            for (start, stop), known in zip(pairwise(ends), is_there(column).tolist(), strict=True)
        ]
    )


def _word(cell: bytes, encode: Encode) -> bytes:
    """Return a word as a string of JSON; bytes that are not UTF-8 stay, for readers to refuse."""
    try:
        return encode(cell.decode())
    except UnicodeDecodeError:
        return b'"\xff"'


def _texts(texts: Sequence[bytes]) -> pyarrow.Array:
    """Return an array of texts."""
    return _array(np.cumsum([0, *map(len, texts)], dtype=np.int64), b"".join(texts))


def _array(starts: np.ndarray, text: pyarrow.Buffer) -> pyarrow.Array:
    """Return an array of texts that begin at `starts` (n + 1,); the last is the end of all."""
    return pyarrow.Array.from_buffers(TEXT, len(starts) - 1, [None, pyarrow.py_buffer(starts), pyarrow.py_buffer(text)])


@kernel
def write_decimals(numbers, starts, text):
    """Write numbers (n,) as decimals, what is not a number as nothing; return whether all have few decimals.

    A whole number divided by a power of ten, both exact, is the number nearest to that decimal, which a reader returns.
    `text` has MOST_WIDTH bytes for each, `starts` (n + 1,).
    """
    at, places = 0, 0
    for i in range(len(numbers)):
        starts[i] = at
        number = numbers[i]
        if number != number:
            continue
        whole, tries = abs(np.rint(number * POWERS[places])), 0
        while not (whole < MOST_WHOLE and whole / POWERS[places] == abs(number)):
            tries += 1
            if tries == len(POWERS):
                return False
            places = (places + 1) % len(POWERS)
            whole = abs(np.rint(number * POWERS[places]))
        digits, point = np.int64(whole), places
        while point and digits % 10 == 0:
            digits //= 10
            point -= 1
        if number < 0.0:
            text[at] = MINUS
            at += 1
        width, rest = 1, digits // 10
        while rest or width <= point:
            width += 1
            rest //= 10
        at += width + (point > 0)
        for k in range(width):
            if k and k == point:
                text[at - k - 1] = POINT
            text[at - k - 1 - (point > 0 and k >= point)] = ZERO + np.uint8(digits % 10)
            digits //= 10
    starts[len(numbers)] = at
    return True


@kernel
def _size(starts, text, ends, keys, rows):
    """Return the bytes of the lines that `_write` writes."""
    columns = len(ends) - 1
    size = rows * (ends[columns] + columns + 2)  # braces, a newline, and commas
    size += starts[len(starts) - 1] - starts[0]
    for i in range(columns * rows):
        size += len(NULL) * (starts[i + 1] == starts[i])
    return size


@kernel
def _write(starts, text, ends, keys, rows, lines):
    """Write a line for each row: its cells behind their keys, null for none; cell i of column j is j rows + i."""
    at = 0
    for i in range(rows):
        lines[at] = OPEN
        at += 1
        first = at
        for j in range(len(ends) - 1):
            start, stop = starts[j * rows + i], starts[j * rows + i + 1]
            if at > first:
                lines[at] = COMMA
                at += 1
            for k in range(ends[j], ends[j + 1]):
                lines[at] = keys[k]
                at += 1
            for k in range(len(NULL) if start == stop else 0):
                lines[at] = NULL[k]
                at += 1
            for k in range(start, stop):
                lines[at] = text[k]
                at += 1
        lines[at], lines[at + 1] = CLOSE, NEWLINE
        at += 2
