"""Writes blocks as lines of text, which read back as the same ids, values and labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from ouzel.errors import DataError
from ouzel.files import write_atomically
from ouzel.numerals import is_number
from ouzel.streams.block import Block
from ouzel.streams.block_stream import as_stream
from ouzel.streams.formats.catalogue import Format, find
from ouzel.streams.labels import Label

PLAIN = re.compile(r"[^\s|:#,'\"][^\s|:#,]*")  # words that can be labels


def write_svmlight(blocks: Iterable[Block], path: str | Path) -> int:
    """Write blocks as svmlight text; return the number of examples. Values read back as the same bits."""
    return write_lines(blocks, path, find("svmlight"))


def write_lines(blocks: Iterable[Block], path: str | Path, format: Format) -> int:
    """Write blocks as lines of a format; return the number of examples."""
    count = 0
    with write_atomically(path) as file:
        for block in as_stream(blocks):
            file.write("".join(format.module.lines_of(block)).encode())
            count += block.rows
    return count


def features_of(block: Block, before: str = "") -> Iterator[str]:
    """Yield ` id:value` of all features of each row, with `before` in front of each id."""
    entries = slice(int(block.offsets[0]), int(block.offsets[-1]))
    different, places = np.unique(block.values[entries], return_inverse=True)
    written = [np.format_float_positional(value, trim="-") for value in different]
    ids = block.indices[entries].tolist()
    pairs = [f" {before}{identity}:{written[place]}" for identity, place in zip(ids, places.tolist(), strict=True)]
    for start, stop in pairwise((block.offsets - block.offsets[0]).astype(np.int64).tolist()):
        yield "".join(pairs[start:stop])


def word_of(label: Label | None) -> str:
    """Return a label as these formats write it."""
    if label is None:
        return ""
    if isinstance(label, (int, float)) and not isinstance(label, bool):
        return f"{label:.17g}"
    word = str(label)
    if not PLAIN.fullmatch(word) or is_number(word) or not word.isprintable():
        raise DataError(f"the label {word!r} cannot be written as text of this format; convert to parquet or arrow")
    return word
