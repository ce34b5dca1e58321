"""The set of feature ids that were seen before: one bit for all ids that share their last FILTER_BITS bits."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import force_inline, kernel

FILTER_BITS = 24  # bits by which ids are distinguished
ZERO, ONE, SIX, SIXTY_THREE = (np.uint64(number) for number in (0, 1, 6, 63))
ALL_BITS = np.uint32(2**32 - 1)


def empty_seen_set(bits: int) -> np.ndarray:
    """Return an empty set (2^k,) uint64 for ids of `bits` bits."""
    return np.zeros(max(1, 1 << min(bits, FILTER_BITS) >> 6), np.uint64)


def size_of(seen: np.ndarray) -> int:
    """Return how many ids a set can distinguish."""
    return 64 * len(seen)


@force_inline
def is_new_if(seen, identity, present):
    """Add an id if it is `present` (1, else 0); return 1 if it is present and new, else 0. Takes no branch."""
    identity = np.uint64(identity) & ((np.uint64(len(seen)) << SIX) - ONE)
    place, shift = identity >> SIX, identity & SIXTY_THREE
    before = seen[place]
    seen[place] = before | (present << shift)
    return present & ~(before >> shift)


@force_inline
def is_new(seen, identity):
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
        found += is_new_if(seen, hashes[k] & mask, ONE)
    return found


@kernel
def add_ids(seen, ids, new):
    """Add ids; write the places of new ones to `new` (k,) uint32 and return their number."""
    return find_new(seen, ids, np.uint64(len(ids)), ALL_BITS, new)


def new_ids(seen: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Add ids; return the places of those that are new."""
    new = np.empty(len(ids), np.uint32)
    return new[: add_ids(seen, ids, new)]
