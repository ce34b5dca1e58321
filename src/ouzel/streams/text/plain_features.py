"""Features written plainly, `17:0.25`: found and read by arithmetic on many bytes at once.

The digits of eight bytes are added up as one word (Lemire 2021, "Number Parsing at a Gigabyte per Second"), and where
numbers end is one word too, a bit a byte (Langdale and Lemire 2019, "Parsing Gigabytes of JSON per Second"). How long a
number is makes no branch to mispredict then, and one feature need not be read before the next is begun.
"""

from __future__ import annotations

import sys

import numpy as np

from ouzel.kernels.bytes import eight_bytes, not_digits, trailing_zeros
from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.text.decimals import POWERS

WINDOW = np.uint64(80 if sys.byteorder == "little" else 2**62)  # bytes that must be there; never, the other way round
TENS = 10 ** np.arange(9, dtype=np.uint64)
ONE, FOUR, SEVEN, EIGHT, TEN, TWO_BYTES, HALF = (np.uint64(n) for n in (1, 4, 7, 8, 10, 16, 32))
ALL_ZEROS, BYTE_PAIRS = np.uint64(0x3030303030303030), np.uint64(0x000000FF000000FF)
HIGH_PAIRS, LOW_PAIRS = np.uint64(100 + (10**6 << 32)), np.uint64(1 + (10**4 << 32))


@force_inline
def digits_at(data, at, count):
    """The number (uint64) that the first `count` of the eight bytes at `data[at]` make, which are digits."""
    empty = HALF - FOUR * count
    word = ((eight_bytes(data, at) ^ ALL_ZEROS) << empty) << empty  # at its end, zeros before
    pairs = word * TEN + (word >> EIGHT)
    return ((pairs & BYTE_PAIRS) * HIGH_PAIRS + ((pairs >> TWO_BYTES) & BYTE_PAIRS) * LOW_PAIRS) >> HALF


@force_inline
def plain_decimal(data, at, odd, start):
    """The number at `data[at + start]` if it is written plainly: (value, first digit, point, end).

    Places are counted from `at`; the end is 0 if it is not, and the point is the end if there is none. Plain is what
    has up to seven digits before a point and eight behind it, perhaps a minus, and no exponent. `odd` are the bits of
    those bytes from `start` on that are not digits.
    """
    sign = (odd >> start) & ONE
    if sign and data[at + start] != 45:
        return 0.0, start, start, np.uint64(0)
    odd &= odd - sign
    start += sign
    point = end = trailing_zeros(odd)
    decimals = np.uint64(0)
    if data[at + point] == 46:
        end = trailing_zeros(odd & (odd - ONE))
        decimals = end - point - ONE
    if point - start - ONE >= SEVEN or decimals > EIGHT:
        return 0.0, start, start, np.uint64(0)
    mantissa = digits_at(data, at + start, point - start) * TENS[decimals]
    mantissa += digits_at(data, at + point + ONE, decimals)
    value = np.float64(np.int64(mantissa)) / POWERS[decimals]
    return -value if sign else value, start, point, end


@force_inline
def plain_number(data, at, odd, start):
    """The number at `data[at + start]` if it is plain, a blank or the line's end behind it: (value, end), as above."""
    value, _, _, end = plain_decimal(data, at, odd, start)
    return value, end if data[at + end] <= 32 else np.uint64(0)


@force_inline
def plain_feature(data, at):
    """The feature `id:value` at `data[at]` if it is written plainly: (id, value, end); the end is `at` if it is not.

    That is with up to eight digits of the id, and a plain number. WINDOW bytes must be there.
    """
    odd = not_digits(data, at)
    colon = trailing_zeros(odd)
    value, end = plain_number(data, at, odd & (odd - ONE), colon + ONE)
    if end == 0 or colon - ONE >= EIGHT or data[at + colon] != 58:
        return np.uint64(0), 0.0, at
    return digits_at(data, at, colon), value, at + end


@kernel
def plain_features(data, at, stop, ids, values, nnz, ordered, previous):
    """Read plain features from `data[at:stop]` into `ids[nnz:]` and `values[nnz:]` up to the first that is not.

    Returns (at, nnz, ordered, previous): `ordered` stays true as long as every id is larger than the one before it,
    and no value is 0.
    """
    at, stop = np.uint64(at), np.uint64(stop)
    while at < stop and at + WINDOW <= np.uint64(len(data)):
        if data[at] == 32:
            at += ONE
            continue
        identity, value, end = plain_feature(data, at)
        if end == at or end > stop:
            break
        at = end
        ids[nnz] = identity
        values[nnz] = value
        ordered &= (np.int64(identity) > previous) & (values[nnz] != 0.0)
        previous = np.int64(identity)
        nnz += 1
    return at, nnz, ordered, previous
