"""Tables as streams: Parquet, Arrow and Feather here, CSV and JSON lines next door. PyArrow does the parsing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow
import pyarrow.ipc
import pyarrow.parquet

from ouzel.errors import DataError
from ouzel.streams.block import Block
from ouzel.streams.columns import Columns
from ouzel.streams.delimited import read_delimited
from ouzel.streams.json_lines import read_json_lines
from ouzel.streams.labels import find_label
from ouzel.streams.memory import ROWS
from ouzel.streams.options import Options
from ouzel.streams.sources import BROKEN, Source

Skipped = Callable[[int], None]


def read_table(source: Source, options: Options, format: str, skipped: Skipped) -> Iterator[Block]:
    """Blocks of a table; `skipped` is told the number of rows left out."""
    try:
        if format in ("csv", "tsv"):
            yield from read_delimited(source, options, format, skipped)
        elif format == "jsonl":
            yield from read_json_lines(source, options, skipped)
        elif format == "parquet":
            yield from _read_parquet(source, options, skipped)
        else:
            yield from _read_arrow(source, options, skipped)
    except pyarrow.ArrowInvalid as error:
        raise DataError(f"{source.name}: is no sound {format} file ({_first_line(error)})") from None
    except (*BROKEN, OSError) as error:
        raise source.broken(error) from None


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _read_parquet(source: Source, options: Options, skipped: Skipped) -> Iterator[Block]:
    file: Any = pyarrow.BufferReader(source.open().read()) if source.path is None else source.path
    with pyarrow.parquet.ParquetFile(file) as table:
        names = [name for name in table.schema_arrow.names if name not in options.ignore]
        yield from _batches(table.iter_batches(ROWS, columns=names), table.schema_arrow, source, options, skipped)


def _read_arrow(source: Source, options: Options, skipped: Skipped) -> Iterator[Block]:
    if source.peek(6) == b"ARROW1":
        with pyarrow.ipc.open_file(source.open().read() if source.path is None else str(source.path)) as table:
            batches = (table.get_batch(k) for k in range(table.num_record_batches))
            yield from _batches(batches, table.schema, source, options, skipped)
    else:
        with pyarrow.ipc.open_stream(pyarrow.PythonFile(source.open(), mode="r")) as table:
            yield from _batches(iter(table), table.schema, source, options, skipped)


def _batches(
    batches: Iterator[Any], schema: Any, source: Source, options: Options, skipped: Skipped
) -> Iterator[Block]:
    schema = _flat(pyarrow.Table.from_batches([], schema)).schema
    columns = Columns(options, schema, find_label(options, schema.names, source.name), name=source.name)
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS):
            for part in _flat(pyarrow.Table.from_batches([batch.slice(start, ROWS)])).combine_chunks().to_batches():
                yield from columns.blocks(part, skipped)


def _flat(table: Any) -> Any:
    """The table with a column `outer.inner` for each member of an object."""
    while any(pyarrow.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return table
