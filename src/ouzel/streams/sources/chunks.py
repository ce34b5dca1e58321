"""A part of a file as a source of its own: a range of its bytes behind its header, or some of its row groups."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ouzel.errors import DataError
from ouzel.streams.limits import Limits
from ouzel.streams.sources.source import UNPACKED, Source, unbuffered

CHUNK = 1 << 21  # bytes: what one thread parses at a time
BEHIND = 128  # bytes behind the text of a chunk that are there: parsers look at many together

Chunk = tuple[np.ndarray, int, int]  # (bytes) uint8, start, stop


def chunks_of(source: Source, limits: Limits | None = None) -> Iterator[Chunk]:
    """Whole lines of a source; the last may lack its newline. What a pipe has brought is given out at once.

    Every chunk has a buffer of its own, so that one is filled while others are parsed, and memory stays the same
    however long the file is. Raises DataError at a line beyond the limit, or where an archive is damaged, after the
    lines before it.
    """
    limits = limits or Limits()
    rest = np.empty(0, np.uint8)  # the beginning of a line whose end is still to come
    while True:
        buffer = np.empty(len(rest) + max(CHUNK, min(len(rest), limits.line)) + BEHIND, np.uint8)
        buffer[: len(rest)] = rest
        more, error = _fill(source, buffer[len(rest) : -BEHIND].data)
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
    """Read into a buffer, of a pipe what is there; how much came, and the error that ended it.

    Of a pipe `readinto1` would wait for more after what has been peeked at. `readinto` would lose what came before an
    error, and so does `readinto1` if asked for more than it holds: of an archive only so much is asked for.
    """
    file: Any = source.open()
    filled = 0
    most = UNPACKED if source.compressed else len(buffer)
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
    """The position behind the last newline of `buffer[start:stop]`, 0 if there is none."""
    width = 1 << 12
    for end in range(stop, start, -width):
        found = np.flatnonzero(buffer[max(start, end - width) : end] == 10)
        if len(found):
            return max(start, end - width) + int(found[-1]) + 1
    return 0


READ_AHEAD = 1 << 18


class Range(io.RawIOBase):
    """The first `head` bytes of a file, and those from `start` to `stop`."""

    def __init__(self, path: Path, head: int, start: int, stop: int) -> None:
        self._file = unbuffered(path)
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

    def readinto(self, buffer: Any) -> int:
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
    """Whole lines of a file that is not packed: bytes `start` to `stop`, with its first `head` bytes before them."""

    def __init__(self, path: str, head: int, start: int, stop: int) -> None:
        super().__init__(path)
        self._range = head, start, stop
        self.name = f"{path} (bytes {start:,} to {stop:,})"
        self.size = head + stop - start

    def _start(self) -> io.BufferedReader:
        if self._packed is None:
            assert self.path is not None
            try:
                self._packed = io.BufferedReader(Range(self.path, *self._range), READ_AHEAD)
            except OSError as error:
                raise DataError.at(self.name, f"cannot be read ({error.strerror})") from None
        return self._packed


class RowGroupSource(Source):
    """Row groups `first` to `last` of a Parquet file, the last left out."""

    def __init__(self, path: str, first: int, last: int) -> None:
        super().__init__(path)
        self.groups = range(first, last)
        self.name = f"{path} (row groups {first:,} to {last - 1:,})"
