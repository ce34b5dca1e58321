"""Records of examples, as the log of a service has them: lines of JSON, packed rows, or an Arrow record batch.

The first byte of a record says what it is: one of the marks, which no UTF-8 text has, or the beginning of a line. In a
file each record follows its length and its checksum, and an empty one is the end.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from struct import Struct
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec
import numpy as np
import pyarrow

from ouzel.errors import DataError
from ouzel.streams.feature_names import ID
from ouzel.streams.formats.catalogue import find
from ouzel.streams.formats.packed_rows import count_rows, hash_of, pack_rows, take_rows, unpack_rows
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.limits import Limits
from ouzel.streams.options import Options
from ouzel.streams.sources.error_context import reason_of

if TYPE_CHECKING:
    from ouzel.streams.block import Block
    from ouzel.streams.formats.arrow_numbers import NumberColumns
    from ouzel.streams.formats.json_lines import JsonLines
    from ouzel.streams.sources.source import Source
    from ouzel.streams.tables.schema import ColumnKinds

ARROW, ROWS = b"\xff", b"\xfe"  # marks of a record batch, and of packed rows
SIZE = 4  # bytes after the mark of a record batch, with the number of its rows
FRAME = Struct("<II")  # length and checksum of the record that follows
END = FRAME.pack(0, 0)
TOGETHER = 1 << 19  # bytes of successive lines that are parsed together
MAGIC = find("records").magic[0]
ENCODE = msgspec.json.Encoder().encode
Skipped = Callable[[int], None]


def record_of_rows(block: Block, options: Options) -> bytes:
    """Return a canonical block, read with these options, as a record."""
    return ROWS + pack_rows(block, options.seed, options.bits)


def record_of_batch(batch: pyarrow.RecordBatch) -> bytes:
    """Return an Arrow record batch as a record: the mark, the number of rows, and an Arrow IPC stream.

    >>> record = record_of_batch(pyarrow.record_batch({"label": [1, 0], "x": [0.5, 2.0]}))
    >>> count_in(record), examples_in(record)
    (2, [b'{"label":1,"x":0.5}', b'{"label":0,"x":2}'])
    """
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return b"".join([ARROW, batch.num_rows.to_bytes(SIZE, "little"), sink.getvalue()])


def batch_of(record: bytes) -> pyarrow.RecordBatch:
    """Return the record batch of a record that was written here, and so needs no checks."""
    with pyarrow.ipc.open_stream(memoryview(record)[len(ARROW) + SIZE :]) as reader:
        return reader.read_next_batch()


def rows_of(record: bytes) -> Block:
    """Return the block of a record of packed rows."""
    return unpack_rows(memoryview(record)[len(ROWS) :])


def is_rows(record: bytes) -> bool:
    """Return whether a record has packed rows."""
    return record.startswith(ROWS)


def is_batch(record: bytes) -> bool:
    """Return whether a record has an Arrow record batch."""
    return record.startswith(ARROW)


def count_in(record: bytes) -> int:
    """Return the number of examples in a record."""
    if is_batch(record):
        return int.from_bytes(record[len(ARROW) : len(ARROW) + SIZE], "little")
    if is_rows(record):
        return count_rows(memoryview(record)[len(ROWS) :])
    return record.count(b"\n") + 1


def examples_in(record: bytes) -> list[bytes]:
    """Return a record for each example of a record: a line of JSON, or a packed row."""
    if is_batch(record):
        return rows_as_json(batch_of(record))
    if not is_rows(record):
        return record.split(b"\n")
    block = rows_of(record)
    if block.rows == 1:
        return [record]
    hashed = hash_of(memoryview(record)[len(ROWS) :])
    return [ROWS + pack_rows(take_rows(block, [row]), *hashed) for row in range(block.rows)]


def part_of(record: bytes, start: int = 0, stop: int | None = None) -> bytes:
    """Return the examples of a record from `start` to before `stop`, by default to its last."""
    if not start and stop is None:
        return record
    if is_batch(record):
        batch = batch_of(record)
        return record_of_batch(batch.slice(start, (batch.num_rows if stop is None else stop) - start))
    if not is_rows(record):
        return b"\n".join(record.split(b"\n")[start:stop])
    block = rows_of(record)
    kept = range(block.rows)[start:stop]
    return ROWS + pack_rows(take_rows(block, kept), *hash_of(memoryview(record)[len(ROWS) :]))


def rows_as_json(batch: pyarrow.RecordBatch, name: str = "the stream", categories: Collection[str] = ()) -> list[bytes]:
    """Return the rows of a record batch as lines of JSON, which have the features of a file with these rows.

    Words of `categories` are never dates.
    """
    from ouzel.streams.formats.to_json_lines import lines_of_batch

    return lines_of_batch(batch, ENCODE, name, categories).split(b"\n")[:-1]


def framed(records: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the parts of a file of records."""
    yield MAGIC
    for record in records:
        yield FRAME.pack(len(record), crc32(record)) + record
    yield END


