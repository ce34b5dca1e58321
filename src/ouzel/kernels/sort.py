"""Order of numbers: a sort that compiles at once, and ranks of numbers among others, in LLVM's words, eight at a time.

Numba's own sort takes seconds on a first run, for rows out of order, which are rare. Processors compare signed numbers
with fewer instructions than unsigned ones, so the numbers whose ranks are counted are turned: `number ^ TURN` has the
place among signed numbers that the number has among unsigned ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from ouzel.kernels.jit import kernel
from ouzel.kernels.simd import INTEGER, in_all_lanes, in_llvm

AT_ONCE = 8  # numbers that are compared at a time
TURN = np.uint32(2**31)


def _count_smaller_among(builder: Any, numbers: Any, start: Any, count: Any, counts: Any) -> Any:
    many = ir.VectorType(ir.IntType(32), AT_ONCE)
    first = builder.gep(numbers.data, [start])

    def together(address: Any, place: Any) -> Any:
        return builder.bitcast(builder.gep(address, [place]), many.as_pointer())

    with cgutils.for_range_slice(builder, INTEGER(0), count, INTEGER(AT_ONCE), inc=True) as (place, _):
        here = builder.load(together(first, place), align=4)
        total = cgutils.alloca_once_value(builder, ir.Constant(many, None))
        builder.store(ir.Constant(many, None), total)
        with cgutils.for_range(builder, count) as loop:
            other = in_all_lanes(builder, builder.load(builder.gep(first, [loop.index])), AT_ONCE)
            passed = builder.sext(builder.icmp_signed("<", other, here), many)  # -1 where it is
            builder.store(builder.sub(builder.load(total), passed), total)
        builder.store(builder.load(total), together(counts.data, place), align=4)


@in_llvm(_count_smaller_among)
def count_smaller_among(numbers, start, count, counts):
    """Write to `counts` how many of `numbers[start:start + count]` (uint32, turned) are smaller than each of them.

    From `start` on, and in `counts`, there must be whole times AT_ONCE.
    """
    chosen = numbers[int(start) : int(start) + int(count)] ^ TURN
    counts[: int(count)] = (chosen[:, None] > chosen).sum(axis=1)


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
