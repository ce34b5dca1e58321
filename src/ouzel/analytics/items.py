"""Readers of items: cells of tables, lines of text and features of sparse rows, with the slots they hash to."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow
import pyarrow.compute as pc

from ouzel.analytics.sketch import slots_of_text
from ouzel.errors import DataError, OuzelError, listed
from ouzel.streams.formats.batches import record_batches
from ouzel.streams.formats.catalogue import FORMATS, Format, by_file_name, find, find_format
from ouzel.streams.kernels.lines import checked_text
from ouzel.streams.limits import USUAL, Limits
from ouzel.streams.options import Options
from ouzel.streams.read import Stream
from ouzel.streams.sources.chunks import chunks_of
from ouzel.streams.sources.error_context import error_context
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.arrow_types import as_text
from ouzel.streams.tables.cells import words_of

LINES = "lines"  # of text, each an item: no format of examples
ITEM_FORMATS = (*FORMATS, LINES)


class Items(NamedTuple):
    """Batch of items of a stream in order: their slots, and a function that returns their names."""

    slots: np.ndarray  # (n,) uint32
    name_of: Callable[[int], str | None]  # of a position
    rows: int  # rows, lines or examples that hold them


def check_column(batch: Any, column: str, name: str) -> None:
    """Refuse a column that is missing or duplicate."""
    names = batch.schema.names
    if column not in names:
        raise DataError.at(name, f"has no column {column!r}; its columns are {listed(names)}")
    if names.count(column) > 1:
        raise DataError.at(name, f"two columns are named {column!r}; give each a name of its own")


def text_column(batch: Any, column: str, name: str) -> Any:
    """Return a column of a batch as trimmed text, null where empty."""
    check_column(batch, column, name)
    array = batch.column(column)
    try:
        text = as_text(array).cast(pyarrow.large_string())
    except (pyarrow.ArrowNotImplementedError, pyarrow.ArrowInvalid):
        raise DataError.at(name, f"column {column!r} holds {array.type}, which is neither number nor text") from None
    trimmed = pc.utf8_trim_whitespace(text)
    return pc.if_else(pc.equal(trimmed, ""), None, trimmed)


def slots_of_column(array: Any, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return slots (n,) uint32 of a text column, and the mask (n,) of valid cells."""
    words = words_of(array)
    starts = words.offsets[:-1].astype(np.uint64)
    ends = words.offsets[1:].astype(np.uint64)
    return slots_of_text(words.data, starts, np.where(words.valid, ends, starts), seed), words.valid


def slots_of_rows(
    arrays: Sequence[Any], seed: int, wanted: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, Callable[[int], str]]:
    """Hash the cells of text columns row by row, of the rows `wanted` (n,) bool.

    Return the mask (n, columns) of valid cells, their slots (cells,) uint32, and a function that returns the text of a
    position among them.
    """
    found = [slots_of_column(array, seed) for array in arrays]
    there = np.stack([valid for _, valid in found], axis=1)
    if wanted is not None:
        there &= wanted[:, None]
    places = np.flatnonzero(there)

    def name_of(k: int) -> str:
        row, column = divmod(int(places[k]), len(arrays))
        return str(arrays[column][row].as_py())

    return there, np.stack([slots for slots, _ in found], axis=1).ravel()[places], name_of


def joined_column(batch: Any, columns: Sequence[str], name: str) -> Any:
    """Return one column, or several joined by blanks as `a=… b=…`; null where any is null."""
    if len(columns) == 1:
        return text_column(batch, columns[0], name)
    parts = [prefixed(column, text_column(batch, column, name)) for column in columns]
    return pc.binary_join_element_wise(*parts, pyarrow.scalar(" ", pyarrow.large_string()))


def prefixed(column: str, array: Any) -> Any:
    """Return cells as `column=cell`."""
    before, between = (pyarrow.scalar(text, pyarrow.large_string()) for text in (f"{column}=", ""))
    return pc.binary_join_element_wise(before, array, between)


