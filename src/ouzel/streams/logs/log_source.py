"""A log as the bytes of a file of lines: for what reads lines, and notes no position."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from ouzel.errors import DataError
from ouzel.streams.formats.catalogue import find
from ouzel.streams.logs.opening import open_log
from ouzel.streams.logs.protocol import Batch, Position
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources.addresses import name_of
from ouzel.streams.sources.source import Source


class LogSource(Source):
    """The messages of a log as it stands, a line each."""

    def __init__(self, address: str) -> None:
        super().__init__("-")
        self.name, self._address = name_of(address), address

    def close(self) -> None:
        """Leave the server."""
        if self._packed is not None:
            self._packed.close()

    def _raw(self) -> io.RawIOBase:
        return LogBytes(self._address)


class LogBytes(io.RawIOBase):
    """The messages of a log as it stands, a line each."""

    def __init__(self, url: str) -> None:
        self._lines = _lines(url)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._lines.close()  # type: ignore[attr-defined]
        super().close()

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            text = next(self._lines, None)
            if text is None:
                return 0
            self._rest = memoryview(text)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def _lines(url: str) -> Iterator[bytes]:
    """The messages, some at a time."""
    log = open_log(url, Reading())
    try:
        for batch in log.read(Position(), follow=False):
            if isinstance(batch, Batch):
                if any(value.startswith(find("arrow").magic) for value in batch.values if value):
                    raise DataError.at(log.name, "holds messages of Arrow, and is read by lines here; send JSON")
                yield b"".join(value.rstrip(b"\r\n") + b"\n" for value in batch.values if value)
    finally:
        log.close()
