"""Checks of floating point numbers by their bits, which are larger as integers where the number is larger."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import kernel

SIZE, INFINITE = 0x7FFFFFFF, 0x7F800000  # all bits of single precision but that of the sign, and those of infinity


@kernel
def least_and_most(bits):
    """The least and the largest of the sizes of numbers (n,) of which these are the bits (uint32)."""
    least, most = np.uint32(SIZE), np.uint32(0)
    for k in range(len(bits)):
        size = np.uint32(bits[k] & np.uint32(SIZE))
        least, most = min(least, size), max(most, size)
    return least, most


def survey(values: np.ndarray) -> tuple[bool, bool]:
    """Whether all of some values (n,) float32 are finite, and whether some are 0.

    >>> survey(np.array([1.0, -2.0], np.float32)), survey(np.array([0.0, np.nan], np.float32))
    ((True, False), (False, True))
    """
    least, most = least_and_most(values.view(np.uint32))
    return bool(most < INFINITE), bool(least == 0)
