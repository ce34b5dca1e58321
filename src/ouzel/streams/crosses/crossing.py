"""Blocks with the crosses of their factors."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ouzel.streams.crosses.naming import combinations
from ouzel.streams.crosses.rows import count_crosses, cross_rows
from ouzel.streams.derived.factors import Factors
from ouzel.streams.derived.making import Given, Made, Maker

Plan = tuple[np.ndarray, np.ndarray]  # which fields are multiplied with each other, and how many each time


class Crosser(Maker):
    """Makes the crosses that the options of a stream ask for."""

    kind: ClassVar[str] = "crosses"
    separator: ClassVar[str] = "*"
    repeated: ClassVar[bool] = True

    def plan(self, names: tuple[str, ...]) -> Plan:
        """Which fields are multiplied with each other."""
        return combinations(names, self.derived.crosses)

    def count(self, plan: Plan, factors: Factors, counts: np.ndarray) -> int:
        """How many crosses each row has at most."""
        table, sizes = plan
        count_crosses(factors.entries, table, sizes, np.int64(len(factors.names)), counts)
        return int(table.shape[1])

    def make(self, plan: Plan, factors: Factors, given: Given, made: Made) -> int:
        """Multiply."""
        bounds = factors.entries.bounds[given.start : given.stop]
        longest = np.int64(np.diff(bounds).max(initial=0))
        return int(cross_rows(given, *plan, np.int64(len(factors.names)), self.mask, longest, made))
