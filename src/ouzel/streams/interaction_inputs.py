"""Factors gathered column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ouzel.streams.feature_specs import Derived
from ouzel.streams.patterns import matches


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


class _Part(NamedTuple):
    """Factors of one field."""

    field: int
    rows: np.ndarray  # (k,) int64
    hashes: np.ndarray  # (k,) uint32
    values: np.ndarray  # (k,) float32
    starts: np.ndarray  # (k,) uint64
    ends: np.ndarray  # (k,) uint64
    text: np.ndarray  # (bytes,) uint8
    whole: bool  # whether that has the names, or what follows the field's prefix


class Collector:
    """Gathers the factors of some rows, for what is to be made of them."""

    def __init__(self, derived: Derived) -> None:
        self.derived = derived
        self._prefixes: dict[str, bytes] = {}
        self._parts: list[_Part] = []

    def wants(self, field: str, words: bool = False) -> bool:
        """Whether others are made of a field's features, of which a row has one, or several `words`."""
        fields = self.derived.fields if words else self.derived.of_one
        return bool(fields) and matches(field, fields)

    def add(
        self,
        field: str,
        rows: np.ndarray,
        hashes: np.ndarray,
        values: np.ndarray,
        starts: np.ndarray,
        ends: np.ndarray,
        text: np.ndarray,
        prefix: bytes = b"",
    ) -> None:
        """Take features of a field: the rows that have them (k,), and the rest as in `Entries`."""
        self._prefixes[field] = prefix or self._prefixes.get(field, b"")
        place = list(self._prefixes).index(field)
        self._parts.append(_Part(place, rows, hashes, values, starts, ends, text, not prefix))

    def add_one(self, field: str, rows: np.ndarray, hashed: int, values: np.ndarray, name: str) -> None:
        """Take one feature of a field, which rows (k,) have with these values."""
        text = np.frombuffer(name.encode(), np.uint8)
        zeros = np.zeros(len(rows), np.uint64)
        self.add(field, rows, np.full(len(rows), hashed, np.uint32), values, zeros, zeros + np.uint64(len(text)), text)

    def factors(self, rows: int) -> Factors | None:
        """What was gathered, of so many rows; None if nothing is to be made."""
        if not self.derived:
            return None
        parts = self._parts
        shifts = np.cumsum([0, *(len(part.text) for part in parts)]).astype(np.uint64)[:-1]
        of_rows = np.concatenate([np.empty(0, np.int64), *(part.rows for part in parts)])
        order = np.argsort(of_rows, kind="stable")
        counts = np.concatenate([[0], np.cumsum(np.bincount(of_rows, minlength=rows))]).astype(np.int64)

        def joined(kind: type, *arrays: np.ndarray) -> np.ndarray:
            return np.concatenate([np.empty(0, kind), *arrays]).astype(kind)[order]

        entries = Entries(
            np.stack([counts[:-1], counts[1:]], axis=1),
            joined(np.uint16, *(np.full(len(part.rows), part.field) for part in parts)),
            joined(np.uint32, *(part.hashes for part in parts)),
            joined(np.float32, *(part.values for part in parts)),
            joined(np.uint64, *(part.starts + shift for part, shift in zip(parts, shifts, strict=True))),
            joined(np.uint64, *(part.ends + shift for part, shift in zip(parts, shifts, strict=True))),
            joined(np.bool_, *(np.full(len(part.rows), part.whole) for part in parts)),
            np.concatenate([np.empty(0, np.uint8), *(part.text for part in parts)]),
        )
        return Factors(entries, tuple(self._prefixes), tuple(self._prefixes.values()))
