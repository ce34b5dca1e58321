"""Decimal digits to the nearest float64, as Python's `float` rounds them, in kernels.

Three ways, each where the one before does not do: one exact multiplication or division (Clinger 1990, "How to Read
Floating Point Numbers Accurately"); a product with a power of five kept to 128 bits (Lemire 2021, "Number Parsing at
a Gigabyte per Second", section 5); whole numbers of any length, compared with the halfway point between two floats.
"""

from __future__ import annotations

import math

import numpy as np

from ouzel._jit import kernel

POWERS = 10.0 ** np.arange(23)  # those that float64 holds exactly
SMALLEST, LARGEST = -342, 308  # powers of ten outside these make any 19 digits 0 or infinite
MOST_DIGITS = 800  # 768 decide any rounding; whether more follow that are not 0 is all that is left to know
LIMBS = 256  # 32-bit words: 8192 bits hold 800 digits, and the powers of two and ten that go with a float64


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
def _times(number, size, factor, summand):
    """number * factor + summand in place, both below 2^32; the words in use now."""
    carry = np.uint64(summand)
    for k in range(size):
        carry += np.uint64(number[k]) * np.uint64(factor)
        number[k] = carry & LOW_WORD
        carry >>= HALF_WORD
    if carry:
        number[size] = carry
        size += 1
    return size


@kernel
def _scaled(number, size, tens, twos):
    """number * 10^tens * 2^twos in place; the words in use now."""
    for _ in range(tens):
        size = _times(number, size, 10, 0)
    for _ in range(twos // 31):
        size = _times(number, size, 1 << 31, 0)
    return _times(number, size, 1 << (twos % 31), 0)


@kernel
def _compare(digits, size, exponent, halves, power):
    """The sign of digits * 10^exponent - halves * 2^power."""
    left = np.zeros(LIMBS, np.uint32)
    left[:size] = digits[:size]
    right = np.zeros(LIMBS, np.uint32)
    right[0], right[1] = halves & LOW_WORD, halves >> HALF_WORD
    left_size = _scaled(left, size, max(exponent, 0), max(-power, 0))
    right_size = _scaled(right, 2, max(-exponent, 0), max(power, 0))
    for k in range(max(left_size, right_size) - 1, -1, -1):
        if left[k] != right[k]:
            return 1 if left[k] > right[k] else -1
    return 0


@kernel
def _by_comparison(data, start, stop, exponent, guess):
    """The float64 nearest to the digits in `data[start:stop]` times 10^exponent, from a guess an ulp or two off."""
    number = np.zeros(LIMBS, np.uint32)
    size, digits = 1, 0
    more = False
    for k in range(start, stop):
        if data[k] == 46:
            continue  # the point
        digit = data[k] - np.uint8(48)
        if digits == MOST_DIGITS:
            more = more or digit > 0
            exponent += 1
        elif digits or digit:
            size = _times(number, size, 10, digit)
            digits += 1
    if more:
        size = _times(number, size, 10, 1)
        exponent -= 1
    value = min(guess, 1.7976931348623157e308)
    while True:
        fraction, power = math.frexp(value)
        power = (max(power, -1021) if value > 0.0 else -1021) - 53
        mantissa = np.uint64(math.ldexp(value, -power))
        above = _compare(number, size, exponent, np.uint64(2) * mantissa + ONE, power - 1)
        if above > 0 or (above == 0 and mantissa & ONE):
            following = np.nextafter(value, np.inf)
            if following == np.inf:
                return following
            value = following
            continue
        if value == 0.0:
            return value
        narrow = fraction == 0.5 and power > -1074  # below a power of two floats lie twice as close
        halves = np.uint64(4) * mantissa - ONE if narrow else np.uint64(2) * mantissa - ONE
        below = _compare(number, size, exponent, halves, power - 2 if narrow else power - 1)
        if below < 0 or (below == 0 and mantissa & ONE):
            value = np.nextafter(value, 0.0)
            continue
        return value


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
    return _by_comparison(data, start, stop, written, value)
