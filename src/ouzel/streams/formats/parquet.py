"""Parquet files as tables of bounded size, whatever their pages and dictionaries unpack to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

import pyarrow
import pyarrow.compute as compute
from pyarrow.parquet import ParquetFile, ParquetWriter

from ouzel.streams.block import rows_at_once
from ouzel.streams.feature_specs import matches
from ouzel.streams.limits import Limits
from ouzel.streams.options import Options
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.arrow_types import as_text, is_dictionary

POSITION_BYTES = 1 << 27  # bytes of all positions in dictionaries that are kept of a row group
DECODING = 8  # bytes of a cell of the column that is being decoded
WORD_BYTES = 1 << 26  # bytes that the words of one column may take in one table
BUFFER = 1 << 20  # bytes of a column that are read at a time
FEW = 64  # rows at a time where little is known of their size
PLAIN = 1 << 12  # rows of a row group, below which words are read as they are
AS_DICTIONARIES = {"PLAIN", "PLAIN_DICTIONARY", "RLE", "RLE_DICTIONARY", "BIT_PACKED"}  # that PyArrow can read so
MUCH = 2  # times the bytes that a column takes of the row group before
TOGETHER = 4  # times the rows of other tables, where there are dictionaries, which PyArrow copies for each table
MANY = 1 << 12  # cells of a dictionary of which there should be one copy
POSITION = 3  # bytes, at most, of a position in a dictionary that is small


def position_of(cells: int) -> pyarrow.DataType:
    """Return the smallest Arrow type of positions among `cells` cells."""
    return pyarrow.uint8() if cells <= 1 << 8 else pyarrow.uint16() if cells <= 1 << 16 else pyarrow.int32()


def can_be_kept(rows: int, cells: Sequence[int]) -> bool:
    """Return whether the positions of `rows` rows in dictionaries of these sizes take little memory."""
    return rows * (DECODING + sum(position_of(count).bit_width // 8 for count in cells)) <= POSITION_BYTES


class _GroupWords(NamedTuple):
    """A column of words in a row group: a dictionary, and positions in it."""

    dictionary: pyarrow.Array
    positions: pyarrow.Array

    def some(self, start: int, rows: int) -> pyarrow.Array:
        """Return some of its rows, which do not keep the others in memory."""
        positions = self.positions.slice(start, rows).cast(pyarrow.int32())
        return pyarrow.DictionaryArray.from_arrays(positions, self.dictionary, safe=False)


def tables_of_group(
    file: ParquetFile, number: int, rows: int, whole: Sequence[str], columns: Sequence[str]
) -> Iterator[pyarrow.Table]:
    """Yield tables of `rows` rows of a row group; the columns `whole` are read at once, others some rows at a time.

    The file reads columns of `whole` as dictionaries; one with several dictionaries is read like the others.
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


def _as_one(file: ParquetFile, number: int, name: str) -> _GroupWords | None:
    """Return a column of a row group as one dictionary, and small positions in it; None if it has several."""
    chunks = file.read_row_group(number, columns=[name], use_threads=False).column(0).chunks
    if len(chunks) != 1 or not is_dictionary(chunks[0]):
        return None
    dictionary = chunks[0].dictionary
    return _GroupWords(dictionary, chunks[0].indices.cast(position_of(len(dictionary)), safe=False))


def _of_nothing(words: Mapping[str, _GroupWords], rows: int) -> Iterator[pyarrow.RecordBatch]:
    """Yield batches of up to `rows` rows without columns."""
    left = len(next(iter(words.values())).positions)
    while left > 0:
        some = pyarrow.nulls(min(rows, left))
        yield pyarrow.record_batch({"": some})
        left -= len(some)


