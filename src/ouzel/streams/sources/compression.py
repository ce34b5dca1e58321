"""Decompression of gzip, bzip2, xz and zstd, detected by magic bytes, a bounded number of bytes at a time."""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import zstandard

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

UNPACK_AT_ONCE = 1 << 20  # bytes unpacked at a time
MAX_WINDOW = 1 << 30  # bytes of memory that an xz archive may require
PIECE = 1 << 13  # compressed bytes read at a time


class DamagedError(OSError):
    """A compressed file is damaged or cut short."""


class Decompressor(Protocol):
    """Decompressor of one member of an archive; it may have an `unconsumed_tail`, as that of zlib does."""

    @property
    def eof(self) -> bool:
        """Whether the member has ended."""

    @property
    def unused_data(self) -> bytes:
        """Bytes after its end."""

    def decompress(self, data: bytes, most: int, /) -> bytes:
        """Return at most `most` decompressed bytes."""


class _Zstd:
    """Decompressor of a zstd frame, with the methods of Python's own decompressors."""

    STEP = 1 << 10  # bytes at a time: a block of four bytes may become 128 KB

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
        """Decompress the first bytes of `data`; the others are the `unconsumed_tail`."""
        self.unconsumed_tail = data[self.STEP :]
        return bytes(self._frame.decompress(data[: self.STEP]))


UNPACKERS: dict[bytes, Callable[[], Decompressor]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lambda: lzma.LZMADecompressor(memlimit=MAX_WINDOW),
    b"\x28\xb5\x2f\xfd": _Zstd,
}
"""Decompressors by the magic bytes of gzip, bzip2, xz and zstd."""
UNPACKERS |= {bytes([k]) + b"\x2a\x4d\x18": _Zstd for k in range(0x50, 0x60)}
"""A zstd file may begin with a skippable frame, as those of pzstd do."""


def find_unpacker(head: bytes) -> Callable[[], Decompressor] | None:
    """Return the decompressor for the first bytes of a file; None if it is not compressed."""
    return next((unpacker for magic, unpacker in UNPACKERS.items() if head.startswith(magic)), None)


class Unpacking(io.RawIOBase):
    """Raw stream of the content of an archive: its members one after the other, decompressed as bytes arrive.

    `DamagedError` is raised after the content before the damage.
    """

    def __init__(self, packed: io.BufferedReader, unpacker: Callable[[], Decompressor]) -> None:
        self.packed = packed
        self.unpacker = unpacker
        self.member: Decompressor | None = None  # None between members
        self.piece = b""  # compressed bytes not yet used
        self.unpacked = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
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
        count = min(len(view), len(self.unpacked))
        view[:count] = self.unpacked[:count]
        self.unpacked = self.unpacked[count:]
        return count

    def _unpack(self) -> bytes:
        """Decompress some bytes of the current member; empty if it needs more compressed bytes."""
        if self.member is None:
            self.piece = self.piece.lstrip(b"\0")  # members may be padded
            if not self.piece:
                return b""
            self.member = self.unpacker()
        found = bytes(self.member.decompress(self.piece, UNPACK_AT_ONCE))
        self.piece = getattr(self.member, "unconsumed_tail", b"")
        if self.member.eof:
            self.piece = self.member.unused_data
            self.member = None
        return found
