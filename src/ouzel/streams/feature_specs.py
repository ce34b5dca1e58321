"""What features are to be made of others: bins and hinges, n-grams, and crosses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.streams.patterns import is_pattern, matches

MOST_BINS = 1024  # bins, or hinges, of a column


def as_bins(given: Any, what: str = "bins") -> tuple[str, ...]:
    """Bins, or hinges, as they are kept: of each column, or pattern, how many.

    >>> as_bins({"price": 16}), as_bins(["price=16", "C*=4"])
    (('price=16',), ('C*=4', 'price=16'))
    """
    if isinstance(given, Mapping):
        given = [f"{column}={count}" for column, count in given.items()]
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, Iterable):
        raise _bad_bins(given, what)
    found: dict[str, str] = {}
    for one in several:
        column, _, count = one.rpartition("=") if isinstance(one, str) else ("", "", "")
        if not (column and count.isdecimal() and count.isascii()):
            raise _bad_bins(one, what)
        if not 2 <= int(count) <= MOST_BINS:
            raise OuzelError(f"of a column are 2 to {MOST_BINS}; got {count} of {column!r}", subject=what)
        if column in found:
            raise OuzelError(f"of {column!r} are asked for twice; leave one of them out", subject=what)
        found[column] = f"{column}={int(count)}"
    return tuple(sorted(found.values()))


def _bad_bins(given: Any, what: str) -> OuzelError:
    return OuzelError(f"are a column and how many there are to be, such as price=16; got {given!r}", subject=what)


def binned_columns(bins: tuple[str, ...]) -> tuple[str, ...]:
    """The names and patterns of the columns that bins, or hinges, are made of.

    >>> binned_columns(("C*=4", "price=16"))
    ('C*', 'price')
    """
    return tuple(one.rpartition("=")[0] for one in bins)


def count_of(bins: tuple[str, ...], column: str) -> int:
    """How many there are to be of a column, 0 if none; the more particular name counts.

    >>> count_of(("C*=4", "C1=16"), "C1"), count_of(("C*=4", "C1=16"), "C2"), count_of((), "C1")
    (16, 4, 0)
    """
    names = dict(zip(binned_columns(bins), bins, strict=True))
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


MOST_COMBINATIONS = 1 << 20  # combinations of fields


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
            if len(found) > MOST_COMBINATIONS:
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


LONGEST = MOST_SKIPS = 9  # words
NGRAM = re.compile(r"(?:(.+)=)?(\d+)(?:\+(\d+))?", re.DOTALL)


def as_ngrams(given: Any, skips: int = 0) -> tuple[str, ...]:
    """N-grams as they are kept: of each column, or pattern, how many words, and how many may be skipped.

    >>> as_ngrams([2, "review=3+0"], skips=1), as_ngrams({"title": 2})
    (('*=2+1', 'review=3+0'), ('title=2+0',))
    """
    if isinstance(given, Mapping):
        given = [f"{column}={size}" for column, size in given.items()]
    several = [given] if isinstance(given, (str, int)) else given
    if not isinstance(several, Iterable):
        raise _bad_ngrams(given)
    found: dict[str, str] = {}
    for one in several:
        parted = NGRAM.fullmatch(str(one)) if isinstance(one, (str, int)) and not isinstance(one, bool) else None
        if parted is None:
            raise _bad_ngrams(one)
        column, size, skipped = parted[1] or "*", int(parted[2]), int(parted[3] or skips)
        if not (2 <= size <= LONGEST and skipped <= MOST_SKIPS):
            raise OuzelError(
                f"n-grams are of 2 to {LONGEST} words, and skip 0 to {MOST_SKIPS}; got {size} words, {skipped} skipped"
            )
        if column in found:
            raise OuzelError(f"n-grams of {column!r} are asked for twice; leave one of them out")
        found[column] = f"{column}={size}+{skipped}"
    return tuple(sorted(found.values()))


def _bad_ngrams(given: Any) -> OuzelError:
    return OuzelError(f"n-grams are a number of words, such as 2, or review=3 of one column; got {given!r}")


def ngram_columns(ngrams: tuple[str, ...]) -> tuple[str, ...]:
    """The names and patterns of the columns, or namespaces, that n-grams are made of.

    >>> ngram_columns(("*=2+1", "review=3+0"))
    ('*', 'review')
    """
    return tuple(ngram.rpartition("=")[0] for ngram in ngrams)


@lru_cache(1 << 10)
def sizes_of(ngrams: tuple[str, ...], column: str) -> tuple[int, int]:
    """Up to how many words the n-grams of a column have, and how many may be skipped; the more particular name counts.

    >>> sizes_of(("*=2+1", "review=3+0"), "review"), sizes_of(("*=2+1",), "title"), sizes_of((), "title")
    ((3, 0), (2, 1), (1, 0))
    """
    names = dict(zip(ngram_columns(ngrams), ngrams, strict=True))
    found = [(name == column, len(name), name) for name in names if matches(column, (name,))]
    if not found:
        return 1, 0
    size, _, skips = names[max(found)[-1]].rpartition("=")[-1].partition("+")
    return int(size), int(skips)


class Derived(NamedTuple):
    """What is made of the features of rows; false if nothing is.

    >>> str(Derived(("city*device",), ("review=2+0",))), str(Derived())
    ('the crosses city*device and the n-grams review=2+0', 'no crosses, n-grams, bins or hinges')
    """

    crosses: tuple[str, ...] = ()  # as `crosses.naming.as_crosses` has them
    ngrams: tuple[str, ...] = ()  # as `ngrams.naming.as_ngrams` has them
    bins: tuple[str, ...] = ()  # as `bins.naming.as_bins` has them
    hinges: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(map(len, self))

    def __str__(self) -> str:
        kinds = dict(zip(("crosses", "n-grams", "bins", "hinges"), self, strict=True))
        said = [f"the {kind} {', '.join(made)}" for kind, made in kinds.items() if made]
        return " and ".join(said) or "no crosses, n-grams, bins or hinges"

    def in_order(self, skips: int = 0) -> Derived:
        """This as it is kept; `skips` is how many words n-grams may leave out that do not say it themselves."""
        bins, hinges = as_bins(self.bins), as_bins(self.hinges, "hinges")
        both = set(binned_columns(bins)) & set(binned_columns(hinges))
        if both:
            raise OuzelError(
                f"{min(both)!r} is to have bins, which take the place of numbers, and hinges; leave one out"
            )
        return Derived(as_crosses(self.crosses), as_ngrams(self.ngrams, skips), bins, hinges)

    @property
    def of_numbers(self) -> bool:
        """Whether bins or hinges are to be made."""
        return bool(self.bins or self.hinges)

    @property
    def of_one(self) -> tuple[str, ...]:
        """The names and patterns of the columns of whose single features others are made."""
        return (*all_factors(self.crosses), *binned_columns((*self.bins, *self.hinges)))

    @property
    def fields(self) -> tuple[str, ...]:
        """The names and patterns of all columns, and namespaces, whose features others are made of."""
        return tuple(dict.fromkeys((*self.of_one, *ngram_columns(self.ngrams))))
