"""Which of many bytes of text are not ASCII, or not UTF-8, in LLVM's words."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from ouzel.kernels.bytes import LOOKED_AT
from ouzel.kernels.simd import INTEGER, in_llvm


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
