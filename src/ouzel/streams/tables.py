"""Tables as streams: record batches of every format, and blocks of examples made of them. PyArrow does the parsing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow
import pyarrow.ipc
import pyarrow.parquet

from ouzel.errors import DataError
from ouzel.streams.arrow_types import flat
from ouzel.streams.block import Block
from ouzel.streams.columns import Columns
from ouzel.streams.delimited import delimited_batches, lines_above
from ouzel.streams.json_lines import json_batches, read_json_lines
from ouzel.streams.labels import find_label
from ouzel.streams.memory import ROWS
from ouzel.streams.options import Options
from ouzel.streams.sources import BROKEN, Source

TABLES = ("csv", "tsv", "parquet", "arrow", "jsonl")

Skipped = Callable[[int], None]


def read_table(source: Source, options: Options, format: str, skipped: Skipped) -> Iterator[Block]:
    """Blocks of a table; `skipped` is told the number of rows left out."""
    with _complaining(source, format):
        if format == "jsonl":
            yield from read_json_lines(source, options, skipped)
        else:
            yield from _examples(source, options, format, skipped)


def _examples(source: Source, options: Options, format: str, skipped: Skipped) -> Iterator[Block]:
    delimited = format in ("csv", "tsv")
    columns: Columns | None = None
    for batch in record_batches(source, options, format, skipped):
        if columns is None:
            label = find_label(options, batch.schema.names, source.name)
            columns = Columns(options, batch.schema, label, numeric_text=delimited, name=source.name)
            columns.rows = lines_above(options) if delimited else 0
        if batch.num_rows:
            yield from columns.blocks(batch, skipped)


def record_batches(
    source: Source, options: Options, format: str, skipped: Skipped, needed: Sequence[str] = ()
) -> Iterator[Any]:
    """Record batches of a table; those of text formats have all cells as text.

    The first may be empty: it tells the columns. An object is parted into a column `outer.inner` for each member. JSON
    lines, whose rows may lack what others have, have the columns `needed` in every batch.
    """
    with _complaining(source, format):
        if format in ("csv", "tsv"):
            yield from delimited_batches(source, options, format, skipped)
        elif format == "jsonl":
            yield from json_batches(source, options, skipped, needed)
        else:
            stored = _parquet(source, options.ignore) if format == "parquet" else _arrow(source)
            for table in stored:
                table = flat(table)
                yield from table.combine_chunks().to_batches() or [_empty(table.schema)]


def rows_stored(source: Source, format: str) -> int:
    """The number of rows of a Parquet or Arrow file; uses the source up."""
    with _complaining(source, format):
        if format == "arrow":
            return sum(len(table) for table in _arrow(source))
        with pyarrow.parquet.ParquetFile(_seekable(source)) as file:
            return int(file.metadata.num_rows)


def _parquet(source: Source, ignored: Sequence[str]) -> Iterator[Any]:
    """Tables of at most ROWS rows, the first of none; the cells of ignored columns are not read, but null."""
    with pyarrow.parquet.ParquetFile(_seekable(source)) as file:
        schema = file.schema_arrow
        yield pyarrow.Table.from_batches([], schema)
        read = [name for name in schema.names if name not in ignored]
        for batch in file.iter_batches(ROWS, columns=read):
            table = pyarrow.Table.from_batches([batch])
            for name in schema.names:
                if name in ignored:
                    table = table.append_column(name, pyarrow.nulls(len(table)))
            yield table


def _arrow(source: Source) -> Iterator[Any]:
    """Tables of at most ROWS rows, the first of none, of a file for random access or a stream."""
    if source.peek(6) == b"ARROW1":
        opened = pyarrow.ipc.open_file(_seekable(source))
    else:
        opened = pyarrow.ipc.open_stream(pyarrow.PythonFile(source.open(), mode="r"))
    with opened as reader:
        yield pyarrow.Table.from_batches([], reader.schema)
        several = hasattr(reader, "num_record_batches")
        for batch in map(reader.get_batch, range(reader.num_record_batches)) if several else reader:
            for start in range(0, batch.num_rows, ROWS):
                yield pyarrow.Table.from_batches([batch.slice(start, ROWS)])


def _seekable(source: Source) -> Any:
    """What PyArrow can jump about in: the file itself, or in memory what is unpacked or comes through a pipe."""
    if source.size is None or source.compressed:
        return pyarrow.BufferReader(source.open().read())
    return str(source.path)


def _empty(schema: Any) -> Any:
    return pyarrow.RecordBatch.from_arrays([pyarrow.nulls(0, kind) for kind in schema.types], schema=schema)


@contextmanager
def _complaining(source: Source, format: str) -> Iterator[None]:
    """What PyArrow and unpacking say of a file, as one line."""
    try:
        yield
    except pyarrow.ArrowInvalid as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{source.name}: is no sound {format} file ({said})") from None
    except (*BROKEN, OSError) as error:
        raise source.broken(error) from None
