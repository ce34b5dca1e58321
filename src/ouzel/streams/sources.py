"""Where bytes come from: a file, several, or standard input; compression is found by content."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO, cast

import zstandard

from ouzel.errors import DataError

MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
BROKEN = (EOFError, lzma.LZMAError, zlib.error, zstandard.ZstdError, gzip.BadGzipFile)
SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


class Arriving(io.RawIOBase):
    """Bytes of a descriptor as they arrive: a read returns what is there, and waits only when nothing is."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        data = os.read(self.descriptor, len(buffer))
        buffer[: len(data)] = data
        return len(data)


class Source:
    """One file, or standard input for "-"."""

    def __init__(self, path: str | Path) -> None:
        self.path = None if str(path) == "-" else Path(path)
        self.name = "standard input" if self.path is None else str(path)
        self.size: int | None = None
        if self.path is not None:
            if not self.path.exists():
                raise DataError(f"{self.name}: there is no such file")
            if self.path.is_dir():
                raise DataError(f"{self.name}: is a folder; name the files in it")
            if self.path.is_file():
                self.size = self.path.stat().st_size
        self._raw: BinaryIO | None = None
        self._file: BinaryIO | None = None
        self._compression = ""

    @property
    def plain_name(self) -> str:
        """The name without what compression added, for telling the format."""
        return self.name.removesuffix(Path(self.name).suffix) if Path(self.name).suffix in SUFFIXES else self.name

    @property
    def position(self) -> int:
        """Bytes of the file read so far."""
        return 0 if self._raw is None or self.path is None or self._raw.closed else self._raw.tell()

    @property
    def compressed(self) -> bool:
        """Whether the content is an archive; opens the source."""
        self._start()
        return bool(self._compression)

    def open(self) -> BinaryIO:
        """The decompressed bytes; `read1` returns what has arrived."""
        if self._file is None:
            self._file = self._unpack()
        return self._file

    def _unpack(self) -> BinaryIO:
        self._start()
        raw = cast(BinaryIO, self._raw)
        match self._compression:
            case "gzip":
                return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
            case "bzip2":
                return cast(BinaryIO, bz2.BZ2File(raw))
            case "xz":
                return cast(BinaryIO, lzma.LZMAFile(raw))
            case "zstd":
                reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
                return cast(BinaryIO, io.BufferedReader(reader, 1 << 20))
        return raw

    def peek(self, size: int = 4096) -> bytes:
        """The first decompressed bytes, without consuming a file; standard input shows what has arrived."""
        try:
            if self.path is None or self.size is None:
                return cast(io.BufferedReader, self.open()).peek(size)[:size]
            with closing(Source(self.path)) as another:
                return another.open().read(size)
        except (*BROKEN, OSError) as error:
            raise self.broken(error) from None

    def broken(self, error: Exception) -> DataError:
        """What to say of an archive that does not unpack."""
        reason = "ends early" if isinstance(error, EOFError) else str(error)
        return DataError(f"{self.name}: the compressed file is damaged ({reason}); unpack or copy it again")

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._raw is not None and self.path is not None:
            self._raw.close()

    def _start(self) -> None:
        if self._raw is not None:
            return
        if self.path is None:
            buffered: Any = io.BufferedReader(Arriving(sys.stdin.fileno()), 1 << 20)
        else:
            try:
                buffered = self.path.open("rb", buffering=1 << 18)
            except OSError as error:
                raise DataError(f"{self.name}: cannot be read ({error.strerror})") from None
        self._raw = cast(BinaryIO, buffered)
        head = buffered.peek(8)
        self._compression = next((name for magic, name in MAGIC.items() if head.startswith(magic)), "")
