"""Decimal digits to the nearest float64, as Python's `float` rounds them, in kernels.

Three ways, each where the one before does not do: one exact multiplication or division (Clinger 1990, "How to Read
Floating Point Numbers Accurately"); a product with a power of five kept to 128 bits (Lemire 2021, "Number Parsing at
a Gigabyte per Second", section 5); C's strtod.
"""

from __future__ import annotations

import math

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.kernels.strtod import strtod

POWERS = 10.0 ** np.arange(23)  # those that float64 holds exactly
SMALLEST, LARGEST = -342, 308  # powers of ten outside these make any 19 digits 0 or infinite


def _power_of_five(exponent: int) -> tuple[int, int]:
    """The leading 128 bits of 5^exponent, rounded down, in two words."""
    power = 5 ** abs(exponent)
    if exponent < 0:
        power = (1 << (power.bit_length() + 128)) // power
    surplus = power.bit_length() - 128
    power = power >> surplus if surplus > 0 else power << -surplus
    return power >> 64, power & (2**64 - 1)


FIVES = np.array([_power_of_five(exponent) for exponent in range(SMALLEST, LARGEST + 1)], np.uint64)
ZERO, ONE, HALF_WORD, LOW_WORD = (np.uint64(n) for n in (0, 1, 32, 2**32 - 1))
ALL_ONES = np.uint64(2**64 - 1)


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
    room = ALL_ONES - low
    if carried > room:
        high += ONE
        low = carried - room - ONE
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
