"""C's strtod, called from kernels: long arithmetic of our own took ten seconds to compile."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from llvmlite import binding, ir
from numba.core import cgutils, types

from ouzel.kernels.simd import in_llvm

STRTOD = "ouzel_strtod"
C = ctypes.CDLL("ucrtbase" if os.name == "nt" else None)
binding.add_symbol(STRTOD, ctypes.cast(C.strtod, ctypes.c_void_p).value)


def _call_strtod(builder: Any, text: Any) -> Any:
    byte, number = ir.IntType(8).as_pointer(), ir.DoubleType()
    function = ir.FunctionType(number, [byte, byte.as_pointer()])
    strtod = cgutils.get_or_insert_function(builder.module, function, STRTOD)
    return builder.call(strtod, [text.data, ir.Constant(byte.as_pointer(), None)])


@in_llvm(_call_strtod, types.float64)
def strtod(text):
    """The number in an array of ASCII (uint8) that ends with a zero byte; it has no point, which is a locale's."""
    return float(bytes(text).split(b"\0")[0])