def records_in(file: io.BufferedIOBase, name: str, limits: Limits) -> Iterator[bytes]:
    """Yield the records of a file; DataError at one that is damaged, or if the file ends before its end."""
    if file.read(len(MAGIC)) != MAGIC:
        raise DataError.at(name, "does not begin as a file of records does")
    examples = 0
    while True:
        head = file.read(FRAME.size)
        if head == END:
            break
        length, checksum = FRAME.unpack(head) if len(head) == FRAME.size else (0, 0)
        if length > limits.batch:
            raise limits.exceeded(name, "batch", f"has a record of {length:,} bytes")
        record = file.read(length)
        if len(head) < FRAME.size or len(record) < length:
            raise DataError.at(name, f"ends within a record, behind {examples:,} examples; fetch it again")
        if not record or crc32(record) != checksum:
            raise DataError.at(name, f"the record behind {examples:,} examples is damaged; fetch it again")
        with _sound(name):
            examples += count_in(record)
        yield record
    if file.read(1):
        raise DataError.at(name, f"goes on behind its end, {examples:,} examples; fetch it again")


@contextmanager
def _sound(name: str) -> Iterator[None]:
    """Raise errors in here as damage of the file of this name."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # struct.error, and what PyArrow raises
        raise DataError.at(name, f"has a record that is not sound ({reason_of(error)})") from None


def read_records(
    source: Source, options: Options, skipped: Skipped, kinds: ColumnKinds, emitter: NameEmitter | None = None
) -> Iterator[Block]:
    """Yield the blocks of a file of records; `kinds` decides what members of JSON objects hold."""
    reader = RecordReader(options, skipped, kinds, source.name, emitter)
    for record in _gathered(records_in(source.open(), source.name, options.limits)):
        for block in reader.blocks(record):
            yield block._replace(numbers=None)


def _gathered(records: Iterable[bytes]) -> Iterator[bytes]:
    """Yield records, those of successive lines as one, up to some bytes of them."""
    lines: list[bytes] = []
    size = 0
    for record in records:
        if is_rows(record) or is_batch(record) or size > TOGETHER:
            if lines:
                yield b"\n".join(lines)
            lines, size = [], 0
        if is_rows(record) or is_batch(record):
            yield record
        else:
            lines.append(record)
            size += len(record)
    if lines:
        yield b"\n".join(lines)


class RecordReader:
    """Reads the records of one stream as blocks."""

    def __init__(
        self, options: Options, skipped: Skipped, kinds: ColumnKinds, name: str, emitter: NameEmitter | None = None
    ) -> None:
        from ouzel.streams.formats.json_lines import JsonLines

        self.options, self.name = options, name
        self._lines: JsonLines = JsonLines(options, skipped, kinds, name, emitter)
        self._begun = False
        self._columns: NumberColumns | None = None

    def blocks(self, record: bytes) -> Iterator[Block]:
        """Yield the blocks of a record."""
        if is_rows(record):
            yield self._unpacked(record)
        elif is_batch(record):
            yield from self._arrow(record)
        else:
            yield from self._json(record + b"\n")

    def _unpacked(self, record: bytes) -> Block:
        packed = memoryview(record)[len(ROWS) :]
        seed, bits = hash_of(packed)
        if (seed, bits) != (self.options.seed, self.options.bits):
            raise DataError.at(self.name, "its names were hashed in another way; give", bits=bits, seed=seed)
        with _sound(self.name):
            return unpack_rows(packed)

    def _arrow(self, record: bytes) -> Iterator[Block]:
        from ouzel.streams.formats.arrow_ipc import batches_in
        from ouzel.streams.formats.arrow_numbers import NumberColumns

        if self._columns is None:
            self._columns = NumberColumns(self.options, self.options.label or "label", ID)
        with _sound(self.name):
            file = io.BufferedReader(io.BytesIO(record[len(ARROW) + SIZE :]))
            tables = list(batches_in(file, self.name, self.options.limits))
            for table in tables:
                table.validate(full=True)  # kernels trust offsets
        for batch in [batch for table in tables for batch in table.to_batches() if batch.num_rows]:
            block = self._columns.block(batch)
            if block is None:
                yield from self._json(b"\n".join([*rows_as_json(batch), b""]))
            else:
                yield block

    def _json(self, text: bytes) -> Iterator[Block]:
        from ouzel.streams.kernels.lines import lines_at

        data = np.frombuffer(bytearray(text), np.uint8)  # writable, like the data of files
        if not self._begun:
            self._begun = True
            self._lines.infer(lines_at(data, 0, len(data), self.options.sample)[0], self.name)
        yield from self._lines.blocks(data, 0, len(data))
