"""Counts of a run, with its scores: the distinct features of the stream, and the seconds of each part of the work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ouzel.kernels import jit
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
        return int.from_bytes(self._seen.tobytes()).bit_count() if self.largest < LIMIT else None

    @property
    def span(self) -> int:
        """Number of ids up to the largest, from 1, or from 0 if that is used."""
        return self.largest + int(self._seen[0] & ONE)

    def add(self, block: Block) -> None:
        """Take note of a block's features."""
        self.add_ids(block.indices, block.offsets[0], block.offsets[-1])

    def add_ids(self, ids: np.ndarray, start: int, stop: int) -> None:
        """Take note of the features from `start` to before `stop` of ids (n,) of uint32."""
        if stop == start:
            return
        self.largest = max(self.largest, int(largest_id(ids, start, stop)))
        room = min(LIMIT, 1 << self.largest.bit_length()) >> 6
        if room > len(self._seen):
            self._seen = np.pad(self._seen, (0, room - len(self._seen)))
        mark(self._seen, ids, start, stop)


class Clock:
    """Seconds by part; waiting for kernels to be compiled, in whatever part and thread, is counted as that alone.

    >>> clock = Clock()
    >>> with clock.on("learning"):
    ...     clock.now
    'learning'
    >>> clock.seconds["learning"] > 0.0, clock.seconds["compiling"], clock.now
    (True, 0.0, None)
    """

    def __init__(self) -> None:
        self.seconds = {"reading": 0.0, "learning": 0.0, "compiling": 0.0}
        self.now: str | None = None  # the part under way

    @contextmanager
    def on(self, part: str) -> Iterator[None]:
        """Count what is done within as `part`."""
        self.now = part
        begun, compiled = time.perf_counter(), jit.seconds_compiling()
        try:
            yield
        finally:
            spent = time.perf_counter() - begun
            compiling = min(spent, jit.seconds_compiling() - compiled)
            self.seconds[part] += spent - compiling
            self.seconds["compiling"] += compiling
            self.now = None