def tables(source: Source, options: Options) -> Iterator[pyarrow.Table]:
    """Yield the tables of a file, first an empty one; the cells of ignored columns are null, and not read.

    Columns of few words for many rows are dictionaries.
    """
    limits = options.limits
    with source.stored(limits) as stored, _opened(stored) as file:
        schema = file.schema_arrow
        yield pyarrow.Table.from_batches([], schema)
        ignored = [name for name in schema.names if matches(name, options.ignore)]
        read = [name for name in schema.names if name not in ignored]
        words = _columns_of_words(file, read)
        with _opened(stored, list(words), file.metadata) as coded:
            parts = _Parts(file, coded, words, len(read), limits, source.groups, apart=_is_afar(stored))
            for part in parts.runs():
                with _opened(stored, part.coded, file.metadata) as some:
                    for table in _tables(some, part, read):
                        for name in ignored:
                            table = table.append_column(name, pyarrow.nulls(len(table)))
                        yield table


def _tables(file: ParquetFile, part: _Part, read: Sequence[str]) -> Iterator[pyarrow.Table]:
    """The tables of a part of a file."""
    if part.whole:
        for number in part.groups:
            yield from tables_of_group(file, number, part.rows, part.whole, read)
        return
    for batch in file.iter_batches(part.rows, row_groups=part.groups, columns=read):
        yield pyarrow.Table.from_batches([batch])


def _opened(stored: Any, coded: Sequence[str] = (), metadata: Any = None) -> ParquetFile:
    """A file whose columns are read as they are needed; those of a row group together where it is not a file of a disk.

    By itself PyArrow reads ahead, and keeps, all row groups of a call.
    """
    arguments = {"buffer_size": BUFFER, "pre_buffer": _is_afar(stored), "metadata": metadata}
    return ParquetFile(stored, read_dictionary=list(coded), **arguments)


def _is_afar(stored: Any) -> bool:
    return not isinstance(stored, str)


def rows_stored(source: Source, limits: Limits) -> int:
    """Return the number of rows that a Parquet file says it has."""
    with source.stored(limits) as stored, ParquetFile(stored) as file:
        return int(file.metadata.num_rows)


def writer(file: BinaryIO, schema: pyarrow.Schema, packed: str | None = None) -> ParquetWriter:
    """Return a writer of record batches or tables of a schema to a file."""
    return ParquetWriter(file, schema, compression=packed or "snappy")


def _columns_of_words(file: ParquetFile, read: Sequence[str]) -> dict[str, int]:
    """Return the names and positions of columns of text, without those within lists and objects."""
    columns = [file.schema.column(k) for k in range(len(file.schema))]
    return {
        column.name: k
        for k, column in enumerate(columns)
        if column.physical_type == "BYTE_ARRAY" and column.path == column.name and column.name in read
    }


class _Words(NamedTuple):
    """A column of words in a row group."""

    size: int  # bytes of the column
    cells: int  # words of its dictionary; 0 if PyArrow cannot read it as one
    dictionary_size: int  # bytes of its words
    longest: int  # bytes of the longest word that a few bytes of the file can repeat; 0 if none can


class _Part(NamedTuple):
    """Consecutive row groups, how many of their rows are read at a time, and which columns are dictionaries.

    Columns of `whole` are read for all rows of a row group at once.
    """

    groups: list[int]
    rows: int
    coded: list[str]
    whole: tuple[str, ...] = ()


