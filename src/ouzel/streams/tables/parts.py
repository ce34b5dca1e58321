"""Batches of a table in parts of so many rows that the names of their features are not too much text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ouzel.streams.tables.arrow_types import dictionary_size, is_coded, is_number, text_size
from ouzel.streams.tables.cut_rows import CutRows, TableBatch

if TYPE_CHECKING:
    import pyarrow

MOST_TEXT = 1 << 24  # bytes of names that rows read together may bring


def parts(batch: TableBatch, columns: Sequence[str], is_text: Callable[[str], bool]) -> Iterator[TableBatch]:
    """A batch in parts; of a column that `is_text` each word is a feature, of the other `columns` each cell."""
    if isinstance(batch, CutRows):
        if len(batch.data) <= MOST_TEXT:
            yield batch
            return
        batch = batch.to_arrow()
    if batch.num_rows == 1 or _size(batch, columns, is_text, _at_most) <= MOST_TEXT:
        yield batch
        return
    if _size(batch, columns, is_text, _text_size) <= MOST_TEXT:
        yield batch
        return
    half = batch.num_rows // 2
    yield from parts(batch.slice(0, half), columns, is_text)
    yield from parts(batch.slice(half), columns, is_text)


def _size(
    batch: TableBatch,
    columns: Sequence[str],
    is_text: Callable[[str], bool],
    size: Callable[[pyarrow.Array, bool], int],
) -> int:
    return sum(size(batch.column(column), is_text(column)) for column in columns)


def _at_most(array: pyarrow.Array, by_words: bool) -> int:
    """Bytes of the names that a column may bring, or more: those of all words of a dictionary."""
    return dictionary_size(array) if is_coded(array) and not by_words else _text_size(array, by_words)


def _text_size(array: pyarrow.Array, by_words: bool) -> int:
    """Bytes of the names that a column may bring."""
    if is_number(array.type):
        return 0
    size = text_size(array)
    return size if by_words or not is_coded(array) else min(size, dictionary_size(array))
