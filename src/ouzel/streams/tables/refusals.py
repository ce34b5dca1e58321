"""What a library refuses of a table, as one line that names the column."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ouzel.errors import DataError
from ouzel.streams.guard import is_of_library, reason_of

if TYPE_CHECKING:
    import pyarrow


@contextmanager
def converting(batch: pyarrow.RecordBatch, column: str, name: str, role: str = "ignore") -> Iterator[None]:
    """Convert the cells of a column in here: what a library refuses is one line that names the column.

    `role` is the option that names such a column, or that leaves it out.
    """
    try:
        yield
    except Exception as error:
        if not is_of_library(error) or isinstance(error, MemoryError):
            raise
        kind = batch.schema.field(column).type
        found = f"{name}: column {column!r} holds {kind}, which does not read as numbers or text ({reason_of(error)})"
        if role == "ignore":
            raise DataError(f"{found}; leave it out with", ignore=column) from error
        raise DataError(f"{found}; name another column with", **{role: "NAME"}) from error
