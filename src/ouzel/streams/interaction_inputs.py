"""The inputs of interactions: the features of rows with their fields, hashes and values, and where their names lie.

A field is a column, a namespace, or a member of an object. Readers of text write entries in place (`put_entry`), those
of tables collect them column by column (`InputCollector`), and those of objects know the source of each feature
(`SourceField`, `inputs_of_rows`). Blocks carry the inputs to `ouzel.streams.interactions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.streams.feature_space import Token
from ouzel.streams.feature_specs import DerivedFeatures, matches

if TYPE_CHECKING:
    from ouzel.streams.options import Options


class InputEntries(NamedTuple):
    """The inputs of rows: row i has the entries `bounds[i, 0]` to `bounds[i, 1]`."""

    bounds: np.ndarray  # (n, 2) int64
    fields: np.ndarray  # (k,) uint16
    hashes: np.ndarray  # (k,) uint32, all bits of the hash of a name; of a numeric id that id
    values: np.ndarray  # (k,) float32
    starts: np.ndarray  # (k,) uint64, where the feature's name lies in the text
    ends: np.ndarray  # (k,) uint64
    whole: np.ndarray  # (k,) bool, whether that is all of the name; else the prefix of the field stands before it
    text: np.ndarray  # (bytes,) uint8

    @classmethod
    def empty(cls, rows: int, size: int, text: np.ndarray) -> InputEntries:
        """Arrays for `size` entries of some rows, whose names lie in a text."""
        kinds = np.uint16, np.uint32, np.float32, np.uint64, np.uint64, np.bool_
        return cls._make([np.empty((rows, 2), np.int64), *(np.empty(size, kind) for kind in kinds), text])

    def part(self, rows: slice, start: int, stop: int) -> InputEntries:
        """Some rows, which have the entries `start` to `stop`."""
        return InputEntries._make([self.bounds[rows] - start, *(array[start:stop] for array in self[1:-1]), self.text])


@force_inline
def put_entry(entries, count, field, hashed, value, start, end, whole):
    """Write an entry behind those that there are, `count[0]`, whose name is, or ends in, the text at `start:end`."""
    place = count[0]
    entries.fields[place], entries.hashes[place], entries.values[place] = field, hashed, value
    entries.starts[place], entries.ends[place], entries.whole[place] = start, end, whole
    count[0] = place + np.uint64(1)


class InteractionInputs(NamedTuple):
    """The inputs of a block's rows, with the names of their fields and the prefixes of their features."""

    entries: InputEntries
    names: tuple[str, ...]
    prefixes: tuple[bytes, ...]  # such as b"city="

    def slice(self, start: int, stop: int) -> InteractionInputs:
        """Those of rows start to stop - 1."""
        return self._replace(entries=self.entries._replace(bounds=self.entries.bounds[start:stop]))

    def select(self, chosen: np.ndarray) -> InteractionInputs:
        """Those of chosen rows."""
        return self._replace(entries=self.entries._replace(bounds=self.entries.bounds[chosen]))


def concatenate_inputs(parts: Sequence[InteractionInputs]) -> InteractionInputs:
    """The inputs of several blocks behind one another."""
    prefixes: dict[str, bytes] = {}
    found: list[InputEntries] = []
    texts: dict[int, int] = {}  # where each begins in the text of all
    before = size = 0
    for entries, names, before_names in parts:
        for name, prefix in zip(names, before_names, strict=True):
            prefixes[name] = prefix or prefixes.get(name, b"")
        places = {name: place for place, name in enumerate(prefixes)}
        here = np.array([places[name] for name in names] or [0], np.uint16)
        again = id(entries.text) in texts  # parts of one chunk
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
    return InteractionInputs(
        InputEntries._make(map(np.concatenate, zip(*found, strict=True))), tuple(prefixes), tuple(prefixes.values())
    )


class _Part(NamedTuple):
    """Inputs of one field."""

    field: int
    rows: np.ndarray  # (k,) int64
    hashes: np.ndarray  # (k,) uint32
    values: np.ndarray  # (k,) float32
    starts: np.ndarray  # (k,) uint64
    ends: np.ndarray  # (k,) uint64
    text: np.ndarray  # (bytes,) uint8
    whole: bool  # whether the text has whole names, or what follows the field's prefix


