"""Names of features that a block emits: readers record where new names lie, then all are copied at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from ouzel.kernels.bytes import COPIED, copy_some
from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.block import Names

FILTER_BITS = 24  # bits by which ids are distinguished
ZERO, ONE, SIX, SIXTY_THREE = (np.uint64(number) for number in (0, 1, 6, 63))
ALL_BITS = np.uint32(2**32 - 1)
MOST_TEXT = np.uint64(1 << 26)  # bytes of names recorded of one chunk, the most that `FeatureNames` keeps
SPAN = 5  # numbers of a span: start and end of the prefix, start and end of the rest, and the id
NOTHING = np.uint8(0)
ALL, EMPTY = slice(None), np.empty(0, np.uint8)


def empty_seen_set(bits: int) -> np.ndarray:
    """Return an empty set (2^k,) uint64 for ids of `bits` bits."""
    return np.zeros(max(1, 1 << min(bits, FILTER_BITS) >> 6), np.uint64)


def size_of(seen: np.ndarray) -> int:
    """Return how many ids a set can distinguish."""
    return 64 * len(seen)


@force_inline
def add_if_present(seen, identity, present):
    """Add an id if it is `present` (1, else 0); return 1 if it is present and new, else 0. Takes no branch."""
    identity = np.uint64(identity) & ((np.uint64(len(seen)) << SIX) - ONE)
    place, shift = identity >> SIX, identity & SIXTY_THREE
    before = seen[place]
    seen[place] = before | (present << shift)
    return present & ~(before >> shift)


@force_inline
def add_if_new(seen, identity):
    """Add an id; return whether it is new. The fastest where few ids are new."""
    identity = np.uint64(identity) & ((np.uint64(len(seen)) << SIX) - ONE)
    place, bit = identity >> SIX, ONE << (identity & SIXTY_THREE)
    if seen[place] & bit:
        return False
    seen[place] |= bit
    return True


@force_inline
def find_new(seen, hashes, count, mask, new):
    """Add the first `count` hashes, masked; write the places of new ones to `new` and return their number."""
    found = ZERO
    for k in range(count):
        new[found] = k
        found += add_if_present(seen, hashes[k] & mask, ONE)
    return found


@kernel
def add_ids(seen, ids, new):
    """Add ids; write the places of new ones to `new` (k,) uint32 and return their number."""
    return find_new(seen, ids, np.uint64(len(ids)), ALL_BITS, new)


def new_ids(seen: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Add ids; return the places of those that are new."""
    new = np.empty(len(ids), np.uint32)
    return new[: add_ids(seen, ids, new)]


class NewNames(NamedTuple):
    """New names where they lie: a span of `prefixes`, a separator if that is not empty, and a span of `text`."""

    prefixes: np.ndarray  # (bytes,) uint8
    text: np.ndarray  # (bytes,) uint8
    spans: np.ndarray  # (k, SPAN) uint64
    size: int  # bytes that they take at most

    @classmethod
    def of(cls, names: Names, which: np.ndarray | slice = ALL, prefix: np.ndarray = EMPTY) -> Self:
        """Return some of the names of a block, each behind the same prefix."""
        ids, starts, ends = names.ids[which], names.starts[which], names.ends[which]
        spans = np.zeros((len(ids), SPAN), np.uint64)
        spans[:, 1], spans[:, 2], spans[:, 3], spans[:, 4] = len(prefix), starts, ends, ids
        return cls(prefix, names.text, spans, int((ends - starts).sum()) + len(prefix) * len(ids))


@force_inline
def record_name(spans, names, prefix, start, stop, identity):
    """Record a name, a prefix (start, stop) and the text from `start` to `stop`, if all fit MOST_TEXT bytes.

    `names` counts the names recorded in `spans` (k, SPAN), and their bytes.
    """
    size = prefix[1] - prefix[0] + ONE + stop - start
    if names[1] + size <= MOST_TEXT:
        span = spans[names[0]]
        span[0], span[1], span[2], span[3], span[4] = prefix[0], prefix[1], start, stop, identity
        names[0] += ONE
        names[1] += size


@force_inline
def copy_text(copied, filled, data, start, stop):
    """Copy `data[start:stop]` to `copied[filled:]`, which has COPIED spare bytes; return the new end."""
    size = stop - start
    if stop + np.uint64(COPIED) <= np.uint64(len(data)):
        for part in range(ZERO, size, np.uint64(COPIED)):
            copy_some(copied, filled + part, data, start + part)
    else:
        for k in range(size):
            copied[filled + k] = data[start + k]
    return filled + size


@kernel
def _write(prefixes, text, spans, separator, filled, names):
    """Copy names to the text from the byte `filled` on; return the new end."""
    ids, starts, ends, copied = names
    for k in range(len(spans)):
        span = spans[k]
        ids[k], starts[k] = span[4], filled
        if span[1] > span[0]:
            filled = copy_text(copied, filled, prefixes, span[0], span[1])
            copied[filled] = separator
            filled += np.uint64(separator != NOTHING)
        filled = copy_text(copied, filled, text, span[2], span[3])
        ends[k] = filled
    return filled


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a view that cannot be written: arrays that come either way are then one type, and compiled for once."""
    view = array.view()
    view.flags.writeable = False
    return view


def copy_names(found: Sequence[NewNames], separator: np.uint8 = NOTHING) -> Names:
    """Copy new names into one text; NOTHING, or a separator, stands behind each prefix that is not empty."""
    count = sum(len(new.spans) for new in found)
    size = sum(new.size for new in found)
    starts, ends = np.empty(count, np.uint64), np.empty(count, np.uint64)
    names = Names(np.empty(count, np.uint32), starts, ends, np.empty(size + COPIED, np.uint8))
    first, filled = 0, ZERO
    for new in found:
        last = first + len(new.spans)
        some = Names(names.ids[first:last], starts[first:last], ends[first:last], names.text)
        texts = read_only(new.prefixes), read_only(new.text)
        filled = np.uint64(_write(*texts, new.spans, separator, filled, some))
        first = last
    return names._replace(text=names.text[:filled])


class NameEmitter:
    """Decides which names the blocks of a stream emit: every block its own, or the whole stream each name once.

    Prefetched blocks may repeat a name all the same: they are read before earlier blocks are given out.
    """

    def __init__(self, bits: int) -> None:
        self.once = False  # emit each name once, for a consumer that keeps names
        self._bits = bits
        self._emitted = empty_seen_set(bits)

    def begin(self) -> np.ndarray:
        """Return the set of ids whose names the next block need not emit; its reader adds to it."""
        return self._emitted.copy() if self.once else empty_seen_set(self._bits)

    def emitted(self, names: Names | None) -> None:
        """Record the names of a block that is given out."""
        if self.once and names is not None:
            add_ids(self._emitted, names.ids, np.empty(len(names.ids), np.uint32))
