"""Factors of examples that are dictionaries: of which member each feature is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ouzel.streams.crosses.factors import Entries, Factors
from ouzel.streams.crosses.naming import wanted
from ouzel.streams.feature_space import DATE
from ouzel.streams.options import Options

Fields = Mapping[Any, str]  # the member that each feature is made of


def fields_of(name: Any, kind: str | None, features: Iterable[Any]) -> dict[Any, str]:
    """The fields of the features that one member makes: the member itself, and parts of a date by their own name.

    >>> fields_of("city", None, ["city=Rome"]), fields_of("when", "date", ["when", "when.hour=3"])
    ({'city=Rome': 'city'}, {'when': 'when', 'when.hour=3': 'when.hour'})
    """
    start = f"{name}."
    if kind != DATE:
        return dict.fromkeys(features, str(name))
    return {
        feature: start + str(feature)[len(start) :].partition("=")[0] if str(feature).startswith(start) else str(name)
        for feature in features
    }


def factors_of(rows: Iterable[tuple[Mapping[Any, float], Fields]], options: Options) -> Factors:
    """The factors of examples, of whose features the fields are known."""
    places: dict[str, int] = {}
    fields: list[int] = []
    hashes: list[int] = []
    values: list[float] = []
    bounds: list[tuple[int, int]] = []
    names: list[bytes] = []
    known: dict[Any, int] = {}
    for features, of_features in rows:
        start = len(hashes)
        for name, value in features.items():
            field = of_features[name]
            if not wanted(options.crossed, field):
                continue
            if name not in known:
                known[name] = options.space.id_of(name, options.seed, 32) or 0
            fields.append(places.setdefault(field, len(places)))
            hashes.append(known[name])
            values.append(value)
            names.append(str(name).encode())
        bounds.append((start, len(hashes)))
    ends = np.cumsum([0, *map(len, names)]).astype(np.uint64)
    entries = Entries(
        np.array(bounds, np.int64).reshape(-1, 2),
        np.array(fields, np.uint16),
        np.array(hashes, np.uint32),
        np.array(values, np.float32),
        ends[:-1],
        ends[1:],
        np.ones(len(hashes), np.bool_),
        np.frombuffer(b"".join(names), np.uint8),
    )
    return Factors(entries, tuple(places), (b"",) * len(places))
