"""Factors gathered column by column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.streams.derived.asked import Derived
from ouzel.streams.derived.factors import Entries, Factors
from ouzel.streams.patterns import matches


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
