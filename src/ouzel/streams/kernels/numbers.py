"""Decimal numbers, and plain features like `17:0.25`, parsed where they lie.

`parse_number` reads any decimal number and rounds it as Python's `float` does. Numbers of few digits are plain, and
read by arithmetic on many bytes at once.

The digits in eight bytes are added up as one word (Lemire 2021, "Number Parsing at a Gigabyte per Second"), and where
numbers end is one word too, a bit a byte (Langdale and Lemire 2019, "Parsing Gigabytes of JSON per Second"). How long a
number is makes no branch to mispredict then, and one feature need not be read before the next is begun.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from ouzel.kernels.bytes import eight_bytes, not_digits, strtod, trailing_zeros
from ouzel.kernels.jit import force_inline, kernel

POWERS = 10.0 ** np.arange(23)  # those that float64 holds exactly
SMALLEST, LARGEST = -342, 308  # powers of ten outside these make any 19 digits 0 or infinite
ZERO, ONE, HALF_WORD, LOW_WORD = (np.uint64(n) for n in (0, 1, 32, 2**32 - 1))
ALL_ONES = np.uint64(2**64 - 1)
ENOUGH = np.uint64(10**18)  # with one digit more a whole number still fits 64 bits
EXACT = np.uint64(2**53)  # whole numbers up to here are float64
MOST_POWER = 1 << 40  # of ten, in an exponent: what is larger changes nothing
TEN, ZERO_BYTE = np.uint64(10), np.uint64(48)
WINDOW = np.uint64(80 if sys.byteorder == "little" else 2**62)  # bytes that must be there; never, the other way round
TENS = 10 ** np.arange(9, dtype=np.uint64)
FOUR, SEVEN, EIGHT, TWO_BYTES = (np.uint64(number) for number in (4, 7, 8, 16))
ALL_ZEROS, BYTE_PAIRS = np.uint64(0x3030303030303030), np.uint64(0x000000FF000000FF)
HIGH_PAIRS, LOW_PAIRS = np.uint64(100 + (10**6 << 32)), np.uint64(1 + (10**4 << 32))


def _power_of_five(exponent: int) -> tuple[int, int]:
    """The leading 128 bits of 5^exponent, rounded down, in two words."""
    power = 5 ** abs(exponent)
    if exponent < 0:
        power = (1 << (power.bit_length() + 128)) // power
    surplus = power.bit_length() - 128
    power = power >> surplus if surplus > 0 else power << -surplus
    return power >> 64, power & (2**64 - 1)


FIVES = np.array([_power_of_five(exponent) for exponent in range(SMALLEST, LARGEST + 1)], np.uint64)


@kernel
def _product(a, b):
    """High and low word of a * b."""
    a_high, a_low, b_high, b_low = a >> HALF_WORD, a & LOW_WORD, b >> HALF_WORD, b & LOW_WORD
    low = a_low * b_low
    middle = a_high * b_low + (low >> HALF_WORD)
    other = a_low * b_high + (middle & LOW_WORD)
    return a_high * b_high + (middle >> HALF_WORD) + (other >> HALF_WORD), (other << HALF_WORD) | (low & LOW_WORD)


@kernel
def _by_product(mantissa, exponent):
    """mantissa * 10^exponent for a mantissa that is not 0, and whether it is surely the nearest float64.

    The product of the mantissa, shifted to 64 bits, with 128 bits of 5^exponent is short of the truth by less than two
    in its 128th bit. So all is known unless the bits behind the 53 that stay are a half, or less than that by one.
    """
    if exponent < SMALLEST:
        return 0.0, True
    if exponent > LARGEST:
        return np.inf, True
    shift = 0
    while mantissa >> np.uint64(63) == ZERO:
        mantissa <<= ONE
        shift += 1
    five = FIVES[exponent - SMALLEST]
    high, low = _product(mantissa, five[0])
    carried, _ = _product(mantissa, five[1])
    headroom = ALL_ONES - low
    if carried > headroom:
        high += ONE
        low = carried - headroom - ONE
    else:
        low += carried
    behind = np.uint64(10) + (high >> np.uint64(63))
    rest = high & ((ONE << behind) - ONE)
    half = ONE << (behind - ONE)
    sure = not ((rest == half and low == ZERO) or (rest == half - ONE and low == ALL_ONES))
    kept = high >> behind
    power = ((217706 * exponent) >> 16) + np.int64(behind) + 1 - shift  # 217706 / 65536 is log2(10)
    if rest >= half:
        kept += ONE
        if kept >> np.uint64(53):
            kept >>= ONE
            power += 1
    if power > 971:
        return np.inf, sure
    return math.ldexp(np.float64(kept), int(power)), sure and power >= -1074  # else it was rounded twice


@kernel
def _by_c(data, start, stop, exponent):
    """The float64 nearest to the digits in `data[start:stop]` times 10^exponent."""
    text = np.zeros(stop - start + 24, np.uint8)
    size = 0
    for k in range(start, stop):
        if data[k] != 46:  # the point
            text[size] = data[k]
            size += 1
    text[size] = 101  # e
    text[size + 1] = 45 if exponent < 0 else 43
    rest = abs(exponent)
    for k in range(size + 21, size + 1, -1):
        text[k] = 48 + rest % 10
        rest //= 10
    return strtod(text)


@kernel
def nearest_float(data, start, stop, mantissa, exponent, written, all_there):
    """The float64 nearest to a decimal number, its sign left out.

    `mantissa` (uint64) holds its first 19 digits, to be taken times 10^exponent; `all_there` says that the number has
    no others but zeros. The digits themselves are `data[start:stop]`, to be taken times 10^written.
    """
    if mantissa == ZERO:
        return 0.0
    value, sure = _by_product(mantissa, exponent)
    if not all_there:
        above, sure_above = _by_product(mantissa + ONE, exponent)
        sure = sure and sure_above and value == above
    if sure:
        return value
    return _by_c(data, start, stop, written)


@force_inline
def _read_digits(data, at, stop, mantissa, more):
    """Read digits on from `data[at]`; return where they end, and the two sums with them."""
    while at < stop:
        byte = data[at]
        if byte < 48 or byte > 57:
            break
        if mantissa < ENOUGH:
            mantissa = mantissa * TEN + (np.uint64(byte) - ZERO_BYTE)
        else:
            more += ONE
        at += ONE
    return at, mantissa, more


@kernel
def parse_number(data, at, stop):
    """The number (float64) that starts at `data[at]` and the position behind it; that is `at` itself if none does.

    Takes an optional sign, digits with or without a point, and an exponent: no "nan", no "inf", though 1e999 is
    infinite. Rounded as Python's `float` does it.
    """
    start = at
    at = np.uint64(at)  # unsigned throughout: no check for positions counted from the end
    stop = np.uint64(stop)
    negative = False
    if at < stop and (data[at] == 45 or data[at] == 43):
        negative = data[at] == 45
        at += ONE
    first = at
    mantissa = ZERO
    more = ZERO  # digits beyond those that the mantissa holds
    at, mantissa, more = _read_digits(data, at, stop, mantissa, more)
    digits = at - first
    decimals = ZERO
    if at < stop and data[at] == 46:
        at += ONE
        point = at
        at, mantissa, more = _read_digits(data, at, stop, mantissa, more)
        decimals = at - point
        digits += decimals
    if digits == ZERO:
        return 0.0, np.int64(start)
    last = at
    power = np.int64(0)
    if at + ONE < stop and (data[at] == 101 or data[at] == 69):
        ahead = at + ONE
        below = data[ahead] == 45
        if below or data[ahead] == 43:
            ahead += ONE
        while ahead < stop and 48 <= data[ahead] <= 57:
            power = min(power * 10 + np.int64(data[ahead]) - 48, MOST_POWER)
            ahead += ONE
            at = ahead  # an e without digits behind it is not an exponent
        power = -power if below else power
    written = power - np.int64(decimals)
    exponent = written + np.int64(more)
    if mantissa < EXACT and -22 <= exponent <= 22 and more == ZERO:
        value = np.float64(mantissa)
        value = value / POWERS[-exponent] if exponent < 0 else value * POWERS[exponent]
    else:
        value = nearest_float(data, first, last, mantissa, exponent, written, more == ZERO)
    return (-value if negative else value), np.int64(at)


@force_inline
def digits_at(data, at, count):
    """The number (uint64) that the first `count` of the eight bytes at `data[at]` make, which are digits."""
    empty = HALF_WORD - FOUR * count
    word = ((eight_bytes(data, at) ^ ALL_ZEROS) << empty) << empty  # at its end, zeros before
    pairs = word * TEN + (word >> EIGHT)
    return ((pairs & BYTE_PAIRS) * HIGH_PAIRS + ((pairs >> TWO_BYTES) & BYTE_PAIRS) * LOW_PAIRS) >> HALF_WORD


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
