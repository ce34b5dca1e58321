"""Rows of Arrow as the log keeps them: as they came, and lines of JSON for whoever reads them."""

from __future__ import annotations

import msgspec
import pyarrow

from ouzel.streams.formats.to_json_lines import lines_of_batch

MARK = b"\xff"  # by which they begin, and no text does
SIZE = 4  # bytes behind it: how many rows there are
ENCODE = msgspec.json.Encoder(enc_hook=str).encode


def packed(batch: pyarrow.RecordBatch) -> bytes:
    """A record batch as bytes: the mark, the number of its rows, a stream of Arrow.

    >>> kept = packed(pyarrow.record_batch({"label": [1, 0], "x": [0.5, 2.0]}))
    >>> rows_in(kept), lines_in(kept)
    (2, [b'{"label":1,"x":0.5}', b'{"label":0,"x":2}'])
    """
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return b"".join([MARK, batch.num_rows.to_bytes(SIZE, "little"), sink.getvalue()])


def rows_in(kept: bytes) -> int:
    """How many examples are kept as these bytes: packed rows, or lines."""
    if kept.startswith(MARK):
        return int.from_bytes(kept[len(MARK) : len(MARK) + SIZE], "little")
    return kept.count(b"\n") + 1


def lines_in(kept: bytes) -> list[bytes]:
    """The examples that are kept as these bytes, as lines of JSON without newlines."""
    if not kept.startswith(MARK):
        return kept.split(b"\n")
    with pyarrow.ipc.open_stream(memoryview(kept)[len(MARK) + SIZE :]) as reader:
        return rows_as_json(reader.read_next_batch())


def rows_as_json(batch: pyarrow.RecordBatch) -> list[bytes]:
    """The rows of a record batch as lines of JSON."""
    return lines_of_batch(batch, ENCODE).split(b"\n")[:-1]
