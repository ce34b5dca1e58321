"""Tables of every format as record batches, and their blocks of examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow

from ouzel.errors import DataError
from ouzel.streams.block import Block, rows_at_once
from ouzel.streams.formats.catalogue import Family, Format
from ouzel.streams.formats.csv import delimited_batches, lines_above
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.labels import find_label
from ouzel.streams.options import Options
from ouzel.streams.sources.prefetch import prefetch_file
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.arrow_types import flat, holds_blocks
from ouzel.streams.tables.columns import Columns
from ouzel.streams.tables.csv_cells import SkippedRows, TableBatch, as_arrow
from ouzel.streams.tables.dictionary_columns import Checks
from ouzel.streams.tables.schema import ColumnKinds

if TYPE_CHECKING:
    from ouzel.streams.formats.blocks import BlockReader

Skipped = Callable[[int], None]


def read_table(
    source: Source,
    options: Options,
    format: Format,
    on_skipped: Skipped,
    kinds: ColumnKinds,
    emitter: NameEmitter | None = None,
) -> Iterator[Block]:
    """Yield the blocks of a table; `on_skipped` gets the number of skipped rows, `kinds` decides what columns hold."""
    if format.family is Family.OBJECTS:
        from ouzel.streams.formats.json_lines import read_json_lines

        yield from read_json_lines(source, options, on_skipped, kinds, emitter)
        return
    delimited = format.is_delimited
    above, uneven = lines_above(options) if delimited else 0, SkippedRows()
    columns: Columns | None = None
    blocks: BlockReader | None = None
    batches: Iterator[TableBatch] = (
        delimited_batches(source, options, format, on_skipped, uneven, kinds.say)
        if delimited
        else record_batches(source, options, format, on_skipped)
    )
    for batch in prefetch_file(source, batches, most=1):
        if holds_blocks(batch.schema):
            from ouzel.streams.formats.blocks import BlockReader

            blocks = blocks or BlockReader(batch.schema, options, source.name)
            yield from blocks.blocks(batch) if batch.num_rows else ()
            continue
        if columns is None:
            label = find_label(options, batch.schema.names, source.name, kinds.say_once)
            expected = options, batch.schema, label, not delimited, source.name, kinds, above, uneven
            columns = Columns(*expected, emitter)
        if batch.num_rows:
            yield from columns.blocks(batch, on_skipped)


def record_batches(
    source: Source,
    options: Options,
    format: Format,
    on_skipped: Skipped,
    needed: Sequence[str] = (),
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the validated record batches of a table; text formats have all cells as text.

    The first may be empty, and names the columns. An object becomes a column `outer.inner` for each member. JSON lines,
    whose rows may lack members of others, have the columns `needed` in every batch. Errors of PyArrow are raised as
    they are: read within `sources.error_context.error_context`.
    """
    if format.is_delimited:
        yield from map(as_arrow, delimited_batches(source, options, format, on_skipped, SkippedRows()))
    elif format.family is Family.OBJECTS:
        from ouzel.streams.formats.json_lines import json_batches

        yield from json_batches(source, options, on_skipped, needed)
    else:
        checks = Checks()
        for part in source.tables() or format.module.tables(source, options):
            checks.check(part)
            rows = rows_at_once(part.num_columns)
            for start in range(0, max(1, part.num_rows), rows):
                table = flat(part.slice(start, rows))
                yield from table.combine_chunks().to_batches() or [_empty(table.schema, source.name)]


def _empty(schema: pyarrow.Schema, name: str) -> pyarrow.RecordBatch:
    """Return a batch of no rows."""
    for field in schema:
        if _has_no_values(field.type):  # PyArrow would end the process
            raise DataError.at(name, f"column {field.name!r} is a union of no types; write the file again without it")
    return pyarrow.RecordBatch.from_arrays([pyarrow.nulls(0, kind) for kind in schema.types], schema=schema)


def _has_no_values(kind: pyarrow.DataType) -> bool:
    """Return whether an Arrow type is, or contains, a union of no types."""
    parts = [kind.field(place).type for place in range(kind.num_fields)]
    if pyarrow.types.is_dictionary(kind):
        parts.append(kind.value_type)
    return (pyarrow.types.is_union(kind) and not parts) or any(map(_has_no_values, parts))
