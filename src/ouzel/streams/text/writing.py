"""Blocks as text: svmlight and Vowpal Wabbit, which read back as the same ids, values and labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from ouzel.errors import DataError
from ouzel.files import write_atomically
from ouzel.numerals import is_number
from ouzel.streams.block import Block
from ouzel.streams.label_values import Label, labels_in

PLAIN = re.compile(r"[^\s|:#,'\"][^\s|:#,]*")  # what a label that is a word may be


def write_svmlight(blocks: Iterable[Block], path: str | Path) -> int:
    """Write blocks as svmlight text; return the number of examples. Values read back as the same bits."""
    return _write(blocks, path, _svmlight)


def write_vw(blocks: Iterable[Block], path: str | Path) -> int:
    """Write blocks as Vowpal Wabbit text, ids as whole numbers; return the number of examples."""
    return _write(blocks, path, _vw)


def _write(blocks: Iterable[Block], path: str | Path, lines_of: Callable[[Block], Iterator[str]]) -> int:
    count = 0
    with write_atomically(path) as file:
        for block in blocks:
            file.write("".join(lines_of(block)).encode())
            count += block.rows
    return count


def _svmlight(block: Block) -> Iterator[str]:
    if (block.weights != 1.0).any():
        raise DataError(
            "svmlight text has no importance weights, and this data has; convert it to vw, parquet or arrow"
        )
    groups = [""] * block.rows if block.groups is None else [f" qid:{group}" for group in block.groups.tolist()]
    for label, group, features in zip(labels_in(block), groups, _features(block), strict=True):
        yield f"{_word(label)}{group}{features}\n"


def _vw(block: Block) -> Iterator[str]:
    if block.groups is not None:
        raise DataError("Vowpal Wabbit text has no groups, and this data has; convert it to svmlight, parquet or arrow")
    weights = ["" if weight == 1.0 else f" {weight:.9g}" for weight in block.weights.tolist()]
    for label, weight, features in zip(labels_in(block), weights, _features(block), strict=True):
        if label is None and weight:
            raise DataError("Vowpal Wabbit text has no weights without labels; convert to parquet or arrow")
        yield f"{_word(label)}{weight} |{features}\n"


def _features(block: Block) -> Iterator[str]:
    """` id:value` of all features of each row."""
    entries = slice(int(block.offsets[0]), int(block.offsets[-1]))
    different, places = np.unique(block.values[entries], return_inverse=True)
    written = [np.format_float_positional(value, trim="-") for value in different]
    ids = block.indices[entries].tolist()
    pairs = [f" {identity}:{written[place]}" for identity, place in zip(ids, places.tolist(), strict=True)]
    for start, stop in pairwise((block.offsets - block.offsets[0]).astype(np.int64).tolist()):
        yield "".join(pairs[start:stop])


def _word(label: Label | None) -> str:
    """A label as both formats have it."""
    if label is None:
        return ""
    if isinstance(label, (int, float)) and not isinstance(label, bool):
        return f"{label:.17g}"
    word = str(label)
    if not PLAIN.fullmatch(word) or is_number(word) or not word.isprintable():
        raise DataError(f"the label {word!r} cannot be written as text of this format; convert to parquet or arrow")
    return word
