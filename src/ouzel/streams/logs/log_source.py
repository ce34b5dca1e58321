"""A log as a source of lines, for readers of files, which store no position."""

from __future__ import annotations

import io
from collections.abc import Generator
from typing import TYPE_CHECKING

from ouzel.errors import DataError
from ouzel.streams.formats.catalogue import find
from ouzel.streams.logs.opening import open_log
from ouzel.streams.logs.protocol import Batch, Position
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources.addresses import name_of
from ouzel.streams.sources.source import Source

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class LogSource(Source):
    """Source of the messages that a log holds now, one line each."""

    def __init__(self, address: str) -> None:
        super().__init__("-")
        self.name, self._address = name_of(address), address

    def close(self) -> None:
        """Disconnect."""
        if self._packed is not None:
            self._packed.close()

    def _raw(self) -> io.RawIOBase:
        return LogBytes(self._address)


class LogBytes(io.RawIOBase):
    """Raw stream of the messages that a log holds now, one line each."""

    def __init__(self, url: str) -> None:
        self._lines = _lines(url)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._lines.close()
        super().close()

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        while not self._rest:
            text = next(self._lines, None)
            if text is None:
                return 0
            self._rest = memoryview(text)
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def _lines(url: str) -> Generator[bytes, None, None]:
    """Yield the lines of a batch of messages at a time."""
    log = open_log(url, Reading())
    try:
        for batch in log.read(Position(), follow=False):
            if isinstance(batch, Batch):
                if any(value.startswith(find("arrow").magic) for value in batch.values if value):
                    raise DataError.at(log.name, "holds messages of Arrow, and is read by lines here; send JSON")
                yield b"".join(value.rstrip(b"\r\n") + b"\n" for value in batch.values if value)
    finally:
        log.close()
