"""Many bytes of text at once, in LLVM's words: a word of eight, and a bit for each of 32."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from ouzel.kernels.simd import INTEGER, in_all_lanes, in_llvm

SEEN = 32  # bytes of a feature that are looked at together
LOOKED_AT = 64  # bytes that are searched at a time
COPIED = 16  # bytes that are copied at a time


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


def _mask_of(builder: Any, data: Any, at: Any, test: str, byte: Any) -> Any:
    """The bits for which 64 bytes pass a test against one."""
    many = ir.VectorType(ir.IntType(8), LOOKED_AT)
    text = builder.load(builder.bitcast(builder.gep(data.data, [at]), many.as_pointer()), align=1)
    other = in_all_lanes(builder, ir.IntType(8)(byte) if isinstance(byte, int) else byte, LOOKED_AT)
    return builder.bitcast(builder.icmp_unsigned(test, text, other), INTEGER)


def _equal_to(builder: Any, data: Any, at: Any, byte: Any) -> Any:
    return _mask_of(builder, data, at, "==", byte)


def _copy_some(builder: Any, to: Any, filled: Any, data: Any, at: Any) -> None:
    many = ir.VectorType(ir.IntType(8), COPIED).as_pointer()
    text = builder.load(builder.bitcast(builder.gep(data.data, [at]), many), align=1)
    builder.store(text, builder.bitcast(builder.gep(to.data, [filled]), many), align=1)


def _ends_of_words(builder: Any, data: Any, at: Any) -> Any:
    blank, bar, colon = (_mask_of(builder, data, at, *test) for test in (("<=", 32), ("==", 124), ("==", 58)))
    return builder.or_(builder.or_(blank, bar), colon)


def _ends_of_strings(builder: Any, data: Any, at: Any) -> Any:
    quote, escape, control = (_mask_of(builder, data, at, *test) for test in (("==", 34), ("==", 92), ("<", 32)))
    return builder.or_(builder.or_(quote, escape), control)


@in_llvm(_equal_to, types.uint64)
def equal_to(data, at, byte):
    """The bits k for which byte `data[at + k]` is `byte` (uint8), of 64 bytes."""
    found = data[at : at + np.uint64(LOOKED_AT)] == byte
    return np.uint64(sum(1 << k for k in np.flatnonzero(found).tolist()))


@in_llvm(_copy_some)
def copy_some(to, filled, data, at):
    """Copy COPIED bytes, `data[at:]` to `to[filled:]`."""
    to[filled : filled + np.uint64(COPIED)] = data[at : at + np.uint64(COPIED)]


@in_llvm(_ends_of_words, types.uint64)
def ends_of_words(data, at):
    """The bits k for which byte `data[at + k]` is a blank (up to 32), a bar or a colon, of 64 bytes."""
    text = data[at : at + np.uint64(LOOKED_AT)]
    found = (text <= 32) | (text == 124) | (text == 58)
    return np.uint64(sum(1 << k for k in np.flatnonzero(found).tolist()))


@in_llvm(_ends_of_strings, types.uint64)
def ends_of_strings(data, at):
    """The same of quotation marks, backslashes and control characters (below 32)."""
    text = data[at : at + np.uint64(LOOKED_AT)]
    found = (text == 34) | (text == 92) | (text < 32)
    return np.uint64(sum(1 << k for k in np.flatnonzero(found).tolist()))


@in_llvm(lambda builder, word: builder.ctpop(word), types.uint64)
def ones(word):
    """How many bits of a word are set."""
    return np.uint64(int(word).bit_count())
