"""Blocks whose numbers are parted into bins, or have hinges beside them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import ClassVar

import numpy as np

from ouzel.sketches.hashing import feature_id
from ouzel.streams.bins.edges import Edges
from ouzel.streams.bins.naming import bin_names, count_of, hinge_names
from ouzel.streams.bins.rows import BINS, HINGES, NEITHER, Table, bin_entries, bin_rows, count_binned
from ouzel.streams.block import Block, Names
from ouzel.streams.derived.factors import Factors
from ouzel.streams.derived.making import Given, Made, Maker
from ouzel.streams.options import Options

Plan = tuple[Table, list[str]]  # and the names of all bins and hinges


class Binner(Maker):
    """Makes the bins and hinges that the options of a stream ask for, once their edges are known."""

    kind: ClassVar[str] = "bins and hinges"

    def __init__(self, options: Options, edges: Edges) -> None:
        super().__init__(options)
        self.edges = edges
        self.seed = options.seed

    def plan(self, names: tuple[str, ...]) -> Plan:
        """The edges of each field, and the features that its numbers become."""
        kinds: list[int] = []
        called: list[list[str]] = []
        edges = [self.edges.found.get(name, ()) for name in names]
        for name, known in zip(names, edges, strict=True):
            binned = count_of(self.edges.bins, name) > 0
            made = bin_names(name, known) if binned else hinge_names(name, known)
            some = name in self.edges.found
            kinds.append((BINS if binned else HINGES) if some else NEITHER)
            called.append(made if some else [])
        hashes = [feature_id(name, self.seed, 32) for some in called for name in some]
        own = [self.edges.own_hash(name) for name in names]
        table = Table(
            np.array(sorted(range(len(names)), key=names.__getitem__), np.int64),
            np.array(kinds, np.int64),
            np.array(own, np.uint64),
            np.array([edge for some in edges for edge in some], np.float64),
            np.array([0, *accumulate(map(len, edges))], np.int64),
            np.array(hashes, np.uint64),
            np.array([0, *accumulate(map(len, called))], np.int64)[:-1],
        )
        return table, [name for some in called for name in some]

    def count(self, plan: Plan, factors: Factors, counts: np.ndarray) -> int:
        """How many bins and hinges each row has at most."""
        count_binned(factors.entries, plan[0], counts)
        return 1

    def make(self, plan: Plan, factors: Factors, given: Given, made: Made) -> int:
        """Look up the bins of numbers."""
        bin_rows(given, plan[0], self.mask, made)
        return 0

    def names(self, plan: Plan, factors: Factors, made: Made, named: int) -> Names | None:
        """The names of all bins and hinges, once."""
        if self.told.count:
            return None
        self.told.count = 1
        table, called = plan
        ids = (table.hashes & self.mask).astype(np.uint32)
        return Names.joined(Names.of_one(int(feature), name) for feature, name in zip(ids, called, strict=True))

    def parts(self, block: Block, whole: bool = False) -> Iterator[Block]:
        """A block with bins in place of numbers, and hinges beside them; what is made of its factors sees bins, too."""
        assert block.factors is not None
        if not self.edges.fixed:
            yield block
            return
        binned = self._binned(block.factors)
        for part in super().parts(block, whole):
            assert part.factors is not None
            bounds = part.factors.entries.bounds
            yield part._replace(factors=binned._replace(entries=binned.entries._replace(bounds=bounds)))

    def _binned(self, factors: Factors) -> Factors:
        """The factors, with bins in place of numbers."""
        table, called = self.plan(factors.names)
        entries = factors.entries
        hashes, values, bins = entries.hashes.copy(), entries.values.copy(), np.empty(len(entries.fields), np.int64)
        bin_entries(table, entries.fields, hashes, values, bins)
        some = bins >= 0
        text = np.frombuffer("".join(called).encode(), np.uint8)
        ends = np.cumsum([0, *(len(name.encode()) for name in called)]).astype(np.uint64) + np.uint64(len(entries.text))
        starts, stops, whole = entries.starts.copy(), entries.ends.copy(), entries.whole.copy()
        starts[some], stops[some], whole[some] = ends[:-1][bins[some]], ends[1:][bins[some]], True
        moved = entries._replace(
            hashes=hashes,
            values=values,
            starts=starts,
            ends=stops,
            whole=whole,
            text=np.concatenate([entries.text, text]) if some.any() else entries.text,
        )
        return factors._replace(entries=moved)
