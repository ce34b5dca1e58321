"""Recognition of truth values in words and bytes: `true` and `false` in any case.

`values.py` and `labels.py` say what they mean as features and as labels.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import force_inline, kernel

FALSE, TRUE, NEITHER = 0, 1, -1
TRUTHS = {"true": True, "false": False}  # by the word in small letters
SPELLINGS = (*TRUTHS, *map(str.upper, TRUTHS))  # their first and last letters are those of all spellings
LOWER = 32  # the bit in which small letters of ASCII differ from large ones


@force_inline
def _letter(data, at):
    return data[at] | LOWER


@force_inline
def may_be_truth(data, start, size):
    """Whether `size` bytes from `data[start]` on may be a truth value, by their number and the first of them."""
    letter = data[start] | LOWER
    return ((letter == 116) | (letter == 102)) and (size == 4 or size == 5)


@force_inline
def truth_of(data, start, size):
    """TRUE or FALSE if `size` bytes from `data[start]` (uint8) on are a truth value, else NEITHER."""
    if size != 4 and size != 5:
        return NEITHER
    at = start + size  # from the end, for both words end alike
    if _letter(data, at - 1) != 101:
        return NEITHER
    if size == 4:
        found = _letter(data, start) == 116 and _letter(data, at - 3) == 114 and _letter(data, at - 2) == 117
        return TRUE if found else NEITHER
    found = _letter(data, start) == 102 and _letter(data, at - 4) == 97
    found &= _letter(data, at - 3) == 108 and _letter(data, at - 2) == 115
    return FALSE if found else NEITHER


@force_inline
def is_large_truth(data, start, stop):
    """Whether the bytes `data[start:stop]` (uint8) are a truth value with capital letters."""
    if truth_of(data, np.int64(start), np.int64(stop) - np.int64(start)) == NEITHER:
        return False
    large = False
    for k in range(start, stop):
        large |= data[k] & LOWER == 0
    return large


@force_inline
def lower(data, start, size):
    """Write `size` letters of ASCII from `data[start]` on as small ones."""
    for k in range(size):
        data[start + k] |= LOWER


@kernel
def find_large(offsets, data, valid, found):
    """Write to `found` where truth values with capital letters lie, without blanks around them; return how many."""
    count = 0
    for i in range(len(valid)):
        start, stop = offsets[i], offsets[i + 1]
        while start < stop and data[start] == 32:
            start += 1
        while stop > start and data[stop - 1] == 32:
            stop -= 1
        if valid[i] and is_large_truth(data, start, stop):
            found[count, 0], found[count, 1] = start, stop - start
            count += 1
    return count


@kernel
def make_small(data, found):
    """Write truth values, by their starts and sizes in `found` (k, 2), in small letters."""
    for k in range(len(found)):
        lower(data, found[k, 0], found[k, 1])
