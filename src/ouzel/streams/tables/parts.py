"""Batches of a table in parts of so many rows that the names of their features are not too much text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ouzel.streams.tables.arrow_types import is_coded, is_number, text_size
from ouzel.streams.tables.cut_rows import CutRows

MOST_TEXT = 1 << 24  # bytes of names that rows read together may bring


def parts(batch: Any, columns: Sequence[str], is_text: Callable[[str], bool]) -> Iterator[Any]:
    """A batch in parts; of a column that `is_text` each word is a feature, of the other `columns` each cell."""
    if isinstance(batch, CutRows):
        if len(batch.data) <= MOST_TEXT:
            yield batch
            return
        batch = batch.to_arrow()
    size = sum(_text_size(batch.column(column), is_text(column), len(columns)) for column in columns)
    if size <= MOST_TEXT or batch.num_rows == 1:
        yield batch
        return
    half = batch.num_rows // 2
    yield from parts(batch.slice(0, half), columns, is_text)
    yield from parts(batch.slice(half), columns, is_text)


def _text_size(array: Any, by_words: bool, columns: int) -> int:
    """Bytes of the names that a column may bring; nothing where all words of a dictionary are little text."""
    if is_number(array.type):
        return 0
    if is_coded(array) and not by_words:
        size = int(array.dictionary.nbytes)
        return 0 if size * columns <= MOST_TEXT else min(size, text_size(array))
    return text_size(array)
