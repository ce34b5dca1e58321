"""The set of feature ids seen before: a bit for each id, or for all that share its last FILTER_BITS bits."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import force_inline, kernel

FILTER_BITS = 24  # bits by which ids are told apart
ZERO, ONE, SIX, SIXTY_THREE = (np.uint64(number) for number in (0, 1, 6, 63))
ALL_BITS = np.uint32(2**32 - 1)


def empty_seen_set(bits: int) -> np.ndarray:
    """Return the set (2^k,) uint64 of no id, for ids of so many bits."""
    return np.zeros(max(1, 1 << min(bits, FILTER_BITS) >> 6), np.uint64)


def size_of(seen: np.ndarray) -> int:
    """Return how many ids a set can tell apart."""
    return 64 * len(seen)


@force_inline
def is_new_if(seen, identity, present):
    """Add an id to the set if it is `present` (1, else 0); return 1 if it was and is new, else 0. Takes no branch."""
    identity = np.uint64(identity) & ((np.uint64(len(seen)) << SIX) - ONE)
    place, shift = identity >> SIX, identity & SIXTY_THREE
    before = seen[place]
    seen[place] = before | (present << shift)
    return present & ~(before >> shift)


@force_inline
def is_new(seen, identity):
    """Add an id to the set; return whether it is new. Quick where few ids are."""
    identity = np.uint64(identity) & ((np.uint64(len(seen)) << SIX) - ONE)
    place, bit = identity >> SIX, ONE << (identity & SIXTY_THREE)
    if seen[place] & bit:
        return False
    seen[place] |= bit
    return True


@force_inline
def find_new(seen, hashes, count, mask, new):
    """Add the first `count` hashes, masked, to the set; write the places of new ones to `new`, return their number."""
    found = ZERO
    for k in range(count):
        new[found] = k
        found += is_new_if(seen, hashes[k] & mask, ONE)
    return found


@kernel
def add_ids(seen, ids, new):
    """Add ids to the set; write the places of new ones to `new` (k,) uint32 and return their number."""
    return find_new(seen, ids, np.uint64(len(ids)), ALL_BITS, new)


def new_ids(seen: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Add ids to the set; return the places of those that are new."""
    new = np.empty(len(ids), np.uint32)
    return new[: add_ids(seen, ids, new)]
