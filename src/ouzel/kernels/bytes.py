"""Many bytes of text at once, in LLVM's words: words of eight, bits for 32, what is not ASCII; C's strtod."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba.core import cgutils, types

from ouzel.kernels.simd import INTEGER, in_all_lanes, in_llvm

SEEN = 32  # bytes of a feature that are looked at together
LOOKED_AT = 64  # bytes that are searched at a time
COPIED = 16  # bytes that are copied at a time
STRTOD = "ouzel_strtod"  # of C: long arithmetic of our own took ten seconds to compile
C = ctypes.CDLL("ucrtbase" if os.name == "nt" else None)
binding.add_symbol(STRTOD, ctypes.cast(C.strtod, ctypes.c_void_p).value)


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


def _not_ascii(builder: Any, data: Any, at: Any) -> Any:
    many = ir.VectorType(ir.IntType(8), LOOKED_AT)
    text = builder.load(builder.bitcast(builder.gep(data.data, [at]), many.as_pointer()), align=1)
    return builder.bitcast(builder.icmp_signed("<", text, ir.Constant(many, None)), INTEGER)


@in_llvm(_not_ascii, types.uint64)
def not_ascii(data, at):
    """The bits k for which byte `data[at + k]` (uint8) is 128 or more, of 64 bytes."""
    found = data[at : at + np.uint64(LOOKED_AT)] >= 128
    return np.uint64(sum(1 << k for k in np.flatnonzero(found).tolist()))


def _not_utf8(builder: Any, data: Any, at: Any) -> Any:
    many = ir.VectorType(ir.IntType(8), LOOKED_AT)

    def bytes_at(place: Any) -> Any:
        return builder.load(builder.bitcast(builder.gep(data.data, [place]), many.as_pointer()), align=1)

    def those(text: Any, test: str, byte: int) -> Any:
        return builder.icmp_unsigned(test, text, ir.Constant(many, [byte] * LOOKED_AT))

    text = bytes_at(at)
    first, second, third = (bytes_at(builder.sub(at, INTEGER(back))) for back in (1, 2, 3))
    follows = builder.or_(builder.or_(those(first, ">=", 0xC0), those(second, ">=", 0xE0)), those(third, ">=", 0xF0))
    wrong = builder.xor(follows, builder.icmp_signed("<", text, ir.Constant(many, [0xC0] * LOOKED_AT)))
    for test, byte in (("==", 0xC0), ("==", 0xC1), (">=", 0xF5)):
        wrong = builder.or_(wrong, those(text, test, byte))
    for before, test, byte in ((0xE0, "<", 0xA0), (0xED, ">=", 0xA0), (0xF0, "<", 0x90), (0xF4, ">=", 0x90)):
        wrong = builder.or_(wrong, builder.and_(those(first, "==", before), those(text, test, byte)))
    return builder.bitcast(wrong, INTEGER)


@in_llvm(_not_utf8, types.uint64)
def not_utf8(data, at):
    """The bits k for which byte `data[at + k]` (uint8) cannot follow the three before it in UTF-8, of 64 bytes.

    Behind a first byte of two, three or four come one, two or three of 80 to BF, and nowhere else (RFC 3629, section
    4). Of those, the first is bounded where a character would be written longer than need be, be half of a surrogate
    pair, or be too large.
    """
    text, first, second, third = (
        data[np.int64(at) - back : np.int64(at) - back + LOOKED_AT].astype(np.int64) for back in range(4)
    )
    follows = (first >= 0xC0) | (second >= 0xE0) | (third >= 0xF0)
    wrong = (follows != ((text & 0xC0) == 0x80)) | (text == 0xC0) | (text == 0xC1) | (text >= 0xF5)
    wrong |= ((first == 0xE0) & (text < 0xA0)) | ((first == 0xED) & (text >= 0xA0))
    wrong |= ((first == 0xF0) & (text < 0x90)) | ((first == 0xF4) & (text >= 0x90))
    return np.uint64(sum(1 << k for k in np.flatnonzero(wrong).tolist()))


def _call_strtod(builder: Any, text: Any) -> Any:
    byte, number = ir.IntType(8).as_pointer(), ir.DoubleType()
    function = ir.FunctionType(number, [byte, byte.as_pointer()])
    strtod = cgutils.get_or_insert_function(builder.module, function, STRTOD)
    return builder.call(strtod, [text.data, ir.Constant(byte.as_pointer(), None)])


@in_llvm(_call_strtod, types.float64)
def strtod(text):
    """The number in an array of ASCII (uint8) that ends with a zero byte; it has no point, which is a locale's."""
    return float(bytes(text).split(b"\0")[0])
