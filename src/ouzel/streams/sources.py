"""Where bytes come from: a file, a pipe, or standard input; compression is found by content."""

from __future__ import annotations

import bz2
import codecs
import io
import lzma
import os
import select
import sys
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO, cast

import zstandard

from ouzel.errors import DataError

UNPACKERS: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lzma.LZMADecompressor,
    b"\x28\xb5\x2f\xfd": lambda: zstandard.ZstdDecompressor().decompressobj(),
}
"""What unpacks an archive, by the bytes that gzip, bzip2, xz and zstd files begin with."""
UNPACKERS |= {bytes([k]) + b"\x2a\x4d\x18": UNPACKERS[b"\x28\xb5\x2f\xfd"] for k in range(0x50, 0x60)}
"""A zstd file may begin with a frame to be skipped, as those of pzstd do."""

BROKEN = (EOFError, lzma.LZMAError, zlib.error, zstandard.ZstdError)
SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
PIECE = 1 << 13  # bytes unpacked at a time: small, as each may become a thousand


class Arriving(io.RawIOBase):
    """Bytes of a pipe as they arrive: a read returns all that is there, and waits only when nothing is."""

    def __init__(self, path: Path | None) -> None:
        if path is None and sys.stdin is None:
            raise DataError("standard input: is closed; name a file, or pipe the data in")
        self.file = io.FileIO(sys.stdin.fileno() if path is None else str(path), closefd=path is not None)
        self.descriptor = self.file.fileno()

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        filled = 0
        while filled < len(view) and (filled == 0 or self._waiting()):
            data = os.read(self.descriptor, len(view) - filled)
            if not data:
                break
            view[filled : filled + len(data)] = data
            filled += len(data)
        return filled

    def _waiting(self) -> bool:
        """Whether more has arrived already."""
        return bool(select.select([self.descriptor], [], [], 0)[0])


class Unpacking(io.RawIOBase):
    """The content of an archive: its members one after the other, unpacked as their bytes arrive."""

    def __init__(self, packed: io.BufferedReader, unpacker: Callable[[], Any]) -> None:
        self.packed = packed
        self.unpacker = unpacker
        self.member: Any = None  # None between members
        self.unpacked = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.unpacked:
            piece = self.packed.read1(PIECE)
            if not piece:
                if self.member is not None:
                    raise EOFError("it ends early")
                return 0
            self.unpacked = memoryview(self._unpack(piece))
        count = min(len(buffer), len(self.unpacked))
        buffer[:count] = self.unpacked[:count]
        self.unpacked = self.unpacked[count:]
        return count

    def _unpack(self, piece: bytes) -> bytes:
        found = []
        while piece:
            if self.member is None:
                piece = piece.lstrip(b"\0")  # members may be padded
                if not piece:
                    break
                self.member = self.unpacker()
            found.append(self.member.decompress(piece))
            if not self.member.eof:
                break
            piece = self.member.unused_data
            self.member = None
        return b"".join(found)


class Source:
    """One file, or standard input for "-"."""

    def __init__(self, path: str | Path) -> None:
        self.path = None if str(path) == "-" else Path(path)
        self.name = "standard input" if self.path is None else str(path)
        self.size: int | None = None  # None where bytes arrive: their number is not known, and they come once
        if self.path is not None:
            if not self.path.exists():
                raise DataError(f"{self.name}: there is no such file")
            if self.path.is_dir():
                raise DataError(f"{self.name}: is a folder; name the files in it")
            if self.path.is_file():
                self.size = self.path.stat().st_size
        self._packed: io.BufferedReader | None = None
        self._file: BinaryIO | None = None
        self._unpacker: Callable[[], Any] | None = None

    @property
    def plain_name(self) -> str:
        """The file's name without folders, and without what compression added: for telling the format."""
        name = Path(self.name).name
        return name[: -len(Path(name).suffix)] if Path(name).suffix.lower() in SUFFIXES else name

    @property
    def position(self) -> int:
        """Bytes of the file read so far, packed as they are."""
        if self._packed is None or self.size is None:
            return 0
        return self.size if self._packed.closed else self._packed.tell()

    @property
    def compressed(self) -> bool:
        """Whether the content is an archive; opens the source."""
        self._start()
        return self._unpacker is not None

    def open(self) -> BinaryIO:
        """The decompressed bytes, a buffered reader, without the mark of UTF-8; `read1` gives what has arrived."""
        if self._file is None:
            packed = self._start()
            file = packed if self._unpacker is None else io.BufferedReader(Unpacking(packed, self._unpacker), 1 << 17)
            try:
                mark = file.peek(4)[:4]
                if mark.startswith(codecs.BOM_UTF8):
                    file.read(len(codecs.BOM_UTF8))
            except (*BROKEN, OSError) as error:
                raise self.broken(error) from None
            if mark.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise DataError(f"{self.name}: holds UTF-16 text; save it as UTF-8")
            self._file = cast(BinaryIO, file)
        return self._file

    def peek(self, size: int = 4096) -> bytes:
        """The first decompressed bytes, without consuming a file; of a pipe, what has arrived."""
        try:
            if self.path is None or self.size is None:
                return cast(io.BufferedReader, self.open()).peek(size)[:size]
            with closing(Source(self.path)) as another:
                return another.open().read(size)
        except (*BROKEN, OSError) as error:
            raise self.broken(error) from None

    def broken(self, error: Exception) -> DataError:
        """What to say of an archive that does not unpack, or of a disk that does not read."""
        reason = " ".join(str(error).split())
        if self._unpacker is None:
            return DataError(f"{self.name}: cannot be read ({reason})")
        return DataError(f"{self.name}: the compressed file is damaged ({reason}); unpack or copy it again")

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._packed is not None and self.path is not None:
            self._packed.close()

    def _start(self) -> io.BufferedReader:
        """The bytes as they are stored; notes which archive it is."""
        if self._packed is None:
            try:
                raw: io.RawIOBase
                if self.path is None or self.size is None:
                    raw = Arriving(self.path)
                else:
                    raw = self.path.open("rb", buffering=0)
                self._packed = io.BufferedReader(raw, 1 << 18)
                head = self._packed.peek(8)
            except OSError as error:
                raise DataError(f"{self.name}: cannot be read ({error.strerror})") from None
            self._unpacker = next((unpacker for magic, unpacker in UNPACKERS.items() if head.startswith(magic)), None)
        return self._packed
