"""Decimal numbers in text, read in kernels."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.text.decimals import POWERS, nearest_float

ENOUGH = np.uint64(10**18)  # with one digit more a whole number still fits 64 bits
EXACT = np.uint64(2**53)  # whole numbers up to here are float64
MOST_POWER = 1 << 40  # of ten, in an exponent: what is larger changes nothing
ZERO, ONE, TEN, ZERO_BYTE = (np.uint64(n) for n in (0, 1, 10, 48))


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
