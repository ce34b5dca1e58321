"""A sort that compiles at once: Numba's own take seconds on a first run, for rows out of order, which are rare."""

from __future__ import annotations

from ouzel.kernels.jit import kernel


@kernel
def sort(array, start, stop):
    """Sort `array[start:stop]` in place by Shell's method, gaps 1, 4, 13, ...

    >>> import numpy as np
    >>> numbers = np.array([9, 3, 7, 1], np.uint32)
    >>> sort(numbers, 1, 4)
    >>> numbers.tolist()
    [9, 1, 3, 7]
    """
    gap = 1
    while gap < (stop - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(start + gap, stop):
            item, place = array[k], k
            while place >= start + gap and array[place - gap] > item:
                array[place] = array[place - gap]
                place -= gap
            array[place] = item
        gap //= 3
