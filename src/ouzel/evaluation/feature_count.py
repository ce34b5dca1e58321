"""How many different features a stream has had."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import ones
from ouzel.kernels.jit import kernel
from ouzel.streams.block import Block

LIMIT = 1 << 26  # ids beyond are not told apart: a bit each
WORD, LAST, ONE = np.uint64(6), np.uint64(63), np.uint64(1)


@kernel
def mark(seen, indices, start, stop):
    """Mark the ids of `indices[start:stop]` in the bits of `seen` (d,) uint64; return the largest."""
    largest = np.uint32(0)
    for k in range(start, stop):
        feature = indices[k]
        largest = max(largest, feature)
        word = np.uint64(feature) >> WORD
        if word < len(seen):
            seen[word] |= ONE << (np.uint64(feature) & LAST)
    return largest


@kernel
def _count(seen):
    """How many bits are set."""
    count = np.uint64(0)
    for k in range(len(seen)):
        count += ones(seen[k])
    return count


class FeaturesSeen:
    """The ids that a stream has used.

    >>> seen = FeaturesSeen()
    >>> seen.used, seen.largest
    (0, 0)
    """

    def __init__(self) -> None:
        self.largest = 0
        self._seen = np.zeros(1 << 4, np.uint64)

    @property
    def used(self) -> int | None:
        """Number of different ids; None if some lie beyond what can be told apart."""
        return int(_count(self._seen)) if self.largest < LIMIT else None

    @property
    def span(self) -> int:
        """Number of ids up to the largest, from 1, or from 0 if that is used."""
        return self.largest + int(self._seen[0] & ONE)

    def add(self, block: Block) -> None:
        """Take note of a block's features."""
        if not block.nonzeros:
            return
        start, stop = block.offsets[0], block.offsets[-1]
        largest = int(mark(self._seen, block.indices, start, stop))
        if largest >> 6 >= len(self._seen) and len(self._seen) < LIMIT >> 6:
            room = min(LIMIT, 1 << largest.bit_length()) >> 6
            self._seen = np.pad(self._seen, (0, room - len(self._seen)))
            mark(self._seen, block.indices, start, stop)
        self.largest = max(self.largest, largest)
