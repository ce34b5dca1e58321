"""Source of bytes: a file, a file at an address, a pipe, or standard input; compression is detected by content."""

from __future__ import annotations

import codecs
import io
import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, cast

from ouzel.errors import DataError
from ouzel.streams.limits import Limits
from ouzel.streams.sources.addresses import SCHEME, is_remote
from ouzel.streams.sources.addresses import name_of as remote_name
from ouzel.streams.sources.compression import DamagedError, Decompressor, Unpacking, find_unpacker

if TYPE_CHECKING:
    import pyarrow
    from _typeshed import WriteableBuffer

UNPACK_BUFFER = 1 << 17  # bytes of an archive's content that are buffered
COPY_SIZE = 1 << 20  # bytes at a time
SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


def is_address(path: str | Path) -> bool:
    """Whether a file is given by an address.

    >>> is_address("s3://bucket/day.parquet"), is_address("day.parquet")
    (True, False)
    """
    return SCHEME.match(str(path)) is not None


def resolve_path(path: str | Path) -> Path:
    """Return the path of a file; a file at an address has an object with the methods of a path."""
    if not is_address(path):
        return Path(path)
    try:
        from upath import UPath
    except ImportError:
        from ouzel.extras import missing

        raise missing(f"{path}: reading files by address", "universal-pathlib", "remote") from None
    try:
        found = UPath(str(path))
        found.exists()
    except Exception as error:  # whatever the library of a service raises
        raise DataError.at(str(path), f"cannot be reached ({message_of(error)[:200]})") from None
    return cast(Path, found)


def name_of(path: str) -> str:
    """Return the name of a source without folders, as text whatever its bytes are."""
    if is_remote(path):
        return remote_name(path)
    return "standard input" if path == "-" else os.fsencode(Path(path).name).decode("utf-8", "backslashreplace")


def is_piped(path: str) -> bool:
    """Return whether a source is no file: another one of the same name may hold anything."""
    return path == "-" or is_remote(path) or not resolve_path(path).is_file()


def message_of(error: Exception) -> str:
    """Return the message of an error on one line, or its type if it has none."""
    return " ".join(str(error).split()) or type(error).__name__


def open_unbuffered(place: Path) -> io.RawIOBase:
    """Open a file for reading without a buffer; the library of an address chooses its own."""
    return place.open("rb", buffering=0) if isinstance(place, Path) else cast(io.RawIOBase, place.open("rb"))


class PipeReader(io.RawIOBase):
    """Raw stream of a pipe: a read returns all bytes that have arrived, and waits only if there are none."""

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

    def readinto(self, buffer: WriteableBuffer) -> int:
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
        """Whether more bytes have arrived."""
        return bool(select.select([self.descriptor], [], [], 0)[0])


