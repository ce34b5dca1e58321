"""Which numbers are to be binned, or hinged: `price=16` are sixteen bins of the column `price`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.streams.patterns import matches

MOST = 1024  # bins, or hinges, of a column


def as_bins(given: Any, what: str = "bins") -> tuple[str, ...]:
    """Bins, or hinges, as they are kept: of each column, or pattern, how many.

    >>> as_bins({"price": 16}), as_bins(["price=16", "C*=4"])
    (('price=16',), ('C*=4', 'price=16'))
    """
    if isinstance(given, Mapping):
        given = [f"{column}={count}" for column, count in given.items()]
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, Iterable):
        raise _odd(given, what)
    found: dict[str, str] = {}
    for one in several:
        column, _, count = one.rpartition("=") if isinstance(one, str) else ("", "", "")
        if not (column and count.isdecimal() and count.isascii()):
            raise _odd(one, what)
        if not 2 <= int(count) <= MOST:
            raise OuzelError(f"of a column are 2 to {MOST}; got {count} of {column!r}", subject=what)
        if column in found:
            raise OuzelError(f"of {column!r} are asked for twice; leave one of them out", subject=what)
        found[column] = f"{column}={int(count)}"
    return tuple(sorted(found.values()))


def _odd(given: Any, what: str) -> OuzelError:
    return OuzelError(f"are a column and how many there are to be, such as price=16; got {given!r}", subject=what)


def columns_of(bins: tuple[str, ...]) -> tuple[str, ...]:
    """The names and patterns of the columns that bins, or hinges, are made of.

    >>> columns_of(("C*=4", "price=16"))
    ('C*', 'price')
    """
    return tuple(one.rpartition("=")[0] for one in bins)


def count_of(bins: tuple[str, ...], column: str) -> int:
    """How many there are to be of a column, 0 if none; the more particular name counts.

    >>> count_of(("C*=4", "C1=16"), "C1"), count_of(("C*=4", "C1=16"), "C2"), count_of((), "C1")
    (16, 4, 0)
    """
    names = dict(zip(columns_of(bins), bins, strict=True))
    found = [(name == column, len(name), name) for name in names if matches(column, (name,))]
    return int(names[max(found)[-1]].rpartition("=")[-1]) if found else 0


def bin_names(column: str, edges: tuple[float, ...]) -> list[str]:
    """What the bins of a column are called.

    >>> bin_names("price", (2.5, 7.0))
    ['price=[-inf,2.5)', 'price=[2.5,7)', 'price=[7,inf)']
    """
    shown = ["-inf", *map(_shown, edges), "inf"]
    return [f"{column}=[{low},{high})" for low, high in pairwise(shown)]


def hinge_names(column: str, edges: tuple[float, ...]) -> list[str]:
    """What the hinges of a column are called.

    >>> hinge_names("price", (2.5, 7.0))
    ['price>2.5', 'price>7']
    """
    return [f"{column}>{_shown(edge)}" for edge in edges]


def _shown(edge: float) -> str:
    """A number of single precision in as few digits as tell it."""
    return str(np.float32(edge)).removesuffix(".0")
