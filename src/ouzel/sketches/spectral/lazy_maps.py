"""Linear maps that all rows of a table are to go through one after the other, applied to a row when it is next needed.

Row v becomes v T_0 T_1 ... as maps come in. A row remembers how many it has gone through; products of aligned runs of
2^k maps are kept, so that a row that lags by n maps catches up with at most 2 log2 n of them.
"""

from __future__ import annotations

from ouzel.kernels.jit import force_inline, kernel
from ouzel.sketches.spectral.low_rank_table import combine


def room_for(maps: int, size: int) -> tuple[int, int, int]:
    """The shape of so many maps (size, size) and the products of their runs; the size is a multiple of four.

    >>> import numpy as np
    >>> products = np.zeros(room_for(2, 4))
    >>> for number, factor in enumerate((3.0, 5.0)):
    ...     record(products, number, factor * np.eye(4))
    >>> row = np.ones(4)
    >>> catch_up(products, 0, 2, row, np.empty(4))
    >>> row.tolist()
    [15.0, 15.0, 15.0, 15.0]
    """
    return 2 * maps, size, size


@force_inline
def _place(start, run):
    """Where the product of `run` maps from `start` on lies: runs in the order of their middles, whatever the room."""
    return 2 * start + run - 1


@kernel
def record(products, number, turn):
    """Take in the map `number`, and the products of the runs that it ends."""
    size, run = len(turn), 1
    for j in range(size):
        for i in range(size):
            products[_place(number, 1), j, i] = turn[j, i]
    while (number + 1) % (2 * run) == 0:
        second = number + 1 - run
        first = second - run
        into = _place(first, 2 * run)
        for j in range(size):
            combine(products[_place(second, run)], products[_place(first, run), j], products[into, j])
        run *= 2


@force_inline
def catch_up(products, start, stop, row, spare):
    """Take a row through the maps from `start` up to `stop`; `spare` is as long as the row."""
    while start < stop:
        run = 1
        while start % (2 * run) == 0 and start + 2 * run <= stop:
            run *= 2
        combine(products[_place(start, run)], row, spare)
        for i in range(len(row)):
            row[i] = spare[i]
        start += run
