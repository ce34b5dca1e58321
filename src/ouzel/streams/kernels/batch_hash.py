"""Hashes of many names at once: each is gathered where it lies, then sixteen are hashed with every step.

What one name needs lies in a lane of a block of LANES names, a line of the block for each part of it, so that one
address says where a name is put. Names of up to a dozen bytes or so, behind a prefix, take no branch. Of longer ones
all but the end is hashed before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.bytes import eight_bytes
from ouzel.kernels.jit import force_inline, kernel
from ouzel.sketches.hashing import finish_hash, mix_part

LANES = 16  # names that are hashed together
BLOCK = 16 * LANES  # numbers that a block takes
WORD = np.uint64(64)
TWO_WORDS = np.uint64(128)
ALL = np.uint64(2**64 - 1)
ROOM = 8  # bytes behind a name that must be there
SEPARATOR = np.uint8(94)  # ^, between a namespace and a name
ZERO, ONE, THREE, FOUR, EIGHT, FIFTEEN, HALF = (np.uint64(number) for number in (0, 1, 3, 4, 8, 15, 32))
FOUR_BITS, FIVE_BITS, EIGHT_BITS = np.uint64(4), np.uint64(5), np.uint64(8)
LOW = np.uint64(2**32 - 1)
ONE_PART, TWO_PARTS, THREE_PARTS = np.uint32(1), np.uint32(2), np.uint32(3)

# The lines of a block.
STATES = np.uint64(0)  # of hashes that are not finished
FIRSTS, SECONDS, THIRDS, FOURTHS = (np.uint64(k * LANES) for k in (1, 2, 3, 4))  # the parts of four bytes that follow
PARTS = np.uint64(5 * LANES)  # how many of those are whole, 0 to 3
SIZES = np.uint64(6 * LANES)  # bytes of the whole name
OWN = 7  # from this line on, a block is the reader's own


class PendingHashes(NamedTuple):
    """Names on the way to their hashes, whole blocks of them."""

    lanes: np.ndarray  # (blocks * BLOCK,) uint32
    hashes: np.ndarray  # (blocks * LANES,) uint32, when all is done
    new: np.ndarray  # (blocks * LANES,) uint32, which of them are new, see `seen_set`


@force_inline
def hash_update(word, held, bits, data, at, size):
    """Hash `size` bytes more from `data[at]` on; ROOM bytes behind them must be there."""
    while size >= FOUR:
        held |= (eight_bytes(data, at) & LOW) << bits
        word = mix_part(word, np.uint32(held))
        held >>= HALF
        at += FOUR
        size -= FOUR
    rest = size << THREE
    held |= (eight_bytes(data, at) & ((ONE << rest) - ONE)) << bits
    bits += rest
    if bits >= HALF:
        word = mix_part(word, np.uint32(held))
        held >>= HALF
        bits -= HALF
    return word, held, bits


@force_inline
def hash_update_byte(word, held, bits, byte):
    """Hash one byte more."""
    held |= np.uint64(byte) << bits
    bits += EIGHT
    if bits == HALF:
        word = mix_part(word, np.uint32(held))
        held = bits = ZERO
    return word, held, bits


@force_inline
def hash_update_bytes(word, held, bits, data, start, stop):
    """Hash `data[start:stop]`, byte by byte: whatever lies behind."""
    for k in range(np.uint64(start), np.uint64(stop)):
        word, held, bits = hash_update_byte(word, held, bits, data[k])
    return word, held, bits


@force_inline
def hash_prefix(seed, data, start, stop):
    """The hash, not finished, of a namespace and the separator behind it; of an empty one there is none."""
    word, held, bits = np.uint32(seed), ZERO, ZERO
    if stop > start:
        word, held, bits = hash_update_bytes(word, held, bits, data, start, stop)
        word, held, bits = hash_update_byte(word, held, bits, SEPARATOR)
    return word, held, bits


@kernel
def allocate_names(most):
    """Allocate for so many names, none of them there yet."""
    blocks = (most + LANES - 1) // LANES
    size = blocks * LANES
    return PendingHashes(np.empty(blocks * BLOCK, np.uint32), np.empty(size, np.uint32), np.empty(size, np.uint32))


@force_inline
def lane_of(name):
    """Where the lane of a name begins."""
    name = np.uint64(name)
    return ((name >> FOUR_BITS) << EIGHT_BITS) | (name & FIFTEEN)


@force_inline
def sixteen_bytes(held, bits, data, at, size):
    """Two words of what a hash takes next: so many bits that are held, and `size` > 0 bytes at `data[at]` behind them.

    That is less than 16 bytes in all; as many from `at` on must be there.
    """
    some = min(size, EIGHT)
    low = eight_bytes(data, at) & (ALL >> (WORD - (some << THREE)))
    high = eight_bytes(data, at + EIGHT) & ((ONE << ((size - some) << THREE)) - ONE)
    return held | (low << bits), (high << bits) | ((low >> ONE) >> (WORD - ONE - bits))


@force_inline
def hash_of(word, first, second, third, fourth, parts, length):
    """The hash of a name whose state is `word`, when so many of the parts behind it are mixed, 0 to 3, and the rest."""
    mixed = mix_part(word, first)
    word, part = (mixed, second) if parts >= ONE_PART else (word, first)
    mixed = mix_part(mixed, second)
    word, part = (mixed, third) if parts >= TWO_PARTS else (word, part)
    mixed = mix_part(mixed, third)
    word, part = (mixed, fourth) if parts >= THREE_PARTS else (word, part)
    return finish_hash(word, part, length)


@force_inline
def put_name(pending, name, word, held, bits, data, at, size, length):
    """Gather the name of `size` > 0 bytes at `data[at]` behind what (word, held, bits) has of it, `length` in all.

    16 bytes from its beginning must be there, and ROOM (of `seen_set`) behind it.
    """
    behind = bits + (size << THREE)
    if behind >= TWO_WORDS:
        word, first, behind = hash_update(word, held, bits, data, at, size)
        second = ZERO
    else:
        first, second = sixteen_bytes(held, bits, data, at, size)
    lanes, lane = pending.lanes, lane_of(name)
    lanes[lane] = word
    lanes[lane + FIRSTS], lanes[lane + SECONDS] = first & LOW, first >> HALF
    lanes[lane + THIRDS], lanes[lane + FOURTHS] = second & LOW, second >> HALF
    lanes[lane + PARTS] = behind >> FIVE_BITS
    lanes[lane + SIZES] = length


@force_inline
def put_hashed_name(pending, name, word, held, length):
    """Gather a name all of whose whole parts are hashed in `word`; `held` are the bytes behind them."""
    lanes, lane = pending.lanes, lane_of(name)
    lanes[lane], lanes[lane + FIRSTS], lanes[lane + PARTS], lanes[lane + SIZES] = word, held, ZERO, length


@force_inline
def hash_names(pending, count):
    """Hash the first `count` names."""
    lanes, hashes = pending.lanes, pending.hashes
    for block in range(ZERO, (np.uint64(count) + FIFTEEN) >> FOUR_BITS):
        start, to = block << EIGHT_BITS, block << FOUR_BITS
        for lane in range(LANES):
            at = start + np.uint64(lane)
            first, second = lanes[at + FIRSTS], lanes[at + SECONDS]
            third, fourth = lanes[at + THIRDS], lanes[at + FOURTHS]
            parts, size = lanes[at + PARTS], lanes[at + SIZES]
            hashes[to + np.uint64(lane)] = hash_of(lanes[at], first, second, third, fourth, parts, size)
