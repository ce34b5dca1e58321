"""Counters of 32 bits that stop at their largest number instead of beginning again at 0.

A 32-bit floating-point number counts to 2^24 and stays there; in the same four bytes an integer counts to 2^32 - 1.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import force_inline

MOST = 2**32 - 1


@force_inline
def raised(counter, count):
    """A counter after so many more, a whole number of at most `MOST`."""
    return np.uint32(min(np.uint64(counter) + np.uint64(count), np.uint64(MOST)))


def added_up(counters: list[np.ndarray]) -> np.ndarray:
    """The sums (...) uint32 of workers' counters.

    >>> added_up([np.array([1, 7], np.uint32), np.array([2, MOST], np.uint32)]).tolist()
    [3, 4294967295]
    """
    return np.minimum(np.sum(np.stack(counters), axis=0, dtype=np.uint64), MOST).astype(np.uint32)
