"""Factors of examples that are dictionaries: of which member each feature is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ouzel.streams.feature_space import Token
from ouzel.streams.interaction_inputs import Entries, Factors
from ouzel.streams.options import Options
from ouzel.streams.patterns import matches


class Member(NamedTuple):
    """A feature, and the member of the dictionary that it is made of; parts of a date have fields of their own."""

    field: str
    name: Any
    value: float
    prefix: str = ""  # of the name, which a text's own words stand behind


def members_of(name: Any, made: Mapping[Any, float]) -> list[Member]:
    """The features that one member makes; of a date, `name.part=word` too.

    >>> members_of("city", {"city=Rome": 1.0})
    [Member(field='city', name='city=Rome', value=1.0, prefix='')]
    """
    start = f"{name}."
    return [
        Member(start + str(feature)[len(start) :].partition("=")[0], feature, number)
        if str(feature).startswith(start)
        else Member(str(name), feature, number)
        for feature, number in made.items()
    ]


def words_of_member(name: Any, words: Iterable[str], prefix: str) -> list[Member]:
    """The features that the words of one member make, as they follow each other.

    >>> [(member.name, member.value) for member in words_of_member("note", ["so", "so"], "")]
    [('so', 1.0), ('so', 1.0)]
    """
    return [Member(str(name), Token(prefix + word), 1.0, prefix) for word in words]


def factors_of(rows: Iterable[Sequence[Member]], options: Options) -> Factors:
    """The factors of examples, of which the members are known."""
    wanted = options.derived.fields
    prefixes: dict[str, bytes] = {}
    places: dict[str, int] = {}
    fields: list[int] = []
    hashes: list[int] = []
    values: list[float] = []
    behind: list[int] = []  # bytes of a name before its own part
    bounds: list[tuple[int, int]] = []
    names: list[bytes] = []
    known: dict[Any, int] = {}
    for members in rows:
        start = len(hashes)
        for field, name, value, prefix in members:
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
            behind.append(len(before))
        bounds.append((start, len(hashes)))
    ends = np.cumsum([0, *map(len, names)]).astype(np.uint64)
    skipped = np.array(behind, np.uint64)
    entries = Entries(
        np.array(bounds, np.int64).reshape(-1, 2),
        np.array(fields, np.uint16),
        np.array(hashes, np.uint32),
        np.array(values, np.float32),
        ends[:-1] + skipped,
        ends[1:],
        skipped == 0,
        np.frombuffer(b"".join(names), np.uint8),
    )
    return Factors(entries, tuple(places), tuple(prefixes[field] for field in places))
