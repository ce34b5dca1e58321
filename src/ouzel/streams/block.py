"""Blocks: some thousand examples as CSR arrays, which every reader yields and every model takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ouzel.streams.feature_space import NOTHING_KNOWN, FeatureSpace

if TYPE_CHECKING:
    from ouzel.streams.interaction_inputs import InteractionInputs

ROWS = 4096  # of a block of a table, or of data in memory
MOST_ROWS, MOST_CELLS = 1 << 16, 1 << 20  # of a table that are read together
LARGEST = float(np.finfo(np.float32).max)  # of a feature's value, or of a weight
CACHE_LINE_PADDING = 80  # numbers between columns, or those of 2^k rows would share cache lines
LEAST = 2.0**-150  # numbers no further from 0 are 0 in single precision

# A block's arrays are made and freed a hundred times a second. The C library of Linux returns arrays of their size to
# the system, which then fetches the next one page by page, until it has seen a larger one freed.
np.empty(31 << 20, np.uint8)


def rows_at_once(columns: int) -> int:
    """The number of rows that are read together from a table with some columns.

    >>> rows_at_once(10), rows_at_once(10_000)
    (65536, 104)
    """
    return max(1, min(MOST_ROWS, MOST_CELLS // max(1, columns)))


class Names(NamedTuple):
    """Names of features in a block: entry k says that `text[starts[k]:ends[k]]` (UTF-8) hashed to `ids[k]`."""

    ids: np.ndarray  # (k,) uint32, repeats allowed
    starts: np.ndarray  # (k,) uint64
    ends: np.ndarray  # (k,) uint64
    text: np.ndarray  # (bytes,) uint8

    @classmethod
    def of_one(cls, feature: int, name: str) -> Self:
        """The name of one feature."""
        text = np.frombuffer(name.encode(), np.uint8)
        return cls(np.array([feature], np.uint32), np.zeros(1, np.uint64), np.array([len(text)], np.uint64), text)

    @classmethod
    def joined(cls, given: Iterable[Names | None]) -> Names | None:
        """Names from several places in one text."""
        parts = [names for names in given if names is not None]
        if len(parts) < 2:
            return parts[0] if parts else None
        shifts = np.cumsum([0] + [len(part.text) for part in parts[:-1]]).astype(np.uint64)
        return cls(
            np.concatenate([part.ids for part in parts]),
            np.concatenate([part.starts + shift for part, shift in zip(parts, shifts, strict=True)]),
            np.concatenate([part.ends + shift for part, shift in zip(parts, shifts, strict=True)]),
            np.concatenate([part.text for part in parts]),
        )


class Slots(NamedTuple):
    """The slots that a learner has for features, ids + 1 below a limit; before them the constant's 0, if it has one."""

    constant: bool
    limit: int


class Block(NamedTuple):
    """Examples in compressed sparse rows: example i holds `indices[offsets[i]:offsets[i + 1]]` and their `values`.

    Ids are the stream's own (slot 0 is an ordinary id here); an id stands at most once in a row, in any order.
    """

    offsets: np.ndarray  # (n + 1,) uint64
    indices: np.ndarray  # (nnz,) uint32
    values: np.ndarray  # (nnz,) float32, finite
    labels: np.ndarray  # (n,) float64; NaN where the example has none; a position in `label_names` if there are any
    weights: np.ndarray  # (n,) float32, importance, 1 unless given
    groups: np.ndarray | None = None  # (n,) int64, query ids for ranking
    label_names: Sequence[Any] | None = None
    names: Names | None = None
    space: FeatureSpace = NOTHING_KNOWN  # the meaning of the ids
    tags: Any = None  # (n,) names of rows, an array of text or numbers (of NumPy or Arrow)
    numbers: np.ndarray | None = None  # (n,) int64, positions in the stream from 0, where skipped rows count
    interaction_inputs: InteractionInputs | None = None  # what features are derived from, until they are
    in_slots: bool = False  # whether `indices` are slots of a learner that predicts, the constant's first if it has one

    @property
    def rows(self) -> int:
        """Number of examples."""
        return len(self.labels)

    @property
    def nonzeros(self) -> int:
        """Number of stored feature values."""
        return int(self.offsets[-1] - self.offsets[0])

    def slice(self, start: int, stop: int) -> Block:
        """Examples start to stop - 1, as views (offsets keep pointing into the same `indices`)."""
        return self._replace(
            offsets=self.offsets[start : stop + 1],
            labels=self.labels[start:stop],
            weights=self.weights[start:stop],
            groups=None if self.groups is None else self.groups[start:stop],
            tags=None if self.tags is None else self.tags[start:stop],
            numbers=None if self.numbers is None else self.numbers[start:stop],
            interaction_inputs=None if self.interaction_inputs is None else self.interaction_inputs.slice(start, stop),
        )

    def labelled(self) -> Block:
        """The examples that have a label; labels and weights can be written, as kernels are compiled for such."""
        missing = np.isnan(self.labels)
        if missing.any():
            return self.select(np.flatnonzero(~missing))
        if self.labels.flags.writeable and self.weights.flags.writeable:
            return self
        return self._replace(labels=self.labels.copy(), weights=self.weights.copy())

    def parts(self, most: int = ROWS) -> Iterator[Block]:
        """The examples in blocks of at most `most` rows; the first has the names."""
        for row in range(0, self.rows, most):
            yield self.slice(row, min(row + most, self.rows))._replace(names=None if row else self.names)

    def select(self, chosen: np.ndarray) -> Block:
        """The examples at the chosen positions, in that order, as copies."""
        starts, ends = self.offsets[chosen].astype(np.int64), self.offsets[chosen + 1].astype(np.int64)
        lengths = ends - starts
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        at = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        return self._replace(
            offsets=offsets.astype(np.uint64),
            indices=self.indices[at],
            values=self.values[at],
            labels=self.labels[chosen],
            weights=self.weights[chosen],
            groups=None if self.groups is None else self.groups[chosen],
            tags=None if self.tags is None else self.tags.take(chosen),
            numbers=None if self.numbers is None else self.numbers[chosen],
            interaction_inputs=None if self.interaction_inputs is None else self.interaction_inputs.select(chosen),
        )
