"""Numbers as JSON has them: no plus, no zero before other digits, digits on both sides of a point."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import not_digits, trailing_zeros
from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.text.numbers import parse_number
from ouzel.streams.text.plain_features import digits_at, plain_decimal

MOST_DIGITS = np.uint64(17)  # of a whole number
ZERO, ONE, EIGHT = np.uint64(0), np.uint64(1), np.uint64(8)


@force_inline
def _number_end(data, at):
    """Where a number of JSON ends, `at` if it is not one, or is whole and of very many digits.

    Something that is not part of a number must stand behind it.
    """
    start = at
    at += np.uint64(data[at] == 45)
    first = at
    while data[at] - np.uint8(48) <= 9:
        at += ONE
    digits = at - first
    if digits == ZERO or (digits > ONE and data[first] == 48):
        return start
    whole = True
    if data[at] == 46:
        whole = False
        at += ONE
        first = at
        while data[at] - np.uint8(48) <= 9:
            at += ONE
        if at == first:
            return start
    if data[at] == 101 or data[at] == 69:
        whole = False
        at += ONE
        at += np.uint64(data[at] == 43 or data[at] == 45)
        first = at
        while data[at] - np.uint8(48) <= 9:
            at += ONE
        if at == first:
            return start
    return start if whole and digits > MOST_DIGITS else at


@kernel
def _read_slowly(data, at):
    """The number of JSON at `data[at]`, digit by digit, and its end."""
    stop = _number_end(data, at)
    value = 0.0
    if stop > at:
        value, _ = parse_number(data, at, stop)
    return value, stop


@force_inline
def read_plainly(data, at):
    """The number of JSON at `data[at]` and its end if it is written plainly, as most are; else the end is `at`."""
    sign = np.uint64(data[at] == 45)
    first = at + sign
    odd = not_digits(data, first)
    size = trailing_zeros(odd)
    byte = data[first + size]
    if size - ONE < EIGHT and (byte == 44 or byte == 125 or byte <= 32) and (data[first] != 48 or size == ONE):
        value = np.float64(np.int64(digits_at(data, first, size)))
        return -value if sign else value, first + size
    value, _, point, end = plain_decimal(data, first, odd, ZERO)
    byte = data[first + end]
    sound = end > ZERO and (byte == 44 or byte == 125 or byte <= 32) and data[first + end - ONE] != 46
    if sound and data[first] != 45 and (data[first] != 48 or point == ONE):
        return -value if sign else value, first + end
    return 0.0, at


@force_inline
def read_number(data, at):
    """The number of JSON at `data[at]` and its end, which is `at` if there is none to be read here."""
    value, stop = read_plainly(data, at)
    if stop == at:
        value, stop = _read_slowly(data, at)
    return value, stop


@force_inline
def is_whole(data, start, stop):
    """Whether a number is written as whole numbers are: digits, perhaps a minus, which 0 has not."""
    first = start + np.uint64(data[start] == 45)
    for k in range(first, stop):
        if data[k] - np.uint8(48) > 9:
            return False
    return first == start or data[first] != 48
