"""A part of a file as a source of its own: a range of its bytes behind its header, or some of its row groups."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from ouzel.errors import DataError
from ouzel.streams.sources.places import unbuffered
from ouzel.streams.sources.source import Source

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