def find_item_format(source: Source, given: str | None, columns: Sequence[str]) -> Format | None:
    """Return the format of a source: a table if columns are named, sparse rows by name, None for lines of text."""
    if given == LINES:
        return None
    if given is not None and given not in FORMATS:
        raise OuzelError(f"must be one of {', '.join(ITEM_FORMATS)}; got {given!r}", subject="format")
    known = by_file_name(source.plain_name) if given is None else find(given)
    if columns:
        format = known or find_format(source, None)
        if not format.is_table:
            raise OuzelError(f"{source.name}: is {format.name}, which has no columns; name none")
        return format
    if known is not None and known.is_table:
        raise OuzelError(f"{source.name}: is a table; name the column that holds the items with", column="NAME")
    return known


def items_of(source: Source, format: Format | None, columns: Sequence[str], options: Options) -> Generator[Items]:
    """Yield the items of a source in batches: cells of the columns, feature ids of sparse rows, or lines.

    A column may be several joined by +. With more than one column a row has an item of each, named `column=cell`.
    """
    with error_context(source, LINES if format is None else format.name):
        if format is None:
            yield from _lines(source, options)
        elif format.is_table:
            yield from _cells(source, format, [column.split("+") for column in columns], options)
        else:
            yield from _features(source, format, options)


def _cells(source: Source, format: Format, columns: list[list[str]], options: Options) -> Iterator[Items]:
    needed = [part for column in columns for part in column]
    for batch in record_batches(source, options, format, lambda count: None, needed):
        arrays = [joined_column(batch, column, source.name) for column in columns]
        if len(columns) > 1:
            arrays = [
                prefixed(column[0], array) if len(column) == 1 else array
                for column, array in zip(columns, arrays, strict=True)
            ]
        _, slots, name_of = slots_of_rows(arrays, options.seed)
        yield Items(slots, name_of, batch.num_rows)


def lines_of(source: Source, limits: Limits = USUAL) -> Iterator[list[str]]:
    """Yield the lines of a text in blocks, trimmed and without blank ones."""
    before = 0  # lines
    for data, start, stop in chunks_of(source, limits):
        checked = checked_text(data, start, stop, Options())
        text = bytes(checked.data[start : checked.stop]).decode()
        if "\0" in text:
            raise DataError.at(
                source.name, "holds zero bytes; expected lines of text: name its format with", format="NAME"
            )
        yield [line for line in map(str.strip, text.split("\n")) if line]
        if checked.problem is not None:
            raise checked.problem.error(source.name, before)
        before += checked.lines


def _lines(source: Source, options: Options) -> Iterator[Items]:
    for texts in lines_of(source, options.limits):
        lines = pyarrow.array(texts, pyarrow.large_string())
        slots, _ = slots_of_column(lines, options.seed)
        yield Items(slots, lambda k, lines=lines: str(lines[k].as_py()), len(lines))  # type: ignore[misc]


def _features(source: Source, format: Format, options: Options) -> Iterator[Items]:
    for block in Stream([source], format.name, options):
        ids = block.indices[int(block.offsets[0]) : int(block.offsets[-1])]
        yield Items(ids + np.uint32(1), lambda k, ids=ids: str(ids[k]), block.rows)  # type: ignore[misc]


def count_rows(source: Source, format: Format | None, limits: Limits = USUAL) -> int | None:
    """Estimate the number of rows of a file, to interleave two evenly; None for a pipe, which can be read once only."""
    if source.path is None or source.size is None:
        return None
    another = Source(source.path)
    with error_context(another, LINES if format is None else format.name):
        if format is not None and format.is_columnar:
            return int(format.module.rows_stored(another, limits))
        file = another.open()
        count = 0
        while data := file.read(1 << 20):
            count += data.count(b"\n")
        return max(count, 1)
