"""Partitioning of a stream into pieces of files, and shards of pieces that are learnt in parallel.

Both depend on the files and the number of shards alone, never on the workers. Text that is not packed is cut at
line ends, Parquet at row groups; any other file is one piece. Shard k of n has the pieces k, k + n, k + 2n, …
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.streams.formats.catalogue import Format, Split, find, find_format
from ouzel.streams.formats.csv import lines_above
from ouzel.streams.options import Options
from ouzel.streams.read import open_source
from ouzel.streams.sources.chunks import RangeSource, RowGroupSource
from ouzel.streams.sources.source import Source, resolve_path

LARGEST, SMALLEST = 64 << 20, 1 << 14  # bytes of a piece of text
SCANNED = 1 << 22  # bytes at a time
ONCE = "standard input and pipes can be read once only, by one process; put them in files first"


class Piece(NamedTuple):
    """Part of a file; `stop` 0 means all of it."""

    path: str
    format: str  # its name
    head: int = 0  # bytes of text at its beginning that are part of every piece
    start: int = 0  # bytes of text, or row groups
    stop: int = 0

    def source(self) -> Source:
        """Open the source of the piece."""
        if not self.stop:
            return Source(self.path)
        if find(self.format).split is Split.ROW_GROUPS:
            return RowGroupSource(self.path, self.start, self.stop)
        return RangeSource(self.path, self.head, self.start, self.stop)


Shard = tuple[Piece, ...]


class Plan(NamedTuple):
    """Plan of a training: its shards."""

    shards: tuple[Shard, ...]
    size: int  # bytes of all files

    @property
    def digest(self) -> str:
        """Digest of the names and sizes of the files and their cuts; a run must resume with the same plan."""
        text = json.dumps([[[Path(piece.path).name, *piece[1:]] for piece in shard] for shard in self.shards])
        return hashlib.sha256(f"{self.size} {text}".encode()).hexdigest()


def plan_of(paths: list[str], format: str | None, options: Options, lanes: int, whole: bool = False) -> Plan:
    """Partition files into shards; `whole` leaves files with groups to rank undivided."""
    sources = [open_source(path) for path in paths]
    if any(source.size is None for source in sources):
        raise OuzelError(ONCE)
    size = sum(source.size or 0 for source in sources)
    pieces: list[Piece] = []
    for path, source in zip(paths, sources, strict=True):
        found = find_format(source, format)
        packed = source.compressed
        source.close()
        if whole or packed:
            pieces.append(Piece(path, found.name))
        elif found.split is Split.ROW_GROUPS:
            pieces += _row_groups(path, found, size, lanes)
        elif found.split is not None:
            pieces += _lines(path, found, options, size, lanes)
        else:
            pieces.append(Piece(path, found.name))
    count = min(lanes, len(pieces))
    return Plan(tuple(tuple(pieces[k::count]) for k in range(count)), size)


def _wanted(size: int, total: int, lanes: int) -> int:
    """Return the number of pieces of a file of a size, among files of `total` bytes."""
    each = min(LARGEST, max(SMALLEST, total // lanes))
    return max(1, round(size / each))


def _row_groups(path: str, format: Format, total: int, lanes: int) -> list[Piece]:
    from pyarrow.parquet import ParquetFile

    with resolve_path(path).open("rb") as stored, ParquetFile(stored) as file:
        groups = file.num_row_groups
    count = min(groups, _wanted(resolve_path(path).stat().st_size, total, lanes))
    cuts = [round(k * groups / count) for k in range(count + 1)] if count else []
    return [Piece(path, format.name, 0, a, b) for a, b in itertools.pairwise(cuts)] or [Piece(path, format.name)]


def _lines(path: str, format: Format, options: Options, total: int, lanes: int) -> list[Piece]:
    """Cut text into pieces of whole lines; every piece of CSV begins with the header."""
    size = resolve_path(path).stat().st_size
    count = _wanted(size, total, lanes)
    records = format.split is Split.RECORDS
    above = lines_above(options) if records else 0
    with resolve_path(path).open("rb") as file:
        for _ in range(above):
            file.readline()
        head = file.tell()
        quoted = records and count > 1 and _has_quotes(path)
        aims = [head + (size - head) * k // count for k in range(1, count)]
        cuts = list(_outside_quotes(path, head, aims)) if quoted else [_line_end(file, aim) for aim in aims]
    cuts = [head, *sorted({cut for cut in cuts if head < cut < size}), size]
    found = [Piece(path, format.name, head, a, b) for a, b in itertools.pairwise(cuts) if a < b]
    return found if len(found) > 1 else [Piece(path, format.name)]


def _line_end(file: BinaryIO, aim: int) -> int:
    """Return the start of the first line at a position or after it."""
    file.seek(aim - 1)
    file.readline()
    return file.tell()


def _chunks(path: str) -> Iterator[np.ndarray]:
    with resolve_path(path).open("rb") as file:
        while data := file.read(SCANNED):
            yield np.frombuffer(data, np.uint8)


def _has_quotes(path: str) -> bool:
    return any((chunk == ord('"')).any() for chunk in _chunks(path))


def _outside_quotes(path: str, head: int, aims: list[int]) -> Iterator[int]:
    """Yield line ends at positions or after them outside of quotes, which are counted from the start."""
    at, open_quotes, waiting = 0, 0, list(aims)
    for chunk in _chunks(path):
        quotes = np.cumsum(chunk == ord('"')) + open_quotes
        while waiting and waiting[0] <= at + len(chunk):
            start = max(waiting[0] - 1 - at, 0)
            ends = np.flatnonzero((chunk[start:] == 10) & (quotes[start:] % 2 == 0))
            if not len(ends):
                break
            yield at + start + int(ends[0]) + 1
            waiting.pop(0)
        at, open_quotes = at + len(chunk), int(quotes[-1])
