"""Chunks of whole lines of a source, and parts of a file as sources: a range of its bytes, or of its row groups."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ouzel.errors import DataError
from ouzel.streams.limits import Limits
from ouzel.streams.sources.source import UNPACK_BUFFER, Source, open_unbuffered

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1 << 21  # bytes that one thread parses at a time
PADDING = 128  # bytes after the text of a chunk: parsers read many bytes at once
RANGE_BUFFER = 1 << 18  # bytes read at a time of a range

Chunk = tuple[np.ndarray, int, int]  # (bytes) uint8, start, stop


def chunks_of(source: Source, limits: Limits | None = None) -> Iterator[Chunk]:
    """Yield chunks of whole lines of a source, those of a pipe as they arrive; the last line may lack its newline.

    Every chunk has its own buffer, so that one is filled while others are parsed; memory does not depend on the size of
    the file. Raises DataError for a line longer than the limit, or a damaged archive, after the lines before it.
    """
    limits = limits or Limits()
    rest = np.empty(0, np.uint8)  # start of a line that is not complete
    while True:
        buffer = np.empty(len(rest) + max(CHUNK, min(len(rest), limits.line)) + PADDING, np.uint8)
        buffer[: len(rest)] = rest
        more, error = _fill(source, buffer[len(rest) : -PADDING].data)
        filled = len(rest) + more
        cut = _after_last_newline(buffer, len(rest), filled)
        if cut:
            yield buffer, 0, cut
        if error is not None:
            raise source.broken(error) from None
        if not more:
            break
        rest = buffer[cut:filled].copy()
        if len(rest) > limits.line:
            raise limits.exceeded(source.name, "line", f"has a line of {len(rest):,} bytes or more")
    if len(rest):
        yield rest, 0, len(rest)


def _fill(source: Source, buffer: memoryview) -> tuple[int, Exception | None]:
    """Fill a buffer, or read what a pipe has ready; return the number of bytes, and the error that ended reading.

    For a pipe, `readinto1` would wait for more after the bytes that were peeked at. `readinto` loses the bytes before
    an error, and so does `readinto1` if it is to read more than its buffer: an archive is read one buffer at a time.
    """
    file = source.open()
    filled = 0
    most = UNPACK_BUFFER if source.compressed else len(buffer)
    try:
        if source.size is None:
            data = file.read1(len(buffer))
            buffer[: len(data)] = data
            return len(data), None
        while filled < len(buffer) and (count := file.readinto1(buffer[filled : filled + most])):
            filled += count
    except OSError as error:
        return filled, error
    return filled, None


def _after_last_newline(buffer: np.ndarray, start: int, stop: int) -> int:
    """Return the position after the last newline of `buffer[start:stop]`, 0 if there is none."""
    width = 1 << 12
    for end in range(stop, start, -width):
        found = np.flatnonzero(buffer[max(start, end - width) : end] == 10)
        if len(found):
            return max(start, end - width) + int(found[-1]) + 1
    return 0


class Range(io.RawIOBase):
    """Raw stream of the first `head` bytes of a file, then those from `start` to `stop`."""

    def __init__(self, path: Path, head: int, start: int, stop: int) -> None:
        self._file = open_unbuffered(path)
        self._spans = [span for span in ((0, head), (start, stop)) if span[0] < span[1]]
        self._at = self._spans[0][0] if self._spans else 0
        self._read = 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._read

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: WriteableBuffer) -> int:
        while self._spans and self._at >= self._spans[0][1]:
            self._spans.pop(0)
            self._at = self._spans[0][0] if self._spans else 0
        if not self._spans:
            return 0
        self._file.seek(self._at)
        view = memoryview(buffer)[: self._spans[0][1] - self._at]
        count = self._file.readinto(view) or 0
        self._at += count
        self._read += count
        return count


class RangeSource(Source):
    """Source of whole lines of an uncompressed file: its first `head` bytes, then bytes `start` to `stop`."""

    def __init__(self, path: str, head: int, start: int, stop: int) -> None:
        super().__init__(path)
        self._range = head, start, stop
        self.name = f"{path} (bytes {start:,} to {stop:,})"
        self.size = head + stop - start

    def _start(self) -> io.BufferedReader:
        if self._packed is None:
            assert self.path is not None
            try:
                self._packed = io.BufferedReader(Range(self.path, *self._range), RANGE_BUFFER)
            except OSError as error:
                raise DataError.at(self.name, f"cannot be read ({error.strerror})") from None
        return self._packed


class RowGroupSource(Source):
    """Source of row groups `first` to `last` - 1 of a Parquet file."""

    def __init__(self, path: str, first: int, last: int) -> None:
        super().__init__(path)
        self.groups = range(first, last)
        self.name = f"{path} (row groups {first:,} to {last - 1:,})"
