"""How many different features a stream has had."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.streams.block import Block

LIMIT = 1 << 26  # ids beyond are not told apart: one byte an id


@kernel
def mark(seen, indices, start, stop):
    """Mark the ids of `indices[start:stop]` in `seen` (d,) uint8; return the largest."""
    largest = np.uint32(0)
    for k in range(start, stop):
        feature = indices[k]
        largest = max(largest, feature)
        if feature < len(seen):
            seen[feature] = 1
    return largest


class FeaturesSeen:
    """The ids that a stream has used.

    >>> seen = FeaturesSeen()
    >>> seen.used, seen.largest
    (0, 0)
    """

    def __init__(self) -> None:
        self.largest = 0
        self._seen = np.zeros(1 << 10, np.uint8)

    @property
    def used(self) -> int | None:
        """Number of different ids; None if some lie beyond what can be told apart."""
        return int(np.count_nonzero(self._seen)) if self.largest < LIMIT else None

    @property
    def span(self) -> int:
        """Number of ids up to the largest, from 1, or from 0 if that is used."""
        return self.largest + int(self._seen[0])

    def add(self, block: Block) -> None:
        """Take note of a block's features."""
        if not block.nonzeros:
            return
        start, stop = block.offsets[0], block.offsets[-1]
        largest = int(mark(self._seen, block.indices, start, stop))
        if largest >= len(self._seen) and len(self._seen) < LIMIT:
            room = min(LIMIT, 1 << largest.bit_length())
            self._seen = np.pad(self._seen, (0, room - len(self._seen)))
            mark(self._seen, block.indices, start, stop)
        self.largest = max(self.largest, largest)
