"""The features of rows that crosses are made of, as readers find them: before ids are masked and rows sorted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Entries(NamedTuple):
    """Row i has the factors `bounds[i, 0]` to `bounds[i, 1]`; a field is a column, or a namespace."""

    bounds: np.ndarray  # (n, 2) int64
    fields: np.ndarray  # (k,) uint16
    hashes: np.ndarray  # (k,) uint32, of a name all bits of its hash, of a number that number
    values: np.ndarray  # (k,) float32
    starts: np.ndarray  # (k,) uint64, where the feature's name lies in the text
    ends: np.ndarray  # (k,) uint64
    whole: np.ndarray  # (k,) bool, whether that is all of the name; else the prefix of the field stands before it
    text: np.ndarray  # (bytes,) uint8


def no_entries(rows: int, room: int, text: np.ndarray) -> Entries:
    """Room for the factors of so many rows, whose names lie in a text."""
    kinds = np.uint16, np.uint32, np.float32, np.uint64, np.uint64, np.bool_
    arrays = [np.empty(room, kind) for kind in kinds]
    return Entries._make([np.empty((rows, 2), np.int64), *arrays, text])


class Factors(NamedTuple):
    """The factors of a block's rows, with the names of their fields and what stands before names of their features."""

    entries: Entries
    names: tuple[str, ...]
    prefixes: tuple[bytes, ...]  # such as b"city="

    def slice(self, start: int, stop: int) -> Factors:
        """Those of rows start to stop - 1."""
        return self._replace(entries=self.entries._replace(bounds=self.entries.bounds[start:stop]))

    def select(self, chosen: np.ndarray) -> Factors:
        """Those of chosen rows."""
        return self._replace(entries=self.entries._replace(bounds=self.entries.bounds[chosen]))


def joined(parts: Sequence[Factors]) -> Factors:
    """The factors of rows behind one another."""
    prefixes: dict[str, bytes] = {}
    found: list[Entries] = []
    texts: dict[int, int] = {}  # where each begins in the text of all
    before = size = 0
    for entries, names, before_names in parts:
        for name, prefix in zip(names, before_names, strict=True):
            prefixes[name] = prefix or prefixes.get(name, b"")
        places = {name: place for place, name in enumerate(prefixes)}
        here = np.array([places[name] for name in names] or [0], np.uint16)
        again = id(entries.text) in texts  # of parts of one chunk
        shift = np.uint64(texts.setdefault(id(entries.text), size))
        moved = entries._replace(
            bounds=entries.bounds + before,
            fields=here[entries.fields],
            starts=entries.starts + shift,
            ends=entries.ends + shift,
            text=entries.text[:0] if again else entries.text,
        )
        found.append(moved)
        before, size = before + len(entries.fields), size + len(moved.text)
    return Factors(
        Entries._make(map(np.concatenate, zip(*found, strict=True))), tuple(prefixes), tuple(prefixes.values())
    )
