"""Where bins end and hinges begin: told by the numbers of a stream's first examples, and then fixed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ouzel.sketches.hashing import feature_id
from ouzel.streams.block import Block
from ouzel.streams.feature_space import own_name
from ouzel.streams.feature_specs import binned_columns, count_of
from ouzel.streams.options import SAMPLE, Options
from ouzel.streams.patterns import matches


class Edges:
    """The edges of bins and hinges, by column: those of the model, or those that the first examples tell."""

    def __init__(self, options: Options) -> None:
        self.bins, self.hinges = options.derived.bins, options.derived.hinges
        self.found: Mapping[str, tuple[float, ...]] = options.space.edges
        self.fixed = bool(self.found)
        self._columns = binned_columns((*self.bins, *self.hinges))
        self._seed = options.seed
        self._rows = options.sample or SAMPLE  # that are yet to be seen
        self._numbers: dict[str, list[np.ndarray]] = {}

    def own_hash(self, column: str) -> int:
        """The hash, of all bits, of what numbers of a column are the value of."""
        return feature_id(own_name(column), self._seed, 32)

    def look(self, block: Block) -> None:
        """Take note of the numbers of a block's examples, until there are enough to tell the edges."""
        if self.fixed:
            return
        if block.factors is None:  # it was made before, or cannot be
            self.fixed, self.found = True, block.space.edges
            return
        entries, names, _ = block.factors
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
        """Have the edges told by what was seen."""
        self.fixed = True
        numbers = {name: np.concatenate(parts) for name, parts in sorted(self._numbers.items())}
        self.found = {name: self._told(name, values) for name, values in numbers.items() if len(values)}
        self._numbers = {}

    def _told(self, name: str, values: np.ndarray) -> tuple[float, ...]:
        bins, hinges = count_of(self.bins, name), count_of(self.hinges, name)
        return bin_edges(values, bins) if bins else hinge_edges(values, hinges)

    def ahead(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """The blocks, of which the first are given out when they have told the edges."""
        rest = iter(blocks)
        held: list[Block] = []
        while not self.fixed and (block := next(rest, None)) is not None:
            held.append(block)
            self.look(block)
        if held and not self.fixed:
            self.fix()
        yield from held
        yield from rest


def bin_edges(values: np.ndarray, count: int) -> tuple[float, ...]:
    """Edges that part numbers (n,) float32 into so many bins of like size, or fewer; a number on an edge is above it.

    Each lies between two numbers, so that one that comes very often has a bin of its own, and has as few digits as it
    can.

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
    """A number of single precision above one, and not above the other, of few digits.

    >>> _between(1.0, 2.0), round(_between(1.4199, 1.4281), 6)
    (1.5, 1.42)
    """
    middle = (below + above) / 2
    rounded = (float(np.float32(f"{middle:.{digits}g}")) for digits in range(1, 10))
    return next((number for number in rounded if below < number < above), above)


def hinge_edges(values: np.ndarray, count: int) -> tuple[float, ...]:
    """So many numbers, or fewer, that part numbers (n,) float32 into parts of like size.

    >>> hinge_edges(np.arange(10, dtype=np.float32), 4)
    (1.0, 3.0, 5.0, 7.0)
    """
    places = np.arange(1, count + 1) / (count + 1)
    return tuple(np.unique(np.quantile(values, places, method="inverted_cdf")).tolist())
