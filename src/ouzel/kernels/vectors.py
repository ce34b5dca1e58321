"""What is done to vectors in kernels, summed in double precision from the first number to the last."""

from __future__ import annotations

from ouzel.kernels.jit import force_inline, inline_source


@force_inline
def square_norm(values):
    """x'x"""
    total = 0.0
    for k in range(len(values)):
        total += values[k] * values[k]
    return total


@inline_source
def dot(a, b):
    """The inner product."""
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total
