"""Names of columns, and patterns that stand for several."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache


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
