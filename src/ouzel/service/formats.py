"""Examples of other formats as the lines of JSON that a service learns, by the readers of files.

Names and numbers of features stay as they are, so that they are the same features; values of 32 bits are written in
full. Importance weights need a member to be written to: `--weight NAME`.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ouzel.numerals import is_number
from ouzel.service.reading import Refused
from ouzel.streams.block import ROWS, Block
from ouzel.streams.formats.arrow_ipc import batches_in
from ouzel.streams.formats.catalogue import FORMATS, Format, find_format
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.limits import Limits
from ouzel.streams.missing import NA_TOKENS
from ouzel.streams.options import Options
from ouzel.streams.read import open_source
from ouzel.streams.sources.chunks import chunks_of
from ouzel.streams.sources.error_context import error_context, wrap_errors
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.arrow_types import flat

if TYPE_CHECKING:
    import pyarrow

JSON_LINES = FORMATS["jsonl"]
READ = tuple(format for format in FORMATS.values() if format.media_types)
"""Formats of request bodies that can be learnt."""


def as_json(lines: Sequence[bytes], format: Format, options: Options, label: str) -> list[bytes | Refused]:
    """Return each line of a text format as a line of JSON, or the reason why it is refused."""
    found: list[bytes | Refused] = []
    plain = Options(bits=options.bits, seed=options.seed, limits=options.limits)
    parse = format.module.parser(plain, NameEmitter(options.bits)).parse
    while len(found) < len(lines):
        rest = [line.replace(b"\r", b"") for line in lines[len(found) :]]
        # writable, like the data of files, so that no kernel is compiled anew
        data = np.frombuffer(bytearray(b"\n").join([*rest, b""]), np.uint8)
        parsed = parse(data, 0, len(data), plain)
        if parsed.block.rows:
            found += _lines_of(parsed.block, label, options.weight)
        if parsed.problem is not None:
            problem = parsed.problem
            found.append(Refused(f"found {problem.found}; {problem.expected}", None, problem.column))
        elif len(found) < len(lines):  # not an example in this format: a comment, say
            found.append(Refused("found no example in the line"))
    return found


def rows_of_stream(file: io.BufferedReader, limits: Limits) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows of an Arrow stream as validated batches of at most ROWS rows, structs split into columns."""
    with wrap_errors("the stream"):
        for table in batches_in(file, "the stream", limits):
            table.validate(full=True)  # a kernel trusts the offsets it is given
            yield from flat(table).combine_chunks().to_batches(max_chunksize=ROWS)


def _lines_of(block: Block, label: str, weight: str | None) -> Iterator[bytes | Refused]:
    names: dict[int, str] = {}
    if block.names is not None:
        text = block.names.text.tobytes()
        spans = zip(block.names.ids.tolist(), block.names.starts.tolist(), block.names.ends.tolist(), strict=True)
        for feature, start, end in spans:
            names.setdefault(feature, text[start:end].decode("utf-8", "replace"))
    starts = block.offsets.tolist()
    for row in range(block.rows):
        row_label, importance = block.labels[row].item(), block.weights[row].item()
        features = zip(
            block.indices[starts[row] : starts[row + 1]].tolist(),
            block.values[starts[row] : starts[row + 1]].tolist(),
            strict=True,
        )
        found: dict[str, object] = {names.get(feature, str(feature)): value for feature, value in features}
        if label in found or (weight is not None and weight in found):
            yield Refused(f"found a feature that is called as the label or the weight is; expected none of {label!r}")
            continue
        if not math.isnan(row_label):
            known = block.label_names
            found[label] = row_label if known is None else known[int(row_label)]
        if importance != 1.0 and weight is None:
            yield Refused("found an importance; expected none, or a service with --weight NAME for it")
            continue
        if weight is not None:
            found[weight] = importance
        yield json.dumps(found, ensure_ascii=False).encode()


def lines_to_send(path: str, format: str | None) -> tuple[str, Iterator[bytes]]:
    """Return the media type and the lines of a file to send: its own lines, or the rows of a table as JSON objects."""
    source = open_source(path)
    found = find_format(source, format)
    if found.is_lines and found.media_types:
        return found.media_types[0], _text_lines(source, found)
    return JSON_LINES.media_types[0], _table_rows(source, found)


def _text_lines(source: Source, format: Format) -> Iterator[bytes]:
    with error_context(source, format.name):
        for data, start, stop in chunks_of(source, Options().limits):
            yield from bytes(data[start:stop]).splitlines()


def _table_rows(source: Source, format: Format) -> Iterator[bytes]:
    from ouzel.streams.formats.batches import record_batches  # which only tables need

    typed = not format.is_delimited
    with error_context(source, format.name):
        for batch in record_batches(source, Options(), format, lambda count: None):
            for row in batch.to_pylist():
                cells = row.items() if typed else ((name, _cell_value(cell)) for name, cell in row.items())
                present = {name: cell for name, cell in cells if cell is not None and cell == cell}
                yield json.dumps(present, default=str).encode()


def _cell_value(cell: str | None) -> float | str | None:
    """Return the value of a cell of text: a number, a word, or None."""
    if cell is None or cell.strip() in NA_TOKENS:
        return None
    return float(cell) if is_number(cell) else cell
