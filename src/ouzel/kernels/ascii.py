"""Which of many bytes of text are not ASCII, in LLVM's words."""

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
