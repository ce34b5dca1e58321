"""Many bytes of text at once, in LLVM's words: a word of eight, and a bit for each of 32."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from ouzel.kernels.simd import INTEGER, in_llvm

SEEN = 32  # bytes of a feature that are looked at together


def _load_eight(builder: Any, data: Any, at: Any) -> Any:
    return builder.load(builder.bitcast(builder.gep(data.data, [at]), INTEGER.as_pointer()), align=1)


def _not_digits(builder: Any, data: Any, at: Any) -> Any:
    many = ir.VectorType(ir.IntType(8), SEEN)
    text = builder.load(builder.bitcast(builder.gep(data.data, [at]), many.as_pointer()), align=1)
    above = builder.sub(text, ir.Constant(many, [48] * SEEN))
    odd = builder.icmp_unsigned(">", above, ir.Constant(many, [9] * SEEN))
    return builder.zext(builder.bitcast(odd, ir.IntType(SEEN)), INTEGER)


@in_llvm(_load_eight, types.uint64)
def eight_bytes(data, at):
    """The word of `data[at:at + 8]` (uint8), its first byte lowest."""
    return np.uint64(int.from_bytes(bytes(data[at : at + np.uint64(8)]), "little"))


@in_llvm(_not_digits, types.uint64)
def not_digits(data, at):
    """The bits k, from the lowest on, for which byte `data[at + k]` is not a digit, of 32 bytes."""
    odd = (data[at : at + np.uint64(SEEN)] - np.uint8(48)) > 9
    return np.uint64(sum(1 << k for k in np.flatnonzero(odd).tolist()))


@in_llvm(lambda builder, word: builder.cttz(word, ir.Constant(ir.IntType(1), 0)), types.uint64)
def trailing_zeros(word):
    """Zero bits below the lowest bit that is set, 64 in a word of zeros."""
    return np.uint64((int(word) & -int(word)).bit_length() - 1 if word else 64)
