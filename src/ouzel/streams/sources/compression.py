"""Archives as bytes: gzip, bzip2, xz and zstd, told by content and unpacked a bounded piece at a time."""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from collections.abc import Callable
from typing import Any

import zstandard

MOST = 1 << 20  # bytes unpacked at a time
MOST_WINDOW = 1 << 30  # bytes that an xz archive may ask for to be unpacked in
PIECE = 1 << 13  # bytes of an archive taken at a time


class DamagedError(OSError):
    """An archive that does not unpack, or not to its end."""


class _Zstd:
    """A frame of a zstd archive, with the methods of Python's own decompressors."""

    STEP = 1 << 10  # bytes taken at a time: a block of four bytes may become 128 KB

    def __init__(self) -> None:
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self.unconsumed_tail = b""

    @property
    def eof(self) -> bool:
        return bool(self._frame.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._frame.unused_data) + self.unconsumed_tail

    def decompress(self, data: bytes, most: int) -> bytes:
        """What the first bytes of `data` unpack to; the others are the `unconsumed_tail`."""
        self.unconsumed_tail = data[self.STEP :]
        return bytes(self._frame.decompress(data[: self.STEP]))


UNPACKERS: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lambda: lzma.LZMADecompressor(memlimit=MOST_WINDOW),
    b"\x28\xb5\x2f\xfd": _Zstd,
}
"""What unpacks an archive, by the bytes that gzip, bzip2, xz and zstd files begin with."""
UNPACKERS |= {bytes([k]) + b"\x2a\x4d\x18": _Zstd for k in range(0x50, 0x60)}
"""A zstd file may begin with a frame to be skipped, as those of pzstd do."""


def find_unpacker(head: bytes) -> Callable[[], Any] | None:
    """What unpacks an archive that begins so; None if this is none."""
    return next((unpacker for magic, unpacker in UNPACKERS.items() if head.startswith(magic)), None)


class Unpacking(io.RawIOBase):
    """The content of an archive: its members one after the other, unpacked as their bytes arrive.

    Where it is damaged, `DamagedError` follows what could be unpacked before.
    """

    def __init__(self, packed: io.BufferedReader, unpacker: Callable[[], Any]) -> None:
        self.packed = packed
        self.unpacker = unpacker
        self.member: Any = None  # None between members
        self.piece = b""  # packed bytes that are still to be taken
        self.unpacked = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.unpacked:
            try:
                self.unpacked = memoryview(self._unpack())
            except (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error, zstandard.ZstdError) as error:
                raise DamagedError(" ".join(str(error).split())) from error
            if self.unpacked or self.piece:
                continue
            self.piece = self.packed.read1(PIECE)
            if not self.piece:
                if self.member is not None:
                    raise DamagedError("it ends early")
                return 0
        count = min(len(buffer), len(self.unpacked))
        buffer[:count] = self.unpacked[:count]
        self.unpacked = self.unpacked[count:]
        return count

    def _unpack(self) -> bytes:
        """What comes next of the member at hand; nothing if that takes more packed bytes."""
        if self.member is None:
            self.piece = self.piece.lstrip(b"\0")  # members may be padded
            if not self.piece:
                return b""
            self.member = self.unpacker()
        found = bytes(self.member.decompress(self.piece, MOST))
        self.piece = getattr(self.member, "unconsumed_tail", b"")
        if self.member.eof:
            self.piece = self.member.unused_data
            self.member = None
        return found
