"""The edges of bins and hinges: computed from the numbers of a stream's first examples, and then fixed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ouzel.sketches.hashing import feature_id
from ouzel.streams.block import Block
from ouzel.streams.feature_space import column_key
from ouzel.streams.feature_specs import columns_of, matches, spec_for
from ouzel.streams.options import SAMPLE, Options


class Edges:
    """The edges of bins and hinges by column: those of the model, or those of the numbers in the first examples."""

    def __init__(self, options: Options) -> None:
        self.bins, self.hinges = options.derived.bins, options.derived.hinges
        self.found: Mapping[str, tuple[float, ...]] = options.space.edges
        self.fixed = bool(self.found)
        self._columns = (*columns_of(self.bins), *columns_of(self.hinges))
        self._seed = options.seed
        self._rows = options.sample or SAMPLE  # still to be seen
        self._numbers: dict[str, list[np.ndarray]] = {}

    def own_hash(self, column: str) -> int:
        """All bits of the hash of the feature whose values the numbers of a column are."""
        return feature_id(column_key(column), self._seed, 32)

    def observe(self, block: Block) -> None:
        """Collect the numbers of a block's examples, until there are enough for the edges."""
        if self.fixed:
            return
        if block.interaction_inputs is None:  # its features were derived before, or cannot be
            self.fixed, self.found = True, block.space.edges
            return
        entries, names, _ = block.interaction_inputs
        bounds = entries.bounds[: self._rows]
        here = np.concatenate([np.arange(0), *(np.arange(start, stop) for start, stop in bounds.tolist())])
        for place, name in enumerate(names):
            if matches(name, self._columns):
                chosen = here[(entries.fields[here] == place) & (entries.hashes[here] == self.own_hash(name))]
                self._numbers.setdefault(name, []).append(entries.values[chosen])
        self._rows -= len(bounds)
        if self._rows <= 0:
            self.fix()

    def fix(self) -> None:
        """Compute the edges from the numbers seen so far."""
        self.fixed = True
        numbers = {name: np.concatenate(parts) for name, parts in sorted(self._numbers.items())}
        self.found = {name: self._edges_of(name, values) for name, values in numbers.items() if len(values)}
        self._numbers = {}

    def _edges_of(self, name: str, values: np.ndarray) -> tuple[float, ...]:
        bins, hinges = spec_for(self.bins, name), spec_for(self.hinges, name)
        if bins is not None:
            return bin_edges(values, bins.size)
        return hinge_edges(values, hinges.size) if hinges is not None else ()

    def buffered(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """The blocks; the first ones wait until the edges are known."""
        rest = iter(blocks)
        waiting: list[Block] = []
        while not self.fixed and (block := next(rest, None)) is not None:
            waiting.append(block)
            self.observe(block)
        if waiting and not self.fixed:
            self.fix()
        yield from waiting
        yield from rest


def bin_edges(values: np.ndarray, count: int) -> tuple[float, ...]:
    """Edges that split numbers (n,) float32 into `count` bins of similar size, or fewer; a number on one is above it.

    Each edge lies between two numbers, so that a very frequent one has a bin of its own, and has as few digits as
    possible.

    >>> bin_edges(np.array([0, 0, 0, 0, 1, 2, 3, 4], np.float32), 4)
    (0.5, 2.5)
    >>> bin_edges(np.array([3, 3, 5], np.float32), 16)
    (4.0,)
    """
    different, counts = np.unique(values, return_counts=True)
    if len(different) > count:
        wanted = np.arange(1, count) * len(values) / count
        lower = np.unique(np.searchsorted(np.cumsum(counts), wanted))
        lower = lower[lower < len(different) - 1]
    else:
        lower = np.arange(len(different) - 1)
    return tuple(map(_between, different[lower].tolist(), different[lower + 1].tolist()))


def _between(below: float, above: float) -> float:
    """A number of few digits in single precision: above the first, and not above the second.

    >>> _between(1.0, 2.0), round(_between(1.4199, 1.4281), 6)
    (1.5, 1.42)
    """
    middle = (below + above) / 2
    rounded = (float(np.float32(f"{middle:.{digits}g}")) for digits in range(1, 10))
    return next((number for number in rounded if below < number < above), above)


def hinge_edges(values: np.ndarray, count: int) -> tuple[float, ...]:
    """The edges of `count` hinges, or fewer: numbers that split numbers (n,) float32 into parts of similar size.

    >>> hinge_edges(np.arange(10, dtype=np.float32), 4)
    (1.0, 3.0, 5.0, 7.0)
    """
    places = np.arange(1, count + 1) / (count + 1)
    return tuple(np.unique(np.quantile(values, places, method="inverted_cdf")).tolist())
