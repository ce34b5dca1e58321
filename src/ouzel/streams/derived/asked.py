"""What features are to be made of others: bins and hinges, n-grams, and crosses."""

from __future__ import annotations

from typing import NamedTuple

from ouzel.errors import OuzelError
from ouzel.streams.bins import naming as binning
from ouzel.streams.crosses.naming import all_factors, as_crosses
from ouzel.streams.ngrams import naming as joining


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
        bins, hinges = binning.as_bins(self.bins), binning.as_bins(self.hinges, "hinges")
        both = set(binning.columns_of(bins)) & set(binning.columns_of(hinges))
        if both:
            raise OuzelError(
                f"{min(both)!r} is to have bins, which take the place of numbers, and hinges; leave one out"
            )
        return Derived(as_crosses(self.crosses), joining.as_ngrams(self.ngrams, skips), bins, hinges)

    @property
    def of_numbers(self) -> bool:
        """Whether bins or hinges are to be made."""
        return bool(self.bins or self.hinges)

    @property
    def of_one(self) -> tuple[str, ...]:
        """The names and patterns of the columns of whose single features others are made."""
        return (*all_factors(self.crosses), *binning.columns_of((*self.bins, *self.hinges)))

    @property
    def fields(self) -> tuple[str, ...]:
        """The names and patterns of all columns, and namespaces, whose features others are made of."""
        return tuple(dict.fromkeys((*self.of_one, *joining.columns_of(self.ngrams))))
