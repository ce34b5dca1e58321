"""Where bytes come from: a file, a pipe, or standard input; compression is found by content."""

from __future__ import annotations

import codecs
import io
import os
import re
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, cast

from ouzel.errors import DataError, OuzelError
from ouzel.streams.limits import Limits
from ouzel.streams.sources.compression import DamagedError, Unpacking, find_unpacker

SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://")


def is_address(path: str | Path) -> bool:
    """Whether a file is told by its address.

    >>> is_address("s3://bucket/day.parquet"), is_address("day.parquet")
    (True, False)
    """
    return SCHEME.match(str(path)) is not None


def place_of(path: str | Path) -> Path:
    """The path of a file; that of an address has the methods of a path."""
    if not is_address(path):
        return Path(path)
    try:
        from upath import UPath
    except ImportError:
        raise OuzelError(f'{path}: addresses are read with universal-pathlib: pip install "ouzel[remote]"') from None
    try:
        found = UPath(str(path))
        found.exists()
    except Exception as error:  # whatever the library of a service raises
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError.at(str(path), f"cannot be reached ({reason[:200]})") from None
    return cast(Path, found)


def unbuffered(place: Path) -> Any:
    """A file opened for reading; one at an address is fetched in pieces that its library chooses."""
    return place.open("rb", buffering=0) if isinstance(place, Path) else place.open("rb")


UNPACKED = 1 << 17  # bytes of an archive's content that are held
COPIED = 1 << 20  # bytes at a time

SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


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


class Source:
    """One file, by its path or its address, or standard input for "-"; other sources derive from it."""

    format: str | None = None  # that it has, whatever it is called

    def __init__(self, path: str | Path) -> None:
        self.path = None if str(path) == "-" else place_of(path)
        self.name = "standard input" if self.path is None else str(path)
        self.size: int | None = None  # None where bytes arrive: their number is not known, and they come once
        if self.path is not None:
            if not self.path.exists():
                raise DataError.at(self.name, "there is no such file")
            if self.path.is_dir():
                raise DataError.at(self.name, "is a folder; name the files in it")
            if self.path.is_file():
                self.size = self.path.stat().st_size
        self.groups: range | None = None  # of a Parquet file, where not all row groups are read
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
            file = packed if self._unpacker is None else io.BufferedReader(Unpacking(packed, self._unpacker), UNPACKED)
            try:
                mark = file.peek(4)[:4]
                if mark.startswith(codecs.BOM_UTF8):
                    file.read(len(codecs.BOM_UTF8))
            except OSError as error:
                raise self.broken(error) from None
            if mark.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise DataError.at(self.name, "holds UTF-16 text; save it as UTF-8")
            self._file = cast(BinaryIO, file)
        return self._file

    def peek(self, size: int = 4096) -> bytes:
        """The first decompressed bytes, without consuming a file; of a pipe, what has arrived."""
        try:
            if self.path is None or self.size is None:
                return cast(io.BufferedReader, self.open()).peek(size)[:size]
            with closing(Source(str(self.path))) as another:
                return _beginning(another.open(), size)
        except OSError as error:
            raise self.broken(error) from None

    def read_all(self, limits: Limits) -> bytes:
        """All decompressed bytes, of a file that is small."""
        data = self.open().read(limits.unpacked + 1)
        self._check_unpacked(len(data), limits)
        return data

    @contextmanager
    def stored(self, limits: Limits) -> Iterator[Any]:
        """The decompressed bytes to jump about in: the file's path, or a copy on disk for as long as it is needed."""
        if self.path is not None and self.size is not None and not self.compressed:
            if isinstance(self.path, Path):
                yield str(self.path)
                return
            with self.path.open("rb") as file:
                yield file
            return
        with TemporaryFile() as copy:
            file = self.open()
            while data := file.read(COPIED):
                self._check_unpacked(copy.tell() + len(data), limits)
                copy.write(data)
            copy.seek(0)
            yield copy

    def _check_unpacked(self, size: int, limits: Limits) -> None:
        if size > limits.unpacked:
            what = "unpacks to" if self.compressed else "holds"
            raise limits.exceeded(self.name, "unpacked", f"{what} {size:,} bytes or more")

    def broken(self, error: Exception) -> DataError:
        """What to say of an archive that does not unpack, or of a disk that does not read."""
        reason = " ".join(str(error).split())
        if not isinstance(error, DamagedError):
            return DataError.at(self.name, f"cannot be read ({reason})")
        return DataError.at(self.name, f"the compressed file is damaged ({reason}); unpack or copy it again")

    def tables(self) -> Iterator[Any] | None:
        """Its content as Arrow tables, where it has no bytes."""
        return None

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._packed is not None and self.path is not None:
            self._packed.close()

    def _start(self) -> io.BufferedReader:
        """The bytes as they are stored; notes which archive it is."""
        if self._packed is None:
            try:
                self._packed = io.BufferedReader(self._raw(), 1 << 18)
                head = self._packed.peek(8)
            except OSError as error:
                raise DataError.at(self.name, f"cannot be read ({error.strerror or error})") from None
            self._unpacker = find_unpacker(head)
        return self._packed

    def _raw(self) -> io.RawIOBase:
        """The bytes as they are stored, from the first on."""
        if self.path is None or self.size is None:
            return Arriving(self.path)
        return cast(io.RawIOBase, unbuffered(self.path))


def _beginning(file: Any, size: int) -> bytes:
    """The first bytes of a file, as many as there are before its end or a damage."""
    head = b""
    try:
        while len(head) < size and (data := file.read1(size - len(head))):
            head += data
    except DamagedError:
        if not head:
            raise
    return head
