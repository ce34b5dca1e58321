"""Examples of other formats as the lines of JSON that the log keeps, read by the readers of files.

A feature's name stays its name and a number its number, so that they are the same features; values of 32 bits are
written in full. Importance weights need a member to stand in: `--weight NAME`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import msgspec
import numpy as np

from ouzel.service.reading import Refused
from ouzel.streams.block import Block
from ouzel.streams.guard import reading
from ouzel.streams.options import Options
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.batch_lines import lines_of_batch
from ouzel.streams.tables.batches import record_batches
from ouzel.streams.text.svmlight import parse_svmlight
from ouzel.streams.text.vw import parse_vw

SVMLIGHT, VW, ARROW = "text/x-svmlight", "text/x-vw", "application/vnd.apache.arrow.stream"
OF_LINES = (SVMLIGHT, VW)
AT_ONCE = 512  # rows of Arrow: while some are learnt, the next are made lines
ENCODE = msgspec.json.Encoder(enc_hook=str).encode


def as_json(lines: Sequence[bytes], kind: str, options: Options, label: str) -> list[bytes | Refused]:
    """Each line of a text format as a line of JSON, or why it is not one."""
    found: list[bytes | Refused] = []
    parse = parse_svmlight if kind == SVMLIGHT else parse_vw
    plain = Options(bits=options.bits, seed=options.seed, limits=options.limits)
    while len(found) < len(lines):
        rest = [line.replace(b"\r", b"") for line in lines[len(found) :]]
        data = np.frombuffer(bytearray(b"\n").join([*rest, b""]), np.uint8)  # writable, as files are: no other kernels
        parsed = parse(data, 0, len(data), plain)
        if parsed.block.rows:
            found += _lines_of(parsed.block, label, options.weight)
        if parsed.problem is not None:
            problem = parsed.problem
            found.append(Refused(f"found {problem.found}; {problem.advice}", None, problem.column))
        elif len(found) < len(lines):  # what the format takes for no example: a comment, say
            found.append(Refused("found no example in the line"))
    return found


def arrow_as_json(body: bytes, options: Options) -> Iterator[bytes]:
    """The rows of a stream of Arrow record batches as lines of JSON, some at a time."""
    with NamedTemporaryFile(suffix=".arrows") as file:
        file.write(body)
        file.flush()
        source = Source(Path(file.name))
        source.name = "the stream"
        with reading(source, "arrow"):
            for batch in record_batches(source, options, "arrow", lambda count: None):
                for start in range(0, batch.num_rows, AT_ONCE):
                    yield lines_of_batch(batch.slice(start, AT_ONCE), ENCODE)


def rows_as_json(batch: Any) -> list[bytes]:
    """The rows of a record batch as lines of JSON."""
    return lines_of_batch(batch, ENCODE).split(b"\n")[:-1]


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
