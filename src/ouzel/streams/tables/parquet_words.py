"""Words of a row group, column by column as dictionaries: each is decoded once, not once for every table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pyarrow
from pyarrow.parquet import ParquetFile

from ouzel.streams.tables.arrow_types import is_coded

KEPT = 1 << 27  # bytes that all positions in dictionaries may take that are kept of a row group
DECODING = 8  # bytes of a cell of the column that is being decoded


def position_of(cells: int) -> pyarrow.DataType:
    """The smallest Arrow type of positions among so many cells."""
    return pyarrow.uint8() if cells <= 1 << 8 else pyarrow.uint16() if cells <= 1 << 16 else pyarrow.int32()


def can_be_kept(rows: int, cells: Sequence[int]) -> bool:
    """Whether the positions of so many rows in dictionaries of so many cells take little."""
    return rows * (DECODING + sum(position_of(count).bit_width // 8 for count in cells)) <= KEPT


class _Words(NamedTuple):
    """A column of a row group."""

    dictionary: pyarrow.Array
    positions: pyarrow.Array

    def some(self, start: int, rows: int) -> pyarrow.Array:
        """Some of its rows; nothing in them holds what is kept of the others."""
        positions = self.positions.slice(start, rows).cast(pyarrow.int32())
        return pyarrow.DictionaryArray.from_arrays(positions, self.dictionary, safe=False)


def tables_of_group(
    file: ParquetFile, number: int, rows: int, whole: Sequence[str], columns: Sequence[str]
) -> Iterator[pyarrow.Table]:
    """Tables of so many rows of a row group, some of its columns read as a `whole`, others some rows at a time.

    Those the file is to read as dictionaries. One that PyArrow gives several for is read as the others are.
    """
    words = {name: found for name in whole if (found := _as_one(file, number, name)) is not None}
    rest = [name for name in columns if name not in words]
    batches = file.iter_batches(rows, row_groups=[number], columns=rest) if rest else _of_nothing(words, rows)
    start = 0
    for batch in batches:
        parts = dict(zip(batch.schema.names, batch.columns, strict=True))
        parts |= {name: column.some(start, len(batch)) for name, column in words.items()}
        yield pyarrow.table({name: parts[name] for name in columns})
        start += len(batch)


def _as_one(file: ParquetFile, number: int, name: str) -> _Words | None:
    """A column of a row group as one dictionary, and positions in it of few bytes."""
    chunks = file.read_row_group(number, columns=[name], use_threads=False).column(0).chunks
    if len(chunks) != 1 or not is_coded(chunks[0]):
        return None
    dictionary = chunks[0].dictionary
    return _Words(dictionary, chunks[0].indices.cast(position_of(len(dictionary)), safe=False))


def _of_nothing(words: Mapping[str, _Words], rows: int) -> Iterator[pyarrow.RecordBatch]:
    """Batches of so many rows, and no columns."""
    left = len(next(iter(words.values())).positions)
    while left > 0:
        some = pyarrow.nulls(min(rows, left))
        yield pyarrow.record_batch({"": some})
        left -= len(some)
