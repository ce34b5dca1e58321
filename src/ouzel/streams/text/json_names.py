"""Names of some rows of a JSON file: gathered as they are met, `key=word`, then hashed together.

What one name needs lies in a lane of a block of LANES, a line of the block for each part of it: so sixteen names are
hashed with every step, and a name is put where one address says.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.streams.text.hashing_together import (
    FIFTEEN,
    FIVE_BITS,
    FOUR_BITS,
    TOGETHER,
    TWO_WORDS,
    hash_of,
    sixteen_bytes,
)
from ouzel.streams.text.json_keys import BITS, HELD, STATE
from ouzel.streams.text.spans import HALF, LOW, ONE, THREE, ZERO, absorb, first_met, note

LANES = TOGETHER
TWO, EIGHT_BITS = np.uint64(2), np.uint64(8)

# The lines of a block, all uint32.
STATES = np.uint64(0)  # of hashes that are not finished
PARTS = tuple(np.uint64(k * LANES) for k in (1, 2, 3, 4))  # of four bytes that come next
MANY = np.uint64(5 * LANES)  # how many of those parts are whole, 0 to 3
SIZES = np.uint64(6 * LANES)  # bytes of the whole name
PLACES = np.uint64(7 * LANES)  # of the feature in its row
MARKS = np.uint64(
    8 * LANES
)  # the mark before the key, where all between marks is the name; else NONE or IN_KEYS, and then
STARTS, ENDS = np.uint64(9 * LANES), np.uint64(10 * LANES)  # where the key is, nothing of a number's own name
WORDS, WORD_ENDS = np.uint64(11 * LANES), np.uint64(12 * LANES)
NONE = np.uint64(2**32 - 1)
IN_KEYS = np.uint64(2**32 - 2)  # the same of a name that stands in the text of the keys
TEXT_OF_KEYS = np.uint64(1 << 32)  # what is added to the places of its span
BLOCK = 16 * LANES  # a block takes so many places


@force_inline
def lane_of(name):
    """Where the lane of a name begins."""
    return ((name >> FOUR_BITS) << EIGHT_BITS) | (name & FIFTEEN)


@force_inline
def _put_name(lanes, lane, place, state, held, bits, data, word, word_end, size):
    """Gather the name of the feature at a place of its row: `size` bytes, of which (state, held, bits) has some.

    The others are `data[word:word_end]`, not nothing. 16 bytes from there must be there, and 8 behind.
    """
    rest = word_end - word
    behind = bits + (rest << THREE)
    if behind >= TWO_WORDS:
        state, first, behind = absorb(state, held, bits, data, word, rest)
        second = ZERO
    else:
        first, second = sixteen_bytes(held, bits, data, word, rest)
    lanes[lane] = state
    lanes[lane + PARTS[0]], lanes[lane + PARTS[1]] = first & LOW, first >> HALF
    lanes[lane + PARTS[2]], lanes[lane + PARTS[3]] = second & LOW, second >> HALF
    lanes[lane + MANY] = behind >> FIVE_BITS
    lanes[lane + SIZES] = size
    lanes[lane + PLACES] = place


@force_inline
def put_word(lanes, name, place, keys, key, data, key_size, word, word_end, mark):
    """Gather the name `key=word`, its key behind a mark and its word between others."""
    lane = lane_of(name)
    state, held, bits = np.uint32(keys.table[key, STATE]), keys.table[key, HELD], keys.table[key, BITS]
    _put_name(lanes, lane, place, state, held, bits, data, word, word_end, key_size + ONE + word_end - word)
    lanes[lane + MARKS] = mark


@force_inline
def put_odd_word(lanes, name, place, keys, key, data, start, end, word, word_end, mark):
    """Gather the name `key=word`, whose key is `data[start:end]`, wherever its word is; `mark` says what `data` is."""
    put_word(lanes, name, place, keys, key, data, end - start, word, word_end, mark)
    lane = lane_of(name)
    lanes[lane + STARTS], lanes[lane + ENDS] = start, end
    lanes[lane + WORDS], lanes[lane + WORD_ENDS] = word, word_end


@force_inline
def put_own_name(lanes, name, place, seed, data, start, end):
    """Gather the name of a number, `data[start:end]`."""
    lane = lane_of(name)
    _put_name(lanes, lane, place, np.uint32(seed), ZERO, ZERO, data, start, end, end - start)
    lanes[lane + MARKS] = NONE
    lanes[lane + STARTS], lanes[lane + ENDS] = ZERO, ZERO
    lanes[lane + WORDS], lanes[lane + WORD_ENDS] = start, end


@force_inline
def hash_names(lanes, count, hashes):
    """Hash the first `count` names."""
    for block in range(ZERO, (count + FIFTEEN) >> FOUR_BITS):
        start, to = block << EIGHT_BITS, block << FOUR_BITS
        for lane in range(LANES):
            at = start + np.uint64(lane)
            first, second = lanes[at + PARTS[0]], lanes[at + PARTS[1]]
            third, fourth = lanes[at + PARTS[2]], lanes[at + PARTS[3]]
            many, size = lanes[at + MANY], lanes[at + SIZES]
            hashes[to + np.uint64(lane)] = hash_of(lanes[at], first, second, third, fourth, many, size)


@force_inline
def _which_are_new(count, hashes, mask, noted, fresh):
    """Write to `fresh` which of the first `count` names are new, without a branch for each; return their number."""
    many = ZERO
    for name in range(count):
        fresh[many] = name
        many += first_met(noted, hashes[name] & mask, ONE)
    return many


@force_inline
def note_names(gathered, count, mask, noted, marks, spans, names):
    """Note those of the first `count` names that are new, each as that of its id."""
    lanes, hashes, fresh = gathered.names, gathered.name_hashes, gathered.fresh
    for k in range(_which_are_new(count, hashes, mask, noted, fresh)):
        name = np.uint64(fresh[k])
        lane, identity = lane_of(name), hashes[name] & mask
        mark = np.uint64(lanes[lane + MARKS])
        if mark < IN_KEYS:
            key = marks[mark] + ONE, marks[mark + ONE]
            word, word_end = marks[mark + TWO] + ONE, marks[mark + TWO + ONE]
        else:
            text = TEXT_OF_KEYS if mark == IN_KEYS else ZERO
            key = text + np.uint64(lanes[lane + STARTS]), text + np.uint64(lanes[lane + ENDS])
            word, word_end = text + np.uint64(lanes[lane + WORDS]), text + np.uint64(lanes[lane + WORD_ENDS])
        note(spans, names, key, word, word_end, identity)
