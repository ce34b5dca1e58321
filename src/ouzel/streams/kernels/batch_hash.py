"""Hashes of names (MurmurHash3): bytes added one after the other, and the last bytes of many names hashed at once.

A hash that is not finished is a state (uint32), and a tail of `bits` / 8 bytes, fewer than four, that wait for more.
Names wait in blocks of LANES: a name has a lane of the block, and a line of the block holds one part of every name. So
one address says where a name is put, and sixteen names are hashed with every instruction. A name of up to a dozen bytes
behind its prefix is put without a branch; of a longer one, all but the end is hashed first.
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
PADDING = 8  # bytes that must be readable behind a name
SEPARATOR = np.uint8(94)  # ^, between a namespace and a name
ZERO, ONE, THREE, FOUR, EIGHT, FIFTEEN, HALF = (np.uint64(number) for number in (0, 1, 3, 4, 8, 15, 32))
FOUR_BITS, FIVE_BITS, EIGHT_BITS = np.uint64(4), np.uint64(5), np.uint64(8)
LOW = np.uint64(2**32 - 1)
ONE_PART, TWO_PARTS, THREE_PARTS = np.uint32(1), np.uint32(2), np.uint32(3)

# The lines of a block of names.
STATES = np.uint64(0)  # of hashes that are not finished
FIRSTS, SECONDS, THIRDS, FOURTHS = (np.uint64(k * LANES) for k in (1, 2, 3, 4))  # the parts of four bytes that follow
PARTS = np.uint64(5 * LANES)  # how many of those are whole, 0 to 3
SIZES = np.uint64(6 * LANES)  # bytes of the whole name
OWN = 7  # the first of the lines that belong to the caller


class PendingHashes(NamedTuple):
    """Names that wait to be hashed, in whole blocks."""

    lanes: np.ndarray  # (blocks * BLOCK,) uint32
    hashes: np.ndarray  # (blocks * LANES,) uint32, filled by `hash_names`
    new: np.ndarray  # (blocks * LANES,) uint32, places of the new ones, see `find_new`


@force_inline
def hash_update(word, tail, bits, data, at, size):
    """Add `size` bytes at `data[at]` to a hash; ROOM bytes behind them must be readable."""
    while size >= FOUR:
        tail |= (eight_bytes(data, at) & LOW) << bits
        word = mix_part(word, np.uint32(tail))
        tail >>= HALF
        at += FOUR
        size -= FOUR
    rest = size << THREE
    tail |= (eight_bytes(data, at) & ((ONE << rest) - ONE)) << bits
    bits += rest
    if bits >= HALF:
        word = mix_part(word, np.uint32(tail))
        tail >>= HALF
        bits -= HALF
    return word, tail, bits


@force_inline
def hash_update_byte(word, tail, bits, byte):
    """Add one byte to a hash."""
    tail |= np.uint64(byte) << bits
    bits += EIGHT
    if bits == HALF:
        word = mix_part(word, np.uint32(tail))
        tail = bits = ZERO
    return word, tail, bits


@force_inline
def hash_update_bytes(word, tail, bits, data, start, stop):
    """Add `data[start:stop]` to a hash, byte by byte: nothing behind them is read."""
    for k in range(np.uint64(start), np.uint64(stop)):
        word, tail, bits = hash_update_byte(word, tail, bits, data[k])
    return word, tail, bits


@force_inline
def hash_prefix(seed, data, start, stop):
    """Begin a hash with the namespace `data[start:stop]` and SEPARATOR; with neither if the namespace is empty."""
    word, tail, bits = np.uint32(seed), ZERO, ZERO
    if stop > start:
        word, tail, bits = hash_update_bytes(word, tail, bits, data, start, stop)
        word, tail, bits = hash_update_byte(word, tail, bits, SEPARATOR)
    return word, tail, bits


@kernel
def allocate_names(most):
    """Allocate blocks for up to `most` names."""
    blocks = (most + LANES - 1) // LANES
    size = blocks * LANES
    return PendingHashes(np.empty(blocks * BLOCK, np.uint32), np.empty(size, np.uint32), np.empty(size, np.uint32))


@force_inline
def lane_of(name):
    """Return the address of the lane of a name, given by its number."""
    name = np.uint64(name)
    return ((name >> FOUR_BITS) << EIGHT_BITS) | (name & FIFTEEN)


@force_inline
def sixteen_bytes(tail, bits, data, at, size):
    """Return the tail of a hash and `size` > 0 bytes at `data[at]` behind it as two words.

    They are fewer than 16 bytes together; 16 bytes from `at` on must be readable.
    """
    some = min(size, EIGHT)
    low = eight_bytes(data, at) & (ALL >> (WORD - (some << THREE)))
    high = eight_bytes(data, at + EIGHT) & ((ONE << ((size - some) << THREE)) - ONE)
    return tail | (low << bits), (high << bits) | ((low >> ONE) >> (WORD - ONE - bits))


@force_inline
def hash_of(word, first, second, third, fourth, parts, length):
    """Finish a hash whose state is `word`: mix 0 to 3 whole parts (`parts`), then the part behind them."""
    mixed = mix_part(word, first)
    word, part = (mixed, second) if parts >= ONE_PART else (word, first)
    mixed = mix_part(mixed, second)
    word, part = (mixed, third) if parts >= TWO_PARTS else (word, part)
    mixed = mix_part(mixed, third)
    word, part = (mixed, fourth) if parts >= THREE_PARTS else (word, part)
    return finish_hash(word, part, length)


@force_inline
def put_name(pending, name, word, tail, bits, data, at, size, length):
    """Put a name of `length` bytes: `size` > 0 bytes at `data[at]` behind a prefix whose hash is (word, tail, bits).

    16 bytes from `at` on must be readable, and ROOM bytes behind the name.
    """
    behind = bits + (size << THREE)
    if behind >= TWO_WORDS:
        word, first, behind = hash_update(word, tail, bits, data, at, size)
        second = ZERO
    else:
        first, second = sixteen_bytes(tail, bits, data, at, size)
    lanes, lane = pending.lanes, lane_of(name)
    lanes[lane] = word
    lanes[lane + FIRSTS], lanes[lane + SECONDS] = first & LOW, first >> HALF
    lanes[lane + THIRDS], lanes[lane + FOURTHS] = second & LOW, second >> HALF
    lanes[lane + PARTS] = behind >> FIVE_BITS
    lanes[lane + SIZES] = length


@force_inline
def put_hashed_name(pending, name, word, tail, length):
    """Put a name of which only the tail is left to hash."""
    lanes, lane = pending.lanes, lane_of(name)
    lanes[lane], lanes[lane + FIRSTS], lanes[lane + PARTS], lanes[lane + SIZES] = word, tail, ZERO, length


@force_inline
def hash_names(pending, count):
    """Hash the first `count` names, into `pending.hashes`."""
    lanes, hashes = pending.lanes, pending.hashes
    for block in range(ZERO, (np.uint64(count) + FIFTEEN) >> FOUR_BITS):
        start, to = block << EIGHT_BITS, block << FOUR_BITS
        for lane in range(LANES):
            at = start + np.uint64(lane)
            first, second = lanes[at + FIRSTS], lanes[at + SECONDS]
            third, fourth = lanes[at + THIRDS], lanes[at + FOURTHS]
            parts, size = lanes[at + PARTS], lanes[at + SIZES]
            hashes[to + np.uint64(lane)] = hash_of(lanes[at], first, second, third, fourth, parts, size)
