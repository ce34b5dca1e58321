"""Messages that are streams of Arrow: the record batches in them, with what comes beside a message as columns."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pyarrow

from ouzel.errors import DataError
from ouzel.streams.formats.catalogue import find
from ouzel.streams.guard import one_line
from ouzel.streams.limits import Limits
from ouzel.streams.tables.arrow_messages import batches_in
from ouzel.streams.tables.arrow_types import flat
from ouzel.streams.tables.block_tables import holds_blocks


def rows_of_message(value: bytes, beside: Mapping[str, str], name: str, limits: Limits) -> pyarrow.RecordBatch:
    """The rows of a message as one sound record batch, objects parted into columns; DataError if it is not one.

    Columns of the names of what is `beside` it give way.
    """
    if not value.startswith(find("arrow").magic):
        raise DataError.at(name, "is not a stream of Arrow")
    with one_line(name):
        table = pyarrow.concat_tables(batches_in(io.BufferedReader(io.BytesIO(value)), name, limits))
        table.validate(full=True)  # a kernel trusts the offsets it is given
        if holds_blocks(table.schema):
            raise DataError.at(name, "holds finished examples, which are for files; send the columns that they are of")
        table = flat(table)
        for member, text in beside.items():
            table = table.drop_columns([member] if member in table.column_names else [])
            table = table.append_column(member, pyarrow.array([text] * table.num_rows, pyarrow.string()))
        return as_one_batch(table)


def as_one_batch(table: pyarrow.Table) -> pyarrow.RecordBatch:
    """A table as one record batch, which may have no rows."""
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pyarrow.RecordBatch.from_pylist([], table.schema)
