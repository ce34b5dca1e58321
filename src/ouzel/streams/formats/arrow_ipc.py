"""Arrow files and streams, read message by message, so that none unpacks to more bytes than the limit.

A file for random access (Feather) is a stream between two magic words, and read as one. What comes before the data of a
message says how long each of its buffers is (the "flatbuffer" of `Message.fbs` in Arrow's format); a compressed buffer
begins with the number of bytes that it unpacks to.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow
import pyarrow.ipc

from ouzel.streams.limits import Limits
from ouzel.streams.options import Options
from ouzel.streams.sources.source import Source

MAGIC = b"ARROW1"
PADDING = bytes(8)
DICTIONARY, RECORDS = 2, 3  # kinds of messages
HEADER_TYPE, HEADER, BODY_LENGTH = 1, 2, 3  # fields of a message
DATA = 1  # field of a dictionary
BUFFERS, COMPRESSION = 2, 3  # fields of a record batch


def tables(source: Source, options: Options) -> Iterator[pyarrow.Table]:
    """Yield the tables of a file or stream: an empty one, then one for each record batch; none is validated yet."""
    yield from batches_in(source.open(), source.name, options.limits)


def rows_stored(source: Source, limits: Limits) -> int:
    """Return the number of rows in a file or stream; consumes the source."""
    return sum(table.num_rows for table in batches_in(source.open(), source.name, limits))


def writer(file: BinaryIO, schema: pyarrow.Schema, packed: str | None = None) -> pyarrow.ipc.RecordBatchWriter:
    """Return a writer of record batches or tables of a schema to a file."""
    codec = None if packed == "none" else packed
    return pyarrow.ipc.new_file(file, schema, options=pyarrow.ipc.IpcWriteOptions(compression=codec))


def batches_in(file: Any, name: str, limits: Limits) -> Iterator[pyarrow.Table]:
    """Yield the tables of a buffered reader at its beginning, as `tables` does."""
    if file.peek(len(MAGIC))[: len(MAGIC)] == MAGIC:
        file.read(len(PADDING))
        while file.peek(8)[:8] == PADDING:
            file.read(len(PADDING))
    with pyarrow.ipc.open_stream(pyarrow.PythonFile(_Messages(file, name, limits), mode="r")) as reader:
        yield pyarrow.Table.from_batches([], reader.schema)
        for batch in reader:
            if batch.num_rows > limits.batch:  # columns of nothing take no bytes
                raise limits.exceeded(name, "batch", f"has a record batch of {batch.num_rows:,} rows")
            yield pyarrow.Table.from_batches([batch])


class _Messages:
    """A stream for PyArrow's reader, which asks for a message's length, its metadata and its body one by one."""

    closed = False

    def __init__(self, file: Any, name: str, limits: Limits) -> None:
        self.file = file
        self.name = name
        self.limits = limits
        self.body: int | None = None  # bytes of the body that comes next
        self.packed: list[tuple[int, int]] = []  # place and length of its compressed buffers

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        self._check(size)
        data = bytes(self.file.read(size))
        if self.body:
            self._check(sum(_unpacked(data, start, length) for start, length in self.packed))
            self.body = None
        elif size > 4:
            self.body, self.packed = _announced(data)
        return data

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        pass

    def _check(self, size: int) -> None:
        if size > self.limits.batch:
            raise self.limits.exceeded(self.name, "batch", f"has a record batch that unpacks to {size:,} bytes")


def _unpacked(data: bytes, start: int, length: int) -> int:
    """Return the bytes that a compressed buffer unpacks to; -1 in its place marks one stored unpacked."""
    (size,) = struct.unpack_from("<q", data, start)
    return length if size == -1 else max(size, length)


def _announced(data: bytes) -> tuple[int, list[tuple[int, int]]]:
    """Return the length of the body behind the metadata of a message, and the spans of its compressed buffers."""
    message = _table(data, 0)
    place = _field(data, message, BODY_LENGTH)
    body = struct.unpack_from("<q", data, place)[0] if place else 0
    kind, header = (_field(data, message, k) for k in (HEADER_TYPE, HEADER))
    if not (body and kind and header and data[kind] in (DICTIONARY, RECORDS)):
        return body, []
    records = _table(data, header)
    if data[kind] == DICTIONARY:
        records = _table(data, _field(data, records, DATA))
    buffers = _field(data, records, BUFFERS)
    if not (buffers and _field(data, records, COMPRESSION)):
        return body, []
    vector = _table(data, buffers)
    (count,) = struct.unpack_from("<I", data, vector)
    if count * 16 > len(data):
        raise ValueError(f"a message announces {count} buffers")
    places = struct.iter_unpack("<qq", data[vector + 4 : vector + 4 + 16 * count])
    return body, [(start, length) for start, length in places if length > 0]


def _table(data: bytes, place: int) -> int:
    """Return the position that the word at a place points to."""
    return place + int(struct.unpack_from("<I", data, place)[0])


def _field(data: bytes, table: int, number: int) -> int:
    """Return the place of a field of a table, 0 if it is not given."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    (size,) = struct.unpack_from("<H", data, vtable)
    if 4 + 2 * number >= size:
        return 0
    (offset,) = struct.unpack_from("<H", data, vtable + 4 + 2 * number)
    return table + int(offset) if offset else 0
