"""Positions of delimiters in a text (blanks, quotation marks, line ends), found for a whole chunk before it is parsed.

64 bytes are searched at a time, so that no word waits for the end of the word before it (Langdale and Lemire 2019,
"Parsing Gigabytes of JSON per Second").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.kernels.ascii import not_ascii
from ouzel.kernels.bytes import LOOKED_AT, equal_to, ones, trailing_zeros
from ouzel.kernels.jit import force_inline, kernel, kernel_of

ZERO, ONE, THREE, EIGHT = (np.uint64(number) for number in (0, 1, 3, 8))
SPARE = 64  # places behind the last position, all of them `stop`
BLANK, NEWLINE = np.uint8(32), np.uint8(10)


def make_scanner(owner: str, marks: Callable[..., Any], is_delimiter: Callable[..., Any]) -> Any:
    """Make a kernel of the module `owner`; `marks` returns a bit for each of 64 bytes, `is_delimiter` tests one."""

    @kernel_of(owner)
    def scan(data, start, stop, found):
        """Write the positions of delimiters in `data[start:stop]` to `found`, then `stop`; return their number.

        `found` holds all of them and SPARE more.
        """
        count, at, stop = ZERO, np.uint64(start), np.uint64(stop)
        while at + np.uint64(LOOKED_AT) <= stop:
            word = marks(data, at)
            many = ones(word)
            for part in range(np.uint64(0), (many + np.uint64(7)) >> THREE):
                for k in range(8):  # surplus positions are overwritten
                    found[count + EIGHT * part + np.uint64(k)] = at + trailing_zeros(word)
                    word &= word - ONE
            count += many
            at += np.uint64(LOOKED_AT)
        while at < stop:
            found[count] = at
            count += np.uint64(is_delimiter(data[at]))
            at += ONE
        for k in range(SPARE):
            found[count + np.uint64(k)] = stop
        return count

    return scan


@kernel
def count_lines(data, start, stop):
    """Return the number of line ends in `data[start:stop]` (uint8), and whether all of it is ASCII."""
    count, odd, at, stop = ZERO, ZERO, np.uint64(start), np.uint64(stop)
    while at + np.uint64(LOOKED_AT) <= stop:
        count += ones(equal_to(data, at, NEWLINE))
        odd |= not_ascii(data, at)
        at += np.uint64(LOOKED_AT)
    while at < stop:
        count += np.uint64(data[at] == NEWLINE)
        odd |= np.uint64(data[at] >= 128)
        at += ONE
    return count, odd == ZERO


@force_inline
def trim_blanks(data, start, stop):
    """Return a span without the blanks around it."""
    while start < stop and data[start] == BLANK:
        start += ONE
    while stop > start and data[stop - ONE] == BLANK:
        stop -= ONE
    return start, stop
