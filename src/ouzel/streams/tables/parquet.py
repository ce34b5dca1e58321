"""Parquet files as tables of so many rows as fit, whatever a page or a dictionary of words unpacks to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow
import pyarrow.compute as compute
from pyarrow.parquet import ParquetFile

from ouzel.streams.block import ROWS
from ouzel.streams.limits import Limits
from ouzel.streams.options import Options
from ouzel.streams.patterns import matches
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.arrow_types import as_text

ROOM = 1 << 26  # bytes that the words of one column may take in one table
BUFFER = 1 << 20  # bytes of a column that are read at a time
FEW = 64  # rows at a time where little is known of their size


def parquet_tables(source: Source, options: Options, limits: Limits) -> Iterator[Any]:
    """Tables of at most ROWS rows, the first of none; the cells of ignored columns are not read, but null."""
    with source.stored(limits) as stored, ParquetFile(stored, buffer_size=BUFFER) as file:
        schema = file.schema_arrow
        yield pyarrow.Table.from_batches([], schema)
        ignored = [name for name in schema.names if matches(name, options.ignore)]
        read = [name for name in schema.names if name not in ignored]
        words = _columns_of_words(file, read)
        with ParquetFile(stored, buffer_size=BUFFER, read_dictionary=list(words)) as coded:
            for groups, rows in _runs(coded, words, limits):
                for batch in file.iter_batches(rows, row_groups=groups, columns=read):
                    table = pyarrow.Table.from_batches([batch])
                    for name in schema.names:
                        if name in ignored:
                            table = table.append_column(name, pyarrow.nulls(len(table)))
                    yield table


def rows_of_parquet(source: Source, limits: Limits) -> int:
    """The number of rows that a Parquet file says it has."""
    with source.stored(limits) as stored, ParquetFile(stored) as file:
        return int(file.metadata.num_rows)


def _columns_of_words(file: ParquetFile, read: Sequence[str]) -> dict[str, int]:
    """Names and positions of the columns that hold text, those within lists and objects left out."""
    columns = [file.schema.column(k) for k in range(len(file.schema))]
    return {
        column.name: k
        for k, column in enumerate(columns)
        if column.physical_type == "BYTE_ARRAY" and column.path == column.name and column.name in read
    }


def _runs(coded: ParquetFile, words: dict[str, int], limits: Limits) -> Iterator[tuple[list[int], int]]:
    """Row groups that follow one another, and how many of their rows are taken at a time."""
    run: list[int] = []
    before = ROWS
    for number in range(coded.num_row_groups):
        rows = _rows_at_once(coded, number, words, limits)
        if run and rows != before:
            yield run, before
            run = []
        run.append(number)
        before = rows
    if run:
        yield run, before


def _rows_at_once(coded: ParquetFile, number: int, words: dict[str, int], limits: Limits) -> int:
    """How many rows of a row group are taken at a time: ROWS, unless its words may be long.

    A word may stand in a dictionary once for all its rows, or be packed to next to nothing.
    """
    group = coded.metadata.row_group(number)
    if not words or group.total_byte_size * min(group.num_rows, ROWS) <= ROOM:
        return ROWS
    rows = ROWS
    for batch in coded.iter_batches(1, row_groups=[number], columns=list(words)):
        for array in batch.columns:
            longest = compute.max(compute.binary_length(as_text(array.dictionary))).as_py() or 0
            rows = min(rows, max(1, ROOM // max(longest, 1)))
        break
    # Only now: what describes a column has been checked by reading it. PyArrow ends the process if it is damaged.
    sizes = [group.column(k).total_uncompressed_size for k in words.values()]
    return min(rows, FEW) if max(sizes) > limits.batch else rows
