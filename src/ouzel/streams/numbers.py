"""Decimal numbers in text, read in kernels."""

from __future__ import annotations

import numpy as np

from ouzel._jit import inlined, kernel

POWERS = 10.0 ** np.arange(23)  # those that float64 holds exactly
MOST_DIGITS = np.uint64(10**18)
ONE = np.uint64(1)


@kernel
def scale_decimal(mantissa, exponent):
    """mantissa * 10^exponent: correctly rounded for up to 15 digits, to an ulp or two otherwise; may be infinite."""
    value = np.float64(mantissa)
    if exponent > 0:
        while exponent > 22:
            value *= 1e22
            exponent -= 22
            if value > 1e308:
                return np.inf
        return value * POWERS[exponent]
    while exponent < -22:
        value /= 1e22
        exponent += 22
        if value == 0.0:
            return 0.0
    return value / POWERS[-exponent]


@inlined
def parse_number(data, at, stop):
    """The number (float64) that starts at `data[at]` and the position behind it; that is `at` itself if none does.

    Takes an optional sign, digits with or without a point, and an exponent. No "nan", no "inf".
    """
    start = at
    at = np.uint64(at)  # unsigned throughout: no check for positions counted from the end
    stop = np.uint64(stop)
    negative = False
    if at < stop and (data[at] == 45 or data[at] == 43):
        negative = data[at] == 45
        at += ONE
    mantissa = np.uint64(0)
    exponent = 0
    digits = 0
    while at < stop:
        digit = np.uint8(data[at] - np.uint8(48))
        if digit > 9:
            break
        if mantissa < MOST_DIGITS:
            mantissa = mantissa * np.uint64(10) + np.uint64(digit)
        else:
            exponent += 1
        digits += 1
        at += ONE
    if at < stop and data[at] == 46:
        at += ONE
        while at < stop:
            digit = np.uint8(data[at] - np.uint8(48))
            if digit > 9:
                break
            if mantissa < MOST_DIGITS:
                mantissa = mantissa * np.uint64(10) + np.uint64(digit)
                exponent -= 1
            digits += 1
            at += ONE
    if digits == 0:
        return 0.0, np.int64(start)
    if at + ONE < stop and (data[at] == 101 or data[at] == 69):
        ahead = at + ONE
        below = data[ahead] == 45
        if below or data[ahead] == 43:
            ahead += ONE
        if ahead < stop and np.uint8(data[ahead] - np.uint8(48)) <= 9:
            power = 0
            while ahead < stop and np.uint8(data[ahead] - np.uint8(48)) <= 9:
                power = min(power * 10 + np.int64(data[ahead] - np.uint8(48)), 100000)
                ahead += ONE
            exponent += -power if below else power
            at = ahead
    if exponent == 0:
        value = np.float64(mantissa)
    elif -22 <= exponent < 0:
        value = np.float64(mantissa) / POWERS[-exponent]
    else:
        value = scale_decimal(mantissa, exponent)
    return (-value if negative else value), np.int64(at)
