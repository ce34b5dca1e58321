"""Members of an object like those of the object before it: the same keys in the same order, written in the same way.

Most are, so little is asked here, by few branches; what is otherwise is left to `json_walk`, member by member.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import eight_bytes
from ouzel.kernels.jit import force_inline
from ouzel.streams.missing import LENGTHS, TEXT
from ouzel.streams.text.json_keys import CATEGORIES, FIRST, IGNORED, LABEL, LAST, MET, NEXT, NUMBERS, ROLE, SEEN, SIZE
from ouzel.streams.text.json_keys import PLAIN, same_rest
from ouzel.streams.text.json_numbers import read_plainly
from ouzel.streams.text.json_names import put_word
from ouzel.streams.text.json_rows import put_number

ZERO, ONE, TWO, THREE, FOUR, EIGHT, SIXTY_THREE = (np.uint64(number) for number in (0, 1, 2, 3, 4, 8, 63))
QUOTE, BLANK = np.uint64(34), np.uint64(32)
COLON, TWO_BYTES = np.uint64(int.from_bytes(b'":', "little")), np.uint64(2**16 - 1)

NOTHING = np.zeros(256, np.uint64)
"""By a word's first byte bits of the sizes, modulo 64, of which a word may say nothing."""
for _size, _text in zip(LENGTHS, TEXT, strict=True):
    NOTHING[_text[0]] |= np.uint64(1 << int(_size))
NOTHING[[32, 34]] = 2**64 - 1  # a blank before it, or no word at all


@force_inline
def may_say_nothing(data, start, stop):
    """Whether a word, a quotation mark behind it, may be nothing, or has blanks around it; if so 1, else 0."""
    size = (stop - start) & SIXTY_THREE
    return ((NOTHING[data[start]] >> size) & ONE) | np.uint64(data[stop - ONE] == 32)


@force_inline
def read_alike(data, at, marks, mark, keys, key, stamp, longest, gathered, count, named, targets, row):
    """Read members from `data[at]` on, behind `key`, as long as they are what followed in the object before.

    `marks[mark]` is not before the first mark from `at` on. Returns (at, mark, key, count, named, ended): where to go
    on, and whether that is behind the object.
    """
    table = keys.table
    going_on, ended = True, False
    while going_on:
        going_on = False
        at += np.uint64(data[at] == 32)
        following = table[key, NEXT]
        opened, end = marks[mark], marks[mark + ONE]
        start = opened + ONE
        size = end - start
        colon = eight_bytes(data, end)
        odd = (opened ^ at) | (np.uint64(data[at]) ^ QUOTE) | (size ^ table[following, SIZE])
        odd |= (eight_bytes(data, start) ^ table[following, FIRST]) & table[following, SEEN]
        odd |= (colon & TWO_BYTES) ^ COLON
        if odd or following == ZERO or table[following, LAST] == stamp:
            break
        if size > EIGHT and not same_rest(keys, following, data, start, size):
            break
        value_at = end + TWO + np.uint64(data[end + TWO] == 32)
        role = table[following, ROLE]
        if data[value_at] == 34:
            word, word_end = value_at + ONE, marks[mark + THREE]
            tail = eight_bytes(data, word_end)
            behind = word_end + ONE
            odd = may_say_nothing(data, word, word_end) | ((tail ^ QUOTE) & np.uint64(255))
            if odd or word_end - word > longest or not (role == PLAIN or role == CATEGORIES):
                break
            byte = data[behind]
            if byte != 44 and byte != 125:
                break
            put_word(gathered.names, named, count, keys, following, data, start, end, word, word_end)
            gathered.values[count] = 1.0
            named += ONE
            count += ONE
            mark += FOUR
        else:
            value, behind = read_plainly(data, value_at)
            byte = data[behind]
            if behind == value_at or (byte != 44 and byte != 125):
                break
            if role <= NUMBERS:
                if table[following, MET] == ZERO:
                    break
                put_number(gathered, count, keys, following, value)
                count += np.uint64(value != 0.0)
            elif role == LABEL:
                targets[row] = value
            elif role != IGNORED:
                break
            mark += TWO
        key = following
        table[key, LAST] = stamp
        going_on = byte == 44
        ended = not going_on
        at = behind + ONE
    return at, mark, key, count, named, ended
