"""Which crosses there are to be: `city*device` names fields, `C*:device` and `*:*` may have patterns among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.streams.patterns import is_pattern, matches

MOST = 1 << 20  # combinations of fields


def as_crosses(given: Any) -> tuple[str, ...]:
    """Crosses as they are kept: each written with its factors in order, once.

    >>> as_crosses(["device*city", ("city", "device"), "*:*", ("price", "price")])
    ('*:*', 'city*device', 'price*price')
    """
    crosses = [given] if isinstance(given, str) else given
    if not isinstance(crosses, Iterable):
        raise OuzelError(f"crosses is a list of such as 'city*device' or ('city', 'device'); got {given!r}")
    return tuple(sorted({written(factors_of(cross)) for cross in crosses}))


def factors_of(cross: Any) -> tuple[str, ...]:
    """The names, or patterns, of the fields of a cross.

    >>> factors_of("city*device"), factors_of("C*:device")
    (('city', 'device'), ('C*', 'device'))
    """
    parts = cross.split(":" if ":" in cross else "*") if isinstance(cross, str) else cross
    names = tuple(parts) if isinstance(parts, Sequence) else ()
    if len(names) < 2 or not all(isinstance(name, str) and name for name in names):
        raise OuzelError(
            f"a cross is of two or more columns or namespaces, such as city*device or '*:*'; got {cross!r}"
        )
    odd = next((name for name in names if ":" in name), None)
    if odd is not None:
        raise OuzelError(f"{odd!r} cannot be crossed by its name, for : parts those that are; write ? in its place")
    return names


def written(names: tuple[str, ...]) -> str:
    """A cross as text."""
    return (":" if any("*" in name for name in names) else "*").join(sorted(names))


@lru_cache(64)
def combinations(fields: tuple[str, ...], crosses: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Which fields (m, k) are multiplied with each other, and how many each time (m,); by the names of the fields.

    Of patterns no field is crossed with itself. What comes out twice is made once.
    """
    found: set[tuple[str, ...]] = set()
    for cross in crosses:
        names = factors_of(cross)
        lists = [[name for name in set(fields) if matches(name, (factor,))] for factor in names]
        several = any(map(is_pattern, names))
        for some in product(*lists):
            if not several or len(set(some)) == len(some):
                found.add(tuple(sorted(some)))
            if len(found) > MOST:
                raise OuzelError(f"the crosses {cross} of {len(fields)} columns are too many; name those that matter")
    widest = max(map(len, found), default=2)
    places = {name: place for place, name in enumerate(fields)}
    ordered = [[places[name] for name in some] for some in sorted(found)]
    table = np.zeros((len(ordered), widest), np.uint32)
    for row, together in zip(table, ordered, strict=True):
        row[: len(together)] = together
    return table, np.array([len(some) for some in ordered], np.uint32)


@lru_cache(64)
def all_factors(crosses: tuple[str, ...]) -> tuple[str, ...]:
    """The names and patterns of all fields that have a part in a cross."""
    return tuple(sorted({name for cross in crosses for name in factors_of(cross)}))
