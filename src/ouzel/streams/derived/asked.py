"""What features are to be made of others: crosses, and n-grams."""

from __future__ import annotations

from typing import NamedTuple

from ouzel.streams.crosses.naming import all_factors
from ouzel.streams.ngrams.naming import columns_of


class Derived(NamedTuple):
    """What is made of the features of rows; false if nothing is.

    >>> str(Derived(("city*device",), ("review=2+0",))), str(Derived())
    ('the crosses city*device and the n-grams review=2+0', 'no crosses or n-grams')
    """

    crosses: tuple[str, ...] = ()  # as `crosses.naming.as_crosses` has them
    ngrams: tuple[str, ...] = ()  # as `ngrams.naming.as_ngrams` has them

    def __bool__(self) -> bool:
        return bool(self.crosses or self.ngrams)

    def __str__(self) -> str:
        kinds = {"crosses": self.crosses, "n-grams": self.ngrams}
        said = [f"the {kind} {', '.join(made)}" for kind, made in kinds.items() if made]
        return " and ".join(said) or "no crosses or n-grams"

    @property
    def fields(self) -> tuple[str, ...]:
        """The names and patterns of the columns, and namespaces, whose features others are made of."""
        return tuple(dict.fromkeys((*all_factors(self.crosses), *columns_of(self.ngrams))))
