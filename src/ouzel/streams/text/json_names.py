"""Names of one row of a JSON file: gathered as they are met, `key=word`, then hashed together.

What one name needs lies in a lane of a block of LANES, a line of the block for each part of it: so sixteen names are
hashed with every step, and a name is put where one address says.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import eight_bytes
from ouzel.kernels.jit import force_inline
from ouzel.sketches.hashing import finish_hash, mix_part
from ouzel.streams.text.json_keys import BITS, HELD, STATE
from ouzel.streams.text.spans import EIGHT, HALF, LOW, ONE, THREE, ZERO, absorb, is_new, note

LANES = 16
FIFTEEN, FOUR_BITS, EIGHT_BITS, SIX_BITS, FIVE_BITS = (np.uint64(n) for n in (15, 4, 8, 63, 5))
WORD, TWO_WORDS, ALL = np.uint64(64), np.uint64(128), np.uint64(2**64 - 1)

# The lines of a block, all uint32.
STATES = np.uint64(0)  # of hashes that are not finished
PARTS = tuple(np.uint64(k * LANES) for k in (1, 2, 3, 4))  # of four bytes that come next
MANY = np.uint64(5 * LANES)  # how many of those parts are whole, 0 to 3
SIZES = np.uint64(6 * LANES)  # bytes of the whole name
PLACES = np.uint64(7 * LANES)  # of the feature in its row
STARTS, ENDS = np.uint64(8 * LANES), np.uint64(9 * LANES)  # of the key, nothing of a number's own name
WORDS, WORD_ENDS = np.uint64(10 * LANES), np.uint64(11 * LANES)
BLOCK = 16 * LANES  # a block takes so many places


@force_inline
def lane_of(name):
    """Where the lane of a name begins."""
    return ((name >> FOUR_BITS) << EIGHT_BITS) | (name & FIFTEEN)


@force_inline
def put_name(lanes, name, place, state, held, bits, data, start, end, word, word_end, size):
    """Gather the name of the feature at a place of its row: `size` bytes, of which (state, held, bits) has some.

    The others are `data[word:word_end]`, not nothing. 16 bytes from there must be there, and 8 behind.
    """
    rest = word_end - word
    first = second = ZERO
    behind = bits + (rest << THREE)
    if behind >= TWO_WORDS:
        state, first, behind = absorb(state, held, bits, data, word, rest)
    else:
        some = min(rest, EIGHT)
        low = eight_bytes(data, word) & (ALL >> (WORD - (some << THREE)))
        high = eight_bytes(data, word + EIGHT) & ((ONE << ((rest - some) << THREE)) - ONE)
        first = held | (low << bits)
        second = (high << bits) | ((low >> ONE) >> (WORD - ONE - bits))
    lane = lane_of(name)
    lanes[lane] = state
    lanes[lane + PARTS[0]], lanes[lane + PARTS[1]] = first & LOW, first >> HALF
    lanes[lane + PARTS[2]], lanes[lane + PARTS[3]] = second & LOW, second >> HALF
    lanes[lane + MANY] = behind >> FIVE_BITS
    lanes[lane + SIZES] = size
    lanes[lane + PLACES] = place
    lanes[lane + STARTS], lanes[lane + ENDS] = start, end
    lanes[lane + WORDS], lanes[lane + WORD_ENDS] = word, word_end


@force_inline
def put_word(lanes, name, place, keys, key, data, start, end, word, word_end):
    """Gather the name `key=word`, whose key is `data[start:end]`."""
    state, held, bits = np.uint32(keys.table[key, STATE]), keys.table[key, HELD], keys.table[key, BITS]
    size = end - start + ONE + word_end - word
    put_name(lanes, name, place, state, held, bits, data, start, end, word, word_end, size)


@force_inline
def put_own_name(lanes, name, place, seed, data, start, end):
    """Gather the name of a number, `data[start:end]`."""
    put_name(lanes, name, place, np.uint32(seed), ZERO, ZERO, data, ZERO, ZERO, start, end, end - start)


@force_inline
def hash_names(lanes, count, hashes):
    """Hash the first `count` names."""
    one, two, three = np.uint32(1), np.uint32(2), np.uint32(3)
    for block in range(ZERO, (count + FIFTEEN) >> FOUR_BITS):
        start, to = block << EIGHT_BITS, block << FOUR_BITS
        for lane in range(LANES):
            at = start + np.uint64(lane)
            many = lanes[at + MANY]
            word, part = lanes[at], lanes[at + PARTS[0]]
            mixed, following = mix_part(word, part), lanes[at + PARTS[1]]
            word, part = (mixed, following) if many >= one else (word, part)
            mixed, following = mix_part(mixed, following), lanes[at + PARTS[2]]
            word, part = (mixed, following) if many >= two else (word, part)
            mixed, following = mix_part(mixed, following), lanes[at + PARTS[3]]
            word, part = (mixed, following) if many >= three else (word, part)
            hashes[to + np.uint64(lane)] = finish_hash(word, part, lanes[at + SIZES])


@force_inline
def note_names(lanes, count, hashes, mask, noted, spans, names):
    """Note those of the first `count` names that are new, each as that of its id."""
    for name in range(count):
        identity = hashes[name] & mask
        if is_new(noted, identity):
            lane = lane_of(name)
            key = np.uint64(lanes[lane + STARTS]), np.uint64(lanes[lane + ENDS])
            word, word_end = np.uint64(lanes[lane + WORDS]), np.uint64(lanes[lane + WORD_ENDS])
            note(spans, names, key, word, word_end, identity)
