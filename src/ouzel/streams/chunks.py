"""Text in chunks of whole lines: views of a mapped file, or pieces of what arrives."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from ouzel.errors import DataError
from ouzel.streams.sources import BROKEN, Source

CHUNK = 1 << 21  # bytes: what one thread parses at a time
LONGEST_LINE = 1 << 28

Chunk = tuple[np.ndarray, int, int]  # (bytes) uint8, start, stop


def chunks_of(source: Source) -> Iterator[Chunk]:
    """Whole lines of a source; the last may lack its newline."""
    if source.size and not source.compressed:
        return _mapped(source)
    return _arriving(source, source.open())


def _mapped(source: Source) -> Iterator[Chunk]:
    with source.open() as file:
        text = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        data = np.frombuffer(text, np.uint8)
        start = 0
        while start < len(text):
            stop = start + CHUNK
            if stop < len(text):
                stop = text.rfind(b"\n", start, stop) + 1 or text.find(b"\n", stop) + 1 or len(text)
            stop = min(stop, len(text))
            file.seek(stop)
            yield data, start, stop
            start = stop


def _arriving(source: Source, file: BinaryIO) -> Iterator[Chunk]:
    """Pieces as they come from a pipe or a decompressor, cut behind the last newline of each."""
    read = file.read1 if source.size is None else file.read  # type: ignore[attr-defined]
    parts: list[bytes] = []
    while True:
        try:
            data = read(CHUNK)
        except (*BROKEN, OSError) as error:
            raise source.broken(error) from None
        if not data:
            break
        cut = data.rfind(b"\n") + 1
        parts.append(data[:cut] if cut else data)
        if cut:
            yield _whole(parts)
            parts = [data[cut:]]
        elif sum(map(len, parts)) > LONGEST_LINE:
            raise DataError(f"{source.name}: has a line of more than {LONGEST_LINE >> 20} MiB; is it a text file?")
    if any(parts):
        yield _whole(parts)


def _whole(parts: list[bytes]) -> Chunk:
    data = np.frombuffer(parts[0] if len(parts) == 1 else b"".join(parts), np.uint8)
    return data, 0, len(data)
