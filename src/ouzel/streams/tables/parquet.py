"""Parquet files as tables of as many rows as fit, whatever a page or a dictionary of words unpacks to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow
import pyarrow.compute as compute
from pyarrow.parquet import ParquetFile

from ouzel.streams.block import rows_at_once
from ouzel.streams.limits import Limits
from ouzel.streams.options import Options
from ouzel.streams.patterns import matches
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.arrow_types import FEWER, as_text, types

ROOM = 1 << 26  # bytes that the words of one column may take in one table
BUFFER = 1 << 20  # bytes of a column that are read at a time
FEW = 64  # rows at a time where little is known of their size


def parquet_tables(source: Source, options: Options, limits: Limits) -> Iterator[Any]:
    """Tables of so many rows, the first of none; the cells of ignored columns are not read, but null.

    Columns of few words for many rows are dictionaries.
    """
    with source.stored(limits) as stored, _opened(stored) as file:
        schema = file.schema_arrow
        yield pyarrow.Table.from_batches([], schema)
        ignored = [name for name in schema.names if matches(name, options.ignore)]
        read = [name for name in schema.names if name not in ignored]
        words = _columns_of_words(file, read)
        with _opened(stored, list(words)) as coded:
            parts = _Parts(coded, words, len(read), limits, source.groups, apart=_is_afar(stored))
            few = parts.columns_of_few()
            with _opened(stored, few) as file_of_few:
                for groups, rows in parts.runs():
                    for batch in file_of_few.iter_batches(rows, row_groups=groups, columns=read):
                        table = pyarrow.Table.from_batches([batch])
                        for name in schema.names:
                            if name in ignored:
                                table = table.append_column(name, pyarrow.nulls(len(table)))
                        yield table


def _opened(stored: Any, coded: Sequence[str] = ()) -> ParquetFile:
    """A file whose columns are read as they are needed; those of a row group together where it is not a file of a disk.

    By itself PyArrow reads ahead, and keeps, all row groups of a call.
    """
    return ParquetFile(stored, buffer_size=BUFFER, pre_buffer=_is_afar(stored), read_dictionary=list(coded))


def _is_afar(stored: Any) -> bool:
    return not isinstance(stored, str)


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


class _Parts:
    """How a file is read: how many rows at a time, and which words as dictionaries.

    Of the file, all columns of `words` are read as dictionaries, which tells how long and how many these are. Row
    groups that are read `apart` have a run each.
    """

    def __init__(
        self,
        coded: ParquetFile,
        words: dict[str, int],
        columns: int,
        limits: Limits,
        groups: range | None = None,
        apart: bool = False,
    ) -> None:
        self.coded = coded
        self.apart = apart
        self.words = words
        self.limits = limits
        self.groups = range(coded.num_row_groups) if groups is None else groups
        self.most = rows_at_once(columns)
        rows = [coded.metadata.row_group(k).num_rows for k in range(coded.num_row_groups)]
        if min(rows, default=0) < 0:  # PyArrow would end the process
            raise ValueError(f"a row group says that it has {min(rows)} rows")
        self._known: dict[int, list[tuple[str, int, int]]] = {}

    def columns_of_few(self) -> list[str]:
        """The columns whose dictionaries are small where the file begins."""
        if not (self.words and self.coded.num_row_groups):
            return []
        rows = min(self.most, self.coded.metadata.row_group(0).num_rows)
        return [name for name, cells, _ in self._dictionaries(0) if FEWER * cells <= rows]

    def runs(self) -> Iterator[tuple[list[int], int]]:
        """Row groups that follow one another, and how many of their rows are taken at a time."""
        run: list[int] = []
        before = 0
        for number in self.groups:
            rows = self._rows_at_once(number)
            if run and (self.apart or rows != before):
                yield run, before
                run = []
            run.append(number)
            before = rows
        if run:
            yield run, before

    def _dictionaries(self, number: int) -> list[tuple[str, int, int]]:
        """Of each column of words in a row group its name, the cells of its dictionary, and the longest one's bytes."""
        if number not in self._known:
            found = self._known[number] = []
            for batch in islice(self.coded.iter_batches(1, row_groups=[number], columns=list(self.words)), 1):
                for name, array in zip(batch.schema.names, batch.columns, strict=True):
                    if not types.is_dictionary(array.type):
                        continue  # of the types that PyArrow does not code
                    longest = compute.max(compute.binary_length(as_text(array.dictionary))).as_py() or 0
                    found.append((name, len(array.dictionary), longest))
        return self._known[number]

    def _rows_at_once(self, number: int) -> int:
        """How many rows of a row group are taken at a time: as many as of other tables, unless they may be long.

        A word may stand in a dictionary once for all its rows, or be packed to next to nothing.
        """
        group = self.coded.metadata.row_group(number)
        if not group.num_rows:
            return self.most
        rows = min(self.most, max(1, ROOM * group.num_rows // max(1, group.total_byte_size)))
        if not self.words or group.total_byte_size * min(group.num_rows, rows) <= ROOM:
            return rows
        for _, _, longest in self._dictionaries(number):
            rows = min(rows, max(1, ROOM // max(longest, 1)))
        # Only now: what describes a column has been checked by reading it. PyArrow ends the process if it is damaged.
        sizes = [group.column(k).total_uncompressed_size for k in self.words.values()]
        return min(rows, FEW) if max(sizes) > self.limits.batch else rows
