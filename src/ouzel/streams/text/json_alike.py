"""Members of an object like those of the object before it: the same keys in the same order, written in the same way.

Most are, so little is asked here, by few branches; what is otherwise is left to `json_walk`, member by member.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import eight_bytes
from ouzel.kernels.jit import force_inline
from ouzel.streams.block import LARGEST, LEAST
from ouzel.streams.missing import LENGTHS, TEXT
from ouzel.streams.text.json_dates import may_be_date, put_parts, read_date
from ouzel.streams.text.json_keys import (
    CATEGORIES,
    DATES,
    HEAD,
    HEAD_BITS,
    IGNORED,
    LABEL,
    LAST,
    MET,
    NEXT,
    NUMBERS,
    PART_ROWS,
    PLAIN,
    QUICK,
    SIZE,
    TAIL,
    same_text,
)
from ouzel.streams.text.json_names import put_word
from ouzel.streams.text.json_numbers import read_number
from ouzel.streams.text.json_rows import put_number

ZERO, ONE, TWO, THREE, FOUR, SIX, EIGHT, SIXTY_THREE = (np.uint64(number) for number in (0, 1, 2, 3, 4, 6, 8, 63))
SHORT, MIDDLING = np.uint64(5), np.uint64(13)  # bytes of a key that HEAD and TAIL hold all of
MORE, LAST_ONE = (np.uint64(int.from_bytes(word, "little")) for word in (b'",', b'"}'))
TWO_BYTES = np.uint64(2**16 - 1)

NOTHING = np.zeros(256, np.uint64)
"""By a word's first byte bits of the sizes, modulo 64, of which a word may say nothing, or be a truth value."""
for _size, _text in zip(LENGTHS, TEXT, strict=True):
    NOTHING[_text[0]] |= np.uint64(1 << int(_size))
for _word in ("true", "TRUE", "false", "FALSE"):
    NOTHING[ord(_word[0])] |= np.uint64(1 << len(_word))
NOTHING[[32, 34]] = 2**64 - 1  # a blank before it, or no word at all


@force_inline
def may_say_nothing(data, start, stop):
    """1 if a word, a quotation mark behind it, may be nothing or a truth value, or has blanks around it; else 0."""
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
    at += np.uint64(data[at] == 32)
    while going_on:
        going_on = False
        following = table[key, NEXT]
        size = table[following, SIZE]
        opened = marks[mark]  # which waits for no member before; it should be `at`
        odd = (opened ^ at) | ((eight_bytes(data, opened) ^ table[following, HEAD]) & table[following, HEAD_BITS])
        if odd or table[following, LAST] == stamp:
            break
        start, end = opened + ONE, opened + ONE + size
        if size > SHORT:
            if eight_bytes(data, end - SIX) != table[following, TAIL]:
                break
            if size > MIDDLING and not same_text(keys, following, data, start, size):
                break
        role = table[following, QUICK]
        value_at = end + TWO + np.uint64(data[end + TWO] == 32)
        if data[value_at] == 34:
            word, word_end = value_at + ONE, marks[mark + THREE]
            tail = eight_bytes(data, word_end - ONE) >> EIGHT
            odd = may_say_nothing(data, word, word_end)
            is_date = may_be_date(data, word, word_end) if role == PLAIN else np.uint64(role == DATES)
            if odd or word_end - word > longest or role not in (PLAIN, CATEGORIES, DATES):
                break
            going_on = tail & TWO_BYTES == MORE
            if not going_on and tail & TWO_BYTES != LAST_ONE:
                break
            if is_date:
                seconds, calendar = read_date(data, word, word_end)
                if calendar == ZERO or table[following, PART_ROWS] == ZERO or table[following, MET] == ZERO:
                    break
                put_number(gathered, count, keys, following, seconds)
                count += np.uint64(abs(seconds) > LEAST)
                count, named = put_parts(gathered, count, named, keys, following, calendar)
            else:
                put_word(gathered.names, named, count, keys, following, data, size, word, word_end, mark)
                gathered.values[count] = 1.0
                named += ONE
                count += ONE
            mark += FOUR
            at = word_end + TWO
        else:
            value, behind = read_number(data, value_at)
            byte = data[behind]
            going_on = byte == 44
            if behind == value_at or not (going_on or byte == 125) or not abs(value) <= LARGEST:
                break
            if role <= NUMBERS:
                if table[following, MET] == ZERO:
                    break
                put_number(gathered, count, keys, following, value)
                count += np.uint64(abs(value) > LEAST)
            elif role == LABEL:
                targets[row] = value
            elif role != IGNORED:
                break
            mark += TWO
            at = behind + ONE
        key = following
        table[key, LAST] = stamp
        ended = not going_on
        at += np.uint64(data[at] == 32)
    return at, mark, key, count, named, ended
