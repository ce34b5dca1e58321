"""Which n-grams there are to be: `review=3+1` are those of a column of up to three words, one of them left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from ouzel.errors import OuzelError
from ouzel.streams.patterns import matches

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
        raise _odd(given)
    found: dict[str, str] = {}
    for one in several:
        parted = NGRAM.fullmatch(str(one)) if isinstance(one, (str, int)) and not isinstance(one, bool) else None
        if parted is None:
            raise _odd(one)
        column, size, skipped = parted[1] or "*", int(parted[2]), int(parted[3] or skips)
        if not (2 <= size <= LONGEST and skipped <= MOST_SKIPS):
            raise OuzelError(
                f"n-grams are of 2 to {LONGEST} words, and skip 0 to {MOST_SKIPS}; got {size} words, {skipped} skipped"
            )
        if column in found:
            raise OuzelError(f"n-grams of {column!r} are asked for twice; leave one of them out")
        found[column] = f"{column}={size}+{skipped}"
    return tuple(sorted(found.values()))


def _odd(given: Any) -> OuzelError:
    return OuzelError(f"n-grams are a number of words, such as 2, or review=3 of one column; got {given!r}")


def columns_of(ngrams: tuple[str, ...]) -> tuple[str, ...]:
    """The names and patterns of the columns, or namespaces, that n-grams are made of.

    >>> columns_of(("*=2+1", "review=3+0"))
    ('*', 'review')
    """
    return tuple(ngram.rpartition("=")[0] for ngram in ngrams)


@lru_cache(1 << 10)
def sizes_of(ngrams: tuple[str, ...], column: str) -> tuple[int, int]:
    """Up to how many words the n-grams of a column have, and how many may be skipped; the more particular name counts.

    >>> sizes_of(("*=2+1", "review=3+0"), "review"), sizes_of(("*=2+1",), "title"), sizes_of((), "title")
    ((3, 0), (2, 1), (1, 0))
    """
    names = dict(zip(columns_of(ngrams), ngrams, strict=True))
    found = [(name == column, len(name), name) for name in names if matches(column, (name,))]
    if not found:
        return 1, 0
    size, _, skips = names[max(found)[-1]].rpartition("=")[-1].partition("+")
    return int(size), int(skips)