class Source:
    """One file, by its path or its address, or standard input for "-"; base class of other sources."""

    format: str | None = None  # of its content, whatever its name

    def __init__(self, path: str | Path) -> None:
        self.path = None if str(path) == "-" else resolve_path(path)
        self.name = "standard input" if self.path is None else str(path)
        self.size: int | None = None  # None of a pipe: not known, and its bytes come once
        if self.path is not None:
            if not self.path.exists():
                raise DataError.at(self.name, "there is no such file")
            if self.path.is_dir():
                raise DataError.at(self.name, "is a folder; name the files in it")
            if self.path.is_file():
                self.size = self.path.stat().st_size
        self.groups: range | None = None  # row groups of a Parquet file to read, if not all
        self._packed: io.BufferedReader | None = None
        self._file: io.BufferedReader | None = None
        self._unpacker: Callable[[], Decompressor] | None = None

    @property
    def plain_name(self) -> str:
        """The file's name without folders and without a suffix of compression, to detect the format."""
        name = Path(self.name).name
        return name[: -len(Path(name).suffix)] if Path(name).suffix.lower() in SUFFIXES else name

    @property
    def position(self) -> int:
        """Compressed bytes of the file read so far."""
        if self._packed is None or self.size is None:
            return 0
        return self.size if self._packed.closed else self._packed.tell()

    @property
    def compressed(self) -> bool:
        """Whether the content is an archive; opens the source."""
        self._start()
        return self._unpacker is not None

    def open(self) -> io.BufferedReader:
        """Return a buffered reader of the decompressed bytes after any UTF-8 mark; `read1` returns what has arrived."""
        if self._file is None:
            packed = self._start()
            file = (
                packed
                if self._unpacker is None
                else io.BufferedReader(Unpacking(packed, self._unpacker), UNPACK_BUFFER)
            )
            try:
                mark = file.peek(4)[:4]
                if mark.startswith(codecs.BOM_UTF8):
                    file.read(len(codecs.BOM_UTF8))
            except OSError as error:
                raise self.broken(error) from None
            if mark.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise DataError.at(self.name, "holds UTF-16 text; save it as UTF-8")
            self._file = cast(io.BufferedReader, file)
        return self._file

    def peek(self, size: int = 4096) -> bytes:
        """Return the first decompressed bytes without consuming them; of a pipe, those that have arrived."""
        try:
            if self.path is None or self.size is None:
                return self.open().peek(size)[:size]
            with closing(Source(str(self.path))) as another:
                return _first_bytes(another.open(), size)
        except OSError as error:
            raise self.broken(error) from None

    def read_all(self, limits: Limits) -> bytes:
        """Return all decompressed bytes of a small file."""
        data = self.open().read(limits.unpacked + 1)
        self._check_unpacked(len(data), limits)
        return data

    @contextmanager
    def stored(self, limits: Limits) -> Iterator[str | IO[bytes]]:
        """Provide the decompressed bytes for random access: the file's path, or a temporary copy on disk."""
        if self.path is not None and self.size is not None and not self.compressed:
            if isinstance(self.path, Path):
                yield str(self.path)
                return
            with self.path.open("rb") as file:
                yield file
            return
        with TemporaryFile() as copy:
            file = self.open()
            while data := file.read(COPY_SIZE):
                self._check_unpacked(copy.tell() + len(data), limits)
                copy.write(data)
            copy.seek(0)
            yield copy

    def _check_unpacked(self, size: int, limits: Limits) -> None:
        if size > limits.unpacked:
            what = "unpacks to" if self.compressed else "holds"
            raise limits.exceeded(self.name, "unpacked", f"{what} {size:,} bytes or more")

    def broken(self, error: Exception) -> DataError:
        """Return the error of a damaged archive, or of a disk that cannot be read."""
        reason = " ".join(str(error).split())
        if not isinstance(error, DamagedError):
            return DataError.at(self.name, f"cannot be read ({reason})")
        return DataError.at(self.name, f"the compressed file is damaged ({reason}); unpack or copy it again")

    def tables(self) -> Iterator[pyarrow.Table] | None:
        """Return the content as Arrow tables if the source has no bytes, else None."""
        return None

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._packed is not None and self.path is not None:
            self._packed.close()

    def _start(self) -> io.BufferedReader:
        """Return the stored bytes, and detect their compression."""
        if self._packed is None:
            try:
                self._packed = io.BufferedReader(self._raw(), 1 << 18)
                head = self._packed.peek(8)
            except OSError as error:
                raise DataError.at(self.name, f"cannot be read ({error.strerror or error})") from None
            self._unpacker = find_unpacker(head)
        return self._packed

    def _raw(self) -> io.RawIOBase:
        """Return a raw stream of the stored bytes."""
        if self.path is None or self.size is None:
            return PipeReader(self.path)
        return open_unbuffered(self.path)


def _first_bytes(file: io.BufferedReader, size: int) -> bytes:
    """Return the first bytes of a file, up to its end or damage."""
    head = b""
    try:
        while len(head) < size and (data := file.read1(size - len(head))):
            head += data
    except DamagedError:
        if not head:
            raise
    return head
