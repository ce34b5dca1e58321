"""Count of the distinct features of a stream."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import ones
from ouzel.kernels.jit import kernel
from ouzel.learners.rows import largest_id
from ouzel.streams.block import Block

LIMIT = 1 << 26  # ids beyond are not told apart: a bit each
WORD, LAST, ONE = np.uint64(6), np.uint64(63), np.uint64(1)
AT_ONCE = np.uint64(32)  # ids that are looked up together, as most are of features seen before


@kernel
def mark(seen, indices, start, stop):
    """Mark the ids of `indices[start:stop]` in the bits of `seen` (d,) uint64; those beyond, anywhere in the last."""
    last = np.uint64(len(seen)) - ONE
    while start < stop:
        end, known = min(start + AT_ONCE, stop), ONE
        for k in range(start, end):
            feature = np.uint64(indices[k])
            known &= seen[min(feature >> WORD, last)] >> (feature & LAST)
        if not known & ONE:
            for k in range(start, end):
                feature = np.uint64(indices[k])
                seen[min(feature >> WORD, last)] |= ONE << (feature & LAST)
        start = end


@kernel
def _count(seen):
    """Count the set bits."""
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
        """Number of distinct ids; None if some are beyond the limit."""
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
        self.largest = max(self.largest, int(largest_id(block.indices, start, stop)))
        room = min(LIMIT, 1 << self.largest.bit_length()) >> 6
        if room > len(self._seen):
            self._seen = np.pad(self._seen, (0, room - len(self._seen)))
        mark(self._seen, block.indices, start, stop)
