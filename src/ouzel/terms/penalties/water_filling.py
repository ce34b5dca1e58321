"""The level at which so much sticks out: the search behind the l1 ball and the max norm."""

from __future__ import annotations

from ouzel.kernels.jit import kernel


@kernel
def level_of(breaks, slopes, total):
    """The level z >= 0 at which the sum of slopes * max(breaks - z, 0) equals `total`; 0 if it is less everywhere.

    Selection instead of a sort (Brucker 1984): each round takes a random break as pivot and keeps the side on which
    the level lies, so the expected cost is linear. Both arrays (n,) are put in another order.
    """
    low, high = 0, len(breaks)
    mass = slope = level = 0.0  # of the breaks known to lie above the level: sums of slopes * breaks, of slopes
    draw = 12345
    while low < high:
        draw = (draw * 1103515245 + 12345) & 0x7FFFFFFF
        pivot = breaks[low + draw % (high - low)]
        mass_above = slope_above = slope_equal = 0.0
        above, below, k = low, high, low  # [low, above) > pivot, [above, k) equal to it, [below, high) < pivot
        while k < below:
            at, rise = breaks[k], slopes[k]
            if at > pivot:
                mass_above += rise * at
                slope_above += rise
                breaks[k], slopes[k] = breaks[above], slopes[above]
                breaks[above], slopes[above] = at, rise
                above += 1
                k += 1
            elif at < pivot:
                below -= 1
                breaks[k], slopes[k] = breaks[below], slopes[below]
                breaks[below], slopes[below] = at, rise
            else:
                slope_equal += rise
                k += 1
        if mass + mass_above - pivot * (slope + slope_above) < total:
            mass += mass_above + slope_equal * pivot
            slope += slope_above + slope_equal
            low = below
        else:
            level = pivot
            high = above
    return max(level, (mass - total) / slope) if slope > 0.0 else level
