"""Blocks with the n-grams of their words."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ouzel.streams.derived.factors import Factors
from ouzel.streams.derived.making import Given, Made, Maker
from ouzel.streams.ngrams.naming import sizes_of
from ouzel.streams.ngrams.rows import count_ngrams, join_rows

Plan = tuple[np.ndarray, np.ndarray, np.ndarray]  # fields in the order of their names; their words and skips (fields,)


class NGrams(Maker):
    """Makes the n-grams that the options of a stream ask for."""

    kind: ClassVar[str] = "n-grams"
    separator: ClassVar[str] = " "
    repeated: ClassVar[bool] = False

    def plan(self, names: tuple[str, ...]) -> Plan:
        """How many words, and skips, n-grams of each field have."""
        sizes = np.array([sizes_of(self.derived.ngrams, name) for name in names] or [(1, 0)], np.int64)
        order = sorted(range(len(names)), key=names.__getitem__)
        return np.array(order, np.int64), sizes[:, 0].copy(), sizes[:, 1].copy()

    def count(self, plan: Plan, factors: Factors, counts: np.ndarray) -> int:
        """How many n-grams each row has at most."""
        _, words, skips = plan
        count_ngrams(factors.entries, words, skips, counts)
        return int(words.max())

    def make(self, plan: Plan, factors: Factors, given: Given, made: Made) -> int:
        """Join words."""
        return int(join_rows(given, *plan, self.mask, made))
