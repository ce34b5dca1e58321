"""Sums in single precision that go on counting.

A float32 sum loses what is less than half the spacing of its numbers: of ones, it stops at 2^24. Here an increment
below the spacing moves the sum by one spacing or not at all, by dithered rounding: it does if the increment is more
than a fraction u of the spacing. With u spread evenly over [0, 1) the expected change is the increment. Where
stochastic rounding draws u at random (Croci et al. 2022, "Stochastic rounding: implementation, error analysis and
applications", Royal Society Open Science 9), here it is the fractional part of t / phi after t examples, phi the golden
ratio, which is spread more evenly than chance would have it: n increments by the same part of a spacing come out right
to O(log n) spacings of 2^-23 of the sum, where chance is off by sqrt(n). Increments of a spacing and more are rounded
as always.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import force_inline

GOLDEN = 0.6180339887498949  # 1 / phi
EXPONENT = np.uint32(0x7F800000)  # of the bits of a number in single precision
SPACING = np.float32(2.0**-23)  # of numbers from 1 to 2


@force_inline
def dither_of(seen):
    """The fraction u (float32) for an example before which so many were seen."""
    return np.float32((seen * GOLDEN) % 1.0)


@force_inline
def dithered_sum(total, rounded, increment, dither):
    """`rounded`, which is total + increment, unless the increment is below the spacing: then one spacing more or none.

    All are float32, total and increment not below 0. The caller adds, for its sum and the product that it adds may be
    one instruction.

    >>> total, part = np.float32(2**24), np.float32(0.7)
    >>> int(total + part - total)
    0
    >>> for seen in range(1000):
    ...     total = dithered_sum(total, total + part, part, dither_of(seen))
    >>> int(total - 2**24)
    700
    """
    bits = np.float32(total).view(np.uint32)
    spacing = np.uint32(bits & EXPONENT).view(np.float32) * SPACING
    stepped = np.uint32(bits + np.uint32(increment > dither * spacing)).view(np.float32)  # the next number, or this
    return stepped if increment < spacing else rounded
