"""Files of any format as lines that a service learns."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ouzel.numerals import is_number
from ouzel.service.formats import JSON_LINES
from ouzel.streams.formats.batches import record_batches
from ouzel.streams.formats.catalogue import Format
from ouzel.streams.formats.detection import find_format
from ouzel.streams.missing import NA_TOKENS
from ouzel.streams.options import Options
from ouzel.streams.read import open_source
from ouzel.streams.sources.chunks import chunks_of
from ouzel.streams.sources.error_context import error_context
from ouzel.streams.sources.source import Source


def lines_to_send(path: str, format: str | None) -> tuple[str, Iterator[bytes]]:
    """The media type of a file, and its lines: as they are, or a table's rows as objects."""
    source = open_source(path)
    found = find_format(source, format)
    if found.is_lines and found.media_types:
        return found.media_types[0], _lines(source, found)
    return JSON_LINES.media_types[0], _rows(source, found)


def _lines(source: Source, format: Format) -> Iterator[bytes]:
    with error_context(source, format.name):
        for data, start, stop in chunks_of(source, Options().limits):
            yield from bytes(data[start:stop]).splitlines()


def _rows(source: Source, format: Format) -> Iterator[bytes]:
    typed = not format.is_delimited
    with error_context(source, format.name):
        for batch in record_batches(source, Options(), format, lambda count: None):
            for row in batch.to_pylist():
                cells = row.items() if typed else ((name, _value(cell)) for name, cell in row.items())
                present = {name: cell for name, cell in cells if cell is not None and cell == cell}
                yield json.dumps(present, default=str).encode()


def _value(cell: str | None) -> float | str | None:
    """What a cell of text is: a number, a word, or nothing."""
    if cell is None or cell.strip() in NA_TOKENS:
        return None
    return float(cell) if is_number(cell) else cell
