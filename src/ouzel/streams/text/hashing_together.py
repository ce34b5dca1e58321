"""Hashes of several names at once: what each takes is gathered name by name, then done for sixteen with every step.

Names of up to a dozen bytes or so, behind a prefix, take no branch. Of longer ones all but the end is hashed before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.bytes import eight_bytes
from ouzel.kernels.jit import force_inline, kernel
from ouzel.sketches.hashing import finish_hash, mix_part
from ouzel.streams.text.spans import EIGHT, HALF, LOW, ONE, THREE, ZERO, absorb

TOGETHER = 16  # names that are hashed together
WORD = np.uint64(64)
TWO_WORDS = np.uint64(128)
ALL = np.uint64(2**64 - 1)
FIFTEEN, FOUR_BITS = np.uint64(15), np.uint64(4)


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
def put_name(unhashed, place, word, held, bits, data, at, size, length):
    """Gather the name of `size` > 0 bytes at `data[at]` behind what (word, held, bits) has of it, `length` in all.

    16 bytes from its beginning must be there, and ROOM (of `spans`) behind it.
    """
    first = second = ZERO
    if bits + (size << THREE) >= TWO_WORDS:
        word, first, bits = absorb(word, held, bits, data, at, size)
    else:
        some = min(size, EIGHT)
        low = eight_bytes(data, at) & (ALL >> (WORD - (some << THREE)))
        high = eight_bytes(data, at + EIGHT) & ((ONE << ((size - some) << THREE)) - ONE)
        first = held | (low << bits)
        second = (high << bits) | ((low >> ONE) >> (WORD - ONE - bits))
        bits += size << THREE
    unhashed.words[place] = word
    unhashed.firsts[place], unhashed.seconds[place] = first & LOW, first >> HALF
    unhashed.thirds[place], unhashed.fourths[place] = second & LOW, second >> HALF
    unhashed.parts[place] = bits >> np.uint64(5)
    unhashed.lengths[place] = length


@force_inline
def hash_names(unhashed, count):
    """Hash the first `count` names."""
    words, firsts, seconds, thirds, fourths, parts, lengths, hashes = unhashed
    one, two, three = np.uint32(1), np.uint32(2), np.uint32(3)
    for some in range(ZERO, (np.uint64(count) + FIFTEEN) >> FOUR_BITS):
        for lane in range(TOGETHER):
            k = some * np.uint64(TOGETHER) + np.uint64(lane)
            word, part, many = words[k], firsts[k], parts[k]
            mixed, following = mix_part(word, part), seconds[k]
            word, part = (mixed, following) if many >= one else (word, part)
            mixed, following = mix_part(mixed, following), thirds[k]
            word, part = (mixed, following) if many >= two else (word, part)
            mixed, following = mix_part(mixed, following), fourths[k]
            word, part = (mixed, following) if many >= three else (word, part)
            hashes[k] = finish_hash(word, part, lengths[k])
