"""Specifications of derived features, as users write them and as models keep them.

Crosses are `A*B`, or `A:B` where a name is a pattern with a star. Bins and hinges are `COLUMN=N`, n-grams `COLUMN=N+K`,
where K words may be skipped. A column may be a pattern; of several that match, the more particular one counts. What is
kept is sorted, each specification written in one way, so that equal ones are equal as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError


@lru_cache(1 << 16)
def matches(column: str | None, patterns: tuple[str, ...]) -> bool:
    """Whether a column has one of these names, or a name of one of these patterns; `all` are all.

    >>> matches("C12", ("C*",)), matches("price", ("C*", "all")), matches("C", ("c",))
    (True, True, False)
    """
    return column is not None and any(
        pattern in (column, "all") or fnmatchcase(column, pattern) for pattern in patterns
    )


def is_pattern(name: str) -> bool:
    """Whether a name is a pattern, which may stand for several columns."""
    return name == "all" or any(letter in name for letter in "*?[")


MOST_BINS = 1024  # bins, or hinges, of a column
LONGEST = MOST_SKIPS = 9  # words
MOST_COMBINATIONS = 1 << 20  # combinations of fields
COUNTED = re.compile(r"(?:(.+)=)?([0-9]+)(?:\+([0-9]+))?", re.DOTALL)  # COLUMN=N+K


class ColumnSpec(NamedTuple):
    """The specification for a column: the number of bins or hinges, or the words that n-grams have and may skip."""

    column: str
    size: int
    skips: int | None = None

    @classmethod
    def parse(cls, text: Any) -> ColumnSpec | None:
        """The specification that a text is; None if it is none. Without a column it stands for all.

        >>> ColumnSpec.parse("review=3+1"), ColumnSpec.parse("2"), ColumnSpec.parse("price")
        (ColumnSpec(column='review', size=3, skips=1), ColumnSpec(column='*', size=2, skips=None), None)
        """
        found = None if isinstance(text, bool) or not isinstance(text, (str, int)) else COUNTED.fullmatch(str(text))
        return found and cls(found[1] or "*", int(found[2]), None if found[3] is None else int(found[3]))

    def __str__(self) -> str:
        return f"{self.column}={self.size}" + ("" if self.skips is None else f"+{self.skips}")


def _items(given: Any, refusal: Callable[[Any], OuzelError]) -> Iterable[Any]:
    """The specifications in a mapping of columns to sizes, in a list, or a single one."""
    if isinstance(given, Mapping):
        return [f"{column}={size}" for column, size in given.items()]
    if isinstance(given, (str, int)):
        return [given]
    if not isinstance(given, Iterable):
        raise refusal(given)
    return given


def _in_order(specs: Iterable[ColumnSpec], twice: str, subject: str = "") -> tuple[str, ...]:
    """Specifications as they are kept; `twice` is the error where two are of one column."""
    found: dict[str, str] = {}
    for spec in specs:
        if spec.column in found:
            raise OuzelError(twice.format(repr(spec.column)), subject=subject)
        found[spec.column] = str(spec)
    return tuple(sorted(found.values()))


def as_bins(given: Any, what: str = "bins") -> tuple[str, ...]:
    """Bins, or hinges, as they are kept: how many for each column, or pattern.

    >>> as_bins({"price": 16}), as_bins(["price=16", "C*=4"])
    (('price=16',), ('C*=4', 'price=16'))
    """

    def parsed(text: Any) -> ColumnSpec:
        spec = ColumnSpec.parse(text) if isinstance(text, str) and "=" in text else None
        if spec is None or spec.skips is not None:
            raise _bad_bins(text, what)
        if not 2 <= spec.size <= MOST_BINS:
            count = text.rpartition("=")[2]
            raise OuzelError(f"of a column are 2 to {MOST_BINS}; got {count} of {spec.column!r}", subject=what)
        return spec

    specs = map(parsed, _items(given, partial(_bad_bins, what=what)))
    return _in_order(specs, "of {} are asked for twice; leave one of them out", what)


def _bad_bins(given: Any, what: str) -> OuzelError:
    return OuzelError(f"are a column and how many there are to be, such as price=16; got {given!r}", subject=what)


def as_ngrams(given: Any, skips: int = 0) -> tuple[str, ...]:
    """N-grams as they are kept: how many words for each column, or pattern, and how many may be skipped.

    >>> as_ngrams([2, "review=3+0"], skips=1), as_ngrams({"title": 2})
    (('*=2+1', 'review=3+0'), ('title=2+0',))
    """

    def parsed(text: Any) -> ColumnSpec:
        spec = ColumnSpec.parse(text)
        if spec is None:
            raise _bad_ngrams(text)
        skipped = skips if spec.skips is None else spec.skips
        if not (2 <= spec.size <= LONGEST and skipped <= MOST_SKIPS):
            found = f"got {spec.size} words, {skipped} skipped"
            raise OuzelError(f"n-grams are of 2 to {LONGEST} words, and skip 0 to {MOST_SKIPS}; {found}")
        return spec._replace(skips=skipped)

    specs = map(parsed, _items(given, _bad_ngrams))
    return _in_order(specs, "n-grams of {} are asked for twice; leave one of them out")


def _bad_ngrams(given: Any) -> OuzelError:
    return OuzelError(f"n-grams are a number of words, such as 2, or review=3 of one column; got {given!r}")


@lru_cache(1 << 6)
def _parsed(specs: tuple[str, ...]) -> dict[str, ColumnSpec]:
    """Specifications by column, or pattern, as they are kept."""
    return {spec.column: spec for spec in map(ColumnSpec.parse, specs) if spec is not None}


def columns_of(specs: tuple[str, ...]) -> tuple[str, ...]:
    """The names and patterns of the columns of bins, hinges or n-grams.

    >>> columns_of(("C*=4", "price=16"))
    ('C*', 'price')
    """
    return tuple(_parsed(specs))


@lru_cache(1 << 10)
def spec_for(specs: tuple[str, ...], column: str) -> ColumnSpec | None:
    """The specification of bins, hinges or n-grams that applies to a column; the more particular name counts.

    >>> spec_for(("*=2+1", "review=3+0"), "review"), spec_for(("*=2+1",), "title").size, spec_for((), "title")
    (ColumnSpec(column='review', size=3, skips=0), 2, None)
    """
    found = [(name == column, len(name), name) for name in columns_of(specs) if matches(column, (name,))]
    return _parsed(specs)[max(found)[-1]] if found else None


def bin_names(column: str, edges: tuple[float, ...]) -> list[str]:
    """The names of the bins of a column.

    >>> bin_names("price", (2.5, 7.0))
    ['price=[-inf,2.5)', 'price=[2.5,7)', 'price=[7,inf)']
    """
    shown = ["-inf", *map(_shown, edges), "inf"]
    return [f"{column}=[{low},{high})" for low, high in pairwise(shown)]


def hinge_names(column: str, edges: tuple[float, ...]) -> list[str]:
    """The names of the hinges of a column.

    >>> hinge_names("price", (2.5, 7.0))
    ['price>2.5', 'price>7']
    """
    return [f"{column}>{_shown(edge)}" for edge in edges]


def _shown(edge: float) -> str:
    """A number in the fewest digits that identify it in single precision."""
    return str(np.float32(edge)).removesuffix(".0")


def as_crosses(given: Any) -> tuple[str, ...]:
    """Crosses as they are kept: each once, its columns in order.

    >>> as_crosses(["device*city", ("city", "device"), "*:*", ("price", "price")])
    ('*:*', 'city*device', 'price*price')
    """
    crosses = [given] if isinstance(given, str) else given
    if not isinstance(crosses, Iterable):
        raise OuzelError(f"crosses is a list of such as 'city*device' or ('city', 'device'); got {given!r}")
    return tuple(sorted({written(columns_in_cross(cross)) for cross in crosses}))


def columns_in_cross(cross: Any) -> tuple[str, ...]:
    """The names, or patterns, of the columns of a cross.

    >>> columns_in_cross("city*device"), columns_in_cross("C*:device")
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
    """The fields that are multiplied with each other (m, k), as positions in their names, and how many each time (m,).

    A pattern crosses no field with itself. A combination that comes out twice is made once.
    """
    found: set[tuple[str, ...]] = set()
    for cross in crosses:
        names = columns_in_cross(cross)
        lists = [[name for name in set(fields) if matches(name, (column,))] for column in names]
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
def crossed_columns(crosses: tuple[str, ...]) -> tuple[str, ...]:
    """The names and patterns of all columns that are crossed."""
    return tuple(sorted({name for cross in crosses for name in columns_in_cross(cross)}))