class InputCollector:
    """Collects the inputs of some rows column by column."""

    def __init__(self, derived: DerivedFeatures) -> None:
        self.derived = derived
        self._prefixes: dict[str, bytes] = {}
        self._parts: list[_Part] = []

    def wants(self, field: str, words: bool = False) -> bool:
        """Whether features are derived from a field that has one feature in a row, or several `words`."""
        fields = self.derived.fields if words else self.derived.scalar_columns
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
        """Add features of a field: the rows that have them (k,), and the rest as in `InputEntries`."""
        self._prefixes[field] = prefix or self._prefixes.get(field, b"")
        place = list(self._prefixes).index(field)
        self._parts.append(_Part(place, rows, hashes, values, starts, ends, text, not prefix))

    def add_one(self, field: str, rows: np.ndarray, hashed: int, values: np.ndarray, name: str) -> None:
        """Add one feature of a field, which rows (k,) have with these values."""
        text = np.frombuffer(name.encode(), np.uint8)
        zeros = np.zeros(len(rows), np.uint64)
        self.add(field, rows, np.full(len(rows), hashed, np.uint32), values, zeros, zeros + np.uint64(len(text)), text)

    def inputs(self, rows: int) -> InteractionInputs | None:
        """The inputs of a number of rows; None if no features are derived."""
        if not self.derived:
            return None
        parts = self._parts
        shifts = np.cumsum([0, *(len(part.text) for part in parts)]).astype(np.uint64)[:-1]
        of_rows = np.concatenate([np.empty(0, np.int64), *(part.rows for part in parts)])
        order = np.argsort(of_rows, kind="stable")
        counts = np.concatenate([[0], np.cumsum(np.bincount(of_rows, minlength=rows))]).astype(np.int64)

        def joined(kind: type, *arrays: np.ndarray) -> np.ndarray:
            return np.concatenate([np.empty(0, kind), *arrays]).astype(kind)[order]

        entries = InputEntries(
            np.stack([counts[:-1], counts[1:]], axis=1),
            joined(np.uint16, *(np.full(len(part.rows), part.field) for part in parts)),
            joined(np.uint32, *(part.hashes for part in parts)),
            joined(np.float32, *(part.values for part in parts)),
            joined(np.uint64, *(part.starts + shift for part, shift in zip(parts, shifts, strict=True))),
            joined(np.uint64, *(part.ends + shift for part, shift in zip(parts, shifts, strict=True))),
            joined(np.bool_, *(np.full(len(part.rows), part.whole) for part in parts)),
            np.concatenate([np.empty(0, np.uint8), *(part.text for part in parts)]),
        )
        return InteractionInputs(entries, tuple(self._prefixes), tuple(self._prefixes.values()))


class SourceField(NamedTuple):
    """A feature, and the member of an object that it is made of; parts of a date have fields of their own."""

    field: str
    name: Any
    value: float
    prefix: str = ""  # before the word of a text, which is the rest of the name


def source_fields(name: Any, made: Mapping[Any, float]) -> list[SourceField]:
    """The features that one member makes; of a date, `name.part=word` too.

    >>> source_fields("city", {"city=Rome": 1.0})
    [SourceField(field='city', name='city=Rome', value=1.0, prefix='')]
    """
    start = f"{name}."
    return [
        SourceField(start + str(feature)[len(start) :].partition("=")[0], feature, number)
        if str(feature).startswith(start)
        else SourceField(str(name), feature, number)
        for feature, number in made.items()
    ]


def word_fields(name: Any, words: Iterable[str], prefix: str) -> list[SourceField]:
    """The features that the words of one member make, in their order.

    >>> [(source.name, source.value) for source in word_fields("note", ["so", "so"], "")]
    [('so', 1.0), ('so', 1.0)]
    """
    return [SourceField(str(name), Token(prefix + word), 1.0, prefix) for word in words]


def inputs_of_rows(rows: Iterable[Sequence[SourceField]], options: Options) -> InteractionInputs:
    """The inputs of objects, each with the sources of its features."""
    wanted = options.derived.fields
    prefixes: dict[str, bytes] = {}
    places: dict[str, int] = {}
    fields: list[int] = []
    hashes: list[int] = []
    values: list[float] = []
    skipped: list[int] = []  # bytes of a name before its own part
    bounds: list[tuple[int, int]] = []
    names: list[bytes] = []
    known: dict[Any, int] = {}
    for sources in rows:
        start = len(hashes)
        for field, name, value, prefix in sources:
            if not matches(field, wanted):
                continue
            if name not in known:
                known[name] = options.space.id_of(name, options.seed, 32) or 0
            before = prefix.encode()
            prefixes[field] = before or prefixes.get(field, b"")
            names.append(str(name).encode())
            fields.append(places.setdefault(field, len(places)))
            hashes.append(known[name])
            values.append(value)
            skipped.append(len(before))
        bounds.append((start, len(hashes)))
    ends = np.cumsum([0, *map(len, names)]).astype(np.uint64)
    before_words = np.array(skipped, np.uint64)
    entries = InputEntries(
        np.array(bounds, np.int64).reshape(-1, 2),
        np.array(fields, np.uint16),
        np.array(hashes, np.uint32),
        np.array(values, np.float32),
        ends[:-1] + before_words,
        ends[1:],
        before_words == 0,
        np.frombuffer(b"".join(names), np.uint8),
    )
    return InteractionInputs(entries, tuple(places), tuple(prefixes[field] for field in places))
