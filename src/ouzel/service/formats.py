"""Examples of other formats as the lines of JSON that the log keeps, read by the readers of files.

A feature's name stays its name and a number its number, so that they are the same features; values of 32 bits are
written in full. Importance weights need a member to stand in: `--weight NAME`.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.service.reading import Refused
from ouzel.streams.block import ROWS, Block
from ouzel.streams.formats.arrow_ipc import batches_in
from ouzel.streams.formats.catalogue import FORMATS, Format
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.limits import Limits
from ouzel.streams.options import Options
from ouzel.streams.sources.error_context import one_line
from ouzel.streams.tables.arrow_types import flat

if TYPE_CHECKING:
    import pyarrow

JSON_LINES = FORMATS["jsonl"]
READ = tuple(format for format in FORMATS.values() if format.media_types)
"""Formats of bodies that are learnt."""


def as_json(lines: Sequence[bytes], format: Format, options: Options, label: str) -> list[bytes | Refused]:
    """Each line of a text format as a line of JSON, or why it is not one."""
    found: list[bytes | Refused] = []
    plain = Options(bits=options.bits, seed=options.seed, limits=options.limits)
    parse = format.module.parser(plain, NameEmitter(options.bits)).parse
    while len(found) < len(lines):
        rest = [line.replace(b"\r", b"") for line in lines[len(found) :]]
        data = np.frombuffer(bytearray(b"\n").join([*rest, b""]), np.uint8)  # writable, as files are: no other kernels
        parsed = parse(data, 0, len(data), plain)
        if parsed.block.rows:
            found += _lines_of(parsed.block, label, options.weight)
        if parsed.problem is not None:
            problem = parsed.problem
            found.append(Refused(f"found {problem.found}; {problem.expected}", None, problem.column))
        elif len(found) < len(lines):  # what the format takes for no example: a comment, say
            found.append(Refused("found no example in the line"))
    return found


def rows_of_stream(file: io.BufferedReader, limits: Limits) -> Iterator[pyarrow.RecordBatch]:
    """The rows of a stream of Arrow as sound record batches of at most ROWS, objects parted into columns."""
    with one_line("the stream"):
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
        found: dict[str, Any] = {names.get(feature, str(feature)): value for feature, value in features}
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