class DerivedFeatures(NamedTuple):
    """Specifications of all derived features; false if there are none.

    >>> str(DerivedFeatures(("city*device",), ("review=2+0",))), str(DerivedFeatures())
    ('the crosses city*device and the n-grams review=2+0', 'no crosses, n-grams, bins or hinges')
    """

    crosses: tuple[str, ...] = ()  # each field as `as_crosses`, `as_ngrams` or `as_bins` returns it
    ngrams: tuple[str, ...] = ()
    bins: tuple[str, ...] = ()
    hinges: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(map(len, self))

    def __str__(self) -> str:
        kinds = dict(zip(("crosses", "n-grams", "bins", "hinges"), self, strict=True))
        said = [f"the {kind} {', '.join(made)}" for kind, made in kinds.items() if made]
        return " and ".join(said) or "no crosses, n-grams, bins or hinges"

    def in_order(self, skips: int = 0) -> DerivedFeatures:
        """These as they are kept; `skips` is how many words n-grams may skip that do not say it themselves."""
        bins, hinges = as_bins(self.bins), as_bins(self.hinges, "hinges")
        both = set(columns_of(bins)) & set(columns_of(hinges))
        if both:
            raise OuzelError(
                f"{min(both)!r} is to have bins, which take the place of numbers, and hinges; leave one out"
            )
        return DerivedFeatures(as_crosses(self.crosses), as_ngrams(self.ngrams, skips), bins, hinges)

    @property
    def of_numbers(self) -> bool:
        """Whether there are bins or hinges."""
        return bool(self.bins or self.hinges)

    @property
    def scalar_columns(self) -> tuple[str, ...]:
        """The names and patterns of the columns whose single feature in a row is an input."""
        return (*crossed_columns(self.crosses), *columns_of(self.bins), *columns_of(self.hinges))

    @property
    def fields(self) -> tuple[str, ...]:
        """The names and patterns of all columns, and namespaces, whose features are inputs."""
        return tuple(dict.fromkeys((*self.scalar_columns, *columns_of(self.ngrams))))