class _Parts:
    """Plans how a file is read: how many rows at a time, and which columns of words as dictionaries.

    The file `coded` reads all columns of `words` as dictionaries, which shows their sizes. If a dictionary is small in
    one row group, and the column about as large in the next, the next is not looked at. Row groups that are read
    `apart` have a part each.
    """

    def __init__(
        self,
        file: ParquetFile,
        coded: ParquetFile,
        words: dict[str, int],
        columns: int,
        limits: Limits,
        groups: range | None = None,
        apart: bool = False,
    ) -> None:
        self.file = file
        self.coded = coded
        self.apart = apart
        self.words = words
        self.limits = limits
        self.groups = range(file.num_row_groups) if groups is None else groups
        self.most = rows_at_once(columns)
        self._few: dict[str, _Words] = {}  # dictionaries of the row group looked at last
        rows = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
        if min(rows, default=0) < 0:  # PyArrow would end the process
            raise ValueError(f"a row group says that it has {min(rows)} rows")

    def runs(self) -> Iterator[_Part]:
        """Yield the parts of the file, one after the other."""
        run: _Part | None = None
        for number in self.groups:
            part = self._part(number)
            if run and not self.apart and part[1:] == run[1:]:
                run.groups.append(number)
                continue
            if run:
                yield run
            run = part
        if run:
            yield run

    def _part(self, number: int) -> _Part:
        """Plan one row group: as many rows at a time as of other tables, or fewer if they may be long.

        A word may stand in a dictionary once for all its rows, or be packed to next to nothing.
        """
        group = self.file.metadata.row_group(number)
        if not group.num_rows:
            return _Part([number], self.most, [])
        rows = min(self.most, fitting := max(1, WORD_BYTES * group.num_rows // max(1, group.total_byte_size)))
        small = group.total_byte_size * min(group.num_rows, rows) <= WORD_BYTES
        if not self.words or (small and group.num_rows < PLAIN):
            return _Part([number], rows, [])
        found = {name: self._words(number, name) for name in self.words}
        self._few = {name: words for name, words in found.items() if self._are_few(words, group.num_rows, TOGETHER)}
        whole = [name for name, words in self._few.items() if words.cells > MANY]
        if not can_be_kept(group.num_rows, [self._few[name].cells for name in whole]):
            self._few = {name: words for name, words in found.items() if self._are_few(words, group.num_rows, 2)}
            whole = []
        rows = min(TOGETHER * rows, fitting) if self._few and not whole else rows
        if not small:
            rows = min([rows, *(max(1, WORD_BYTES // max(words.longest, 1)) for words in found.values())])
            rows = min(rows, FEW) if max(words.size for words in found.values()) > self.limits.batch else rows
        return _Part([number], rows, list(self._few), tuple(whole))

    def _are_few(self, words: _Words, rows: int, tables: int) -> bool:
        """Return whether a column is a dictionary of few words for `tables` tables of rows, and little else."""
        few = 0 < words.cells <= min(tables * self.most, rows // 2)
        return few and words.size - words.dictionary_size <= POSITION * rows + FEW * FEW

    def _words(self, number: int, name: str) -> _Words:
        """Look at the words of a column in a row group: read one of them, or all where one does not tell."""
        arguments = {"row_groups": [number], "columns": [name]}
        known = self._few.get(name)
        try:
            (array,) = next((self.coded if known is None else self.file).iter_batches(1, **arguments)).columns
        except OSError:  # PyArrow does not read its encoding as a dictionary, or it is damaged, which is told here
            (array,) = next(self.file.iter_batches(1, **arguments)).columns
        # Only now: what describes a column has been checked by reading it. PyArrow ends the process if it is damaged.
        column = self.file.metadata.row_group(number).column(self.words[name])
        encodings, size = column.encodings, column.total_uncompressed_size
        if known is not None:
            if AS_DICTIONARIES.issuperset(encodings) and size <= MUCH * known.size:
                return known._replace(size=min(size, known.size))  # this row group may have fewer rows
            del self._few[name]
            return self._words(number, name)
        if "DELTA_BYTE_ARRAY" in encodings:
            batches = self.file.iter_batches(FEW, **arguments)
            return _Words(size, 0, 0, max(_longest(as_text(batch.column(0))) for batch in batches))
        if not is_dictionary(array):
            return _Words(size, 0, 0, 0)
        cells = as_text(array.dictionary)
        return _Words(size, len(cells) if AS_DICTIONARIES.issuperset(encodings) else 0, cells.nbytes, _longest(cells))


def _longest(text: pyarrow.Array) -> int:
    return int(compute.max(compute.binary_length(text)).as_py() or 0)
