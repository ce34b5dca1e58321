"""Hashes of several names at once: what each takes is gathered name by name, then done for sixteen with every step.

Names of up to a dozen bytes or so, behind a prefix, take no branch. Of longer ones all but the end is hashed before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.bytes import eight_bytes
from ouzel.kernels.jit import force_inline, kernel
from ouzel.sketches.hashing import finish_hash, mix_part
from ouzel.streams.kernels.seen_set import EIGHT, HALF, LOW, ONE, THREE, ZERO, absorb

TOGETHER = 16  # names that are hashed together
WORD = np.uint64(64)
TWO_WORDS = np.uint64(128)
ALL = np.uint64(2**64 - 1)
FIFTEEN, FOUR_BITS, FIVE_BITS = np.uint64(15), np.uint64(4), np.uint64(5)
ONE_PART, TWO_PARTS, THREE_PARTS = np.uint32(1), np.uint32(2), np.uint32(3)


class Unhashed(NamedTuple):
    """Names on the way to their hashes, whole times TOGETHER."""

    words: np.ndarray  # uint32, states
    firsts: np.ndarray  # uint32, the four bytes that come next, and with the next three those behind them
    seconds: np.ndarray
    thirds: np.ndarray
    fourths: np.ndarray
    parts: np.ndarray  # uint32, how many of those are to be mixed, 0 to 3
    lengths: np.ndarray  # uint32, bytes of the whole
    hashes: np.ndarray  # uint32, when all is done


@kernel
def room_to_hash(most):
    """Room for so many names, none of them there yet."""
    size = (most + TOGETHER - 1) // TOGETHER * TOGETHER
    words, parts, lengths = np.zeros(size, np.uint32), np.zeros(size, np.uint32), np.zeros(size, np.uint32)
    firsts, seconds = np.zeros(size, np.uint32), np.zeros(size, np.uint32)
    thirds, fourths = np.zeros(size, np.uint32), np.zeros(size, np.uint32)
    return Unhashed(words, firsts, seconds, thirds, fourths, parts, lengths, np.zeros(size, np.uint32))


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
def put_name(unhashed, place, word, held, bits, data, at, size, length):
    """Gather the name of `size` > 0 bytes at `data[at]` behind what (word, held, bits) has of it, `length` in all.

    16 bytes from its beginning must be there, and ROOM (of `spans`) behind it.
    """
    if bits + (size << THREE) >= TWO_WORDS:
        word, first, bits = absorb(word, held, bits, data, at, size)
        second = ZERO
    else:
        first, second = sixteen_bytes(held, bits, data, at, size)
        bits += size << THREE
    unhashed.words[place] = word
    unhashed.firsts[place], unhashed.seconds[place] = first & LOW, first >> HALF
    unhashed.thirds[place], unhashed.fourths[place] = second & LOW, second >> HALF
    unhashed.parts[place] = bits >> FIVE_BITS
    unhashed.lengths[place] = length


@force_inline
def hash_names(unhashed, count):
    """Hash the first `count` names."""
    words, firsts, seconds, thirds, fourths, parts, lengths, hashes = unhashed
    for some in range(ZERO, (np.uint64(count) + FIFTEEN) >> FOUR_BITS):
        for lane in range(TOGETHER):
            k = some * np.uint64(TOGETHER) + np.uint64(lane)
            hashes[k] = hash_of(words[k], firsts[k], seconds[k], thirds[k], fourths[k], parts[k], lengths[k])
