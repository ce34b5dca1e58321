"""Kernels run the instructions of `_llvm`, Python its plain bodies: both must do the same."""

import numpy as np
import pytest

from ouzel.kernels import simd
from ouzel.kernels.jit import kernel


@kernel
def in_a_kernel(table, slots, values, out, matrix, turns, step):
    simd.fetch_ahead(table, slots)
    for column in range(0, len(out), simd.LANES):
        simd.sum_lanes(table, slots, values, column, out)
        simd.add_lanes(table, slots, values, column, step)
        simd.combine_lanes(matrix, out, column, step)
        simd.turn_lanes(matrix, turns, out, column, step)
    if len(out) == 12:
        simd.add_twelve(table, slots, values, 0, step)
        simd.add_eight(table, slots, values, 4, step)
        simd.sum_eight(table, slots, values, 0, out)
        simd.sum_twelve(table, slots, values, 0, step)


in_python = in_a_kernel.py_func if hasattr(in_a_kernel, "py_func") else in_a_kernel


@pytest.mark.parametrize("count", range(10))
@pytest.mark.parametrize("width", [4, 12])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_kernel_does_what_the_plain_body_says(count, width, kind):
    rng = np.random.default_rng(count)
    slots = rng.permutation(30)[:count].astype(np.uint32)
    values = rng.normal(size=count + 3).astype(kind)  # room to work in is longer than an example
    table, matrix, turns = (rng.normal(size=shape) for shape in ((30, width), (width, width), (width, 5)))
    out, step = np.zeros(width), rng.normal(size=width)
    expected = [array.copy() for array in (table, out, matrix, step)]

    in_a_kernel(table, slots, values, out, matrix, turns, step)
    in_python(expected[0], slots, values, *expected[1:3], turns, expected[3])

    for found, array in zip((table, out, matrix, step), expected, strict=True):
        np.testing.assert_allclose(found, array, rtol=1e-9)
