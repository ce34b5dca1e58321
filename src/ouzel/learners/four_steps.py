"""One step of four models in the registers of one instruction: what `stacked_rates` does to every feature."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from ouzel._llvm import FUSED, INTEGER, in_llvm

FOUR = ir.VectorType(ir.FloatType(), 4)


def _same(builder: Any, value: Any) -> Any:
    """A number in all four lanes."""
    nothing, first = ir.Constant(FOUR, ir.Undefined), ir.Constant(ir.IntType(32), 0)
    everywhere = ir.Constant(ir.VectorType(first.type, 4), None)
    return builder.shuffle_vector(builder.insert_element(nothing, value, first), nothing, everywhere)


def _vector(builder: Any, numbers: Any) -> Any:
    """A tuple of four numbers, one in each lane."""
    vector = ir.Constant(FOUR, ir.Undefined)
    for e in range(4):
        number = builder.extract_value(numbers, e)
        vector = builder.insert_element(vector, number, ir.Constant(ir.IntType(32), e))
    return vector


def _four(builder: Any, address: Any) -> Any:
    return builder.bitcast(address, FOUR.as_pointer())


def _steps(builder: Any, table: Any, slots: Any, values: Any, slopes: Any, lengths: Any) -> None:
    none, infinite = ir.Constant(FOUR, None), ir.Constant(FOUR, [float("inf")] * 4)
    root = cgutils.get_or_insert_function(builder.module, ir.FunctionType(FOUR, [FOUR]), "llvm.sqrt.v4f32")
    slope, length = _vector(builder, slopes), _vector(builder, lengths)
    count, width = cgutils.unpack_tuple(builder, slots.shape, 1)[0], cgutils.unpack_tuple(builder, table.shape, 2)[1]
    with cgutils.for_range(builder, count) as loop:
        slot = builder.zext(builder.load(builder.gep(slots.data, [loop.index])), INTEGER)
        row = builder.gep(table.data, [builder.mul(slot, width)])
        weights, squares = (_four(builder, builder.gep(row, [INTEGER(column)])) for column in (1, 5))
        size = builder.load(row)
        value = builder.load(builder.gep(values.data, [loop.index]))
        scaled = builder.fdiv(builder.fptrunc(value, size.type) if value.type != size.type else value, size)
        gradient = builder.fmul(slope, _same(builder, scaled))
        before, w = (builder.load(address, align=4) for address in (squares, weights))
        after = builder.fadd(before, builder.fmul(gradient, gradient, flags=FUSED), flags=FUSED)
        step = builder.fdiv(
            builder.fmul(length, _same(builder, builder.fdiv(scaled, size))), builder.call(root, [after])
        )
        moves = builder.fcmp_unordered("!=", slope, none)
        for bound, sign in ((none, ">"), (infinite, "<")):
            moves = builder.and_(moves, builder.fcmp_ordered(sign, after, bound))
        builder.store(builder.select(moves, builder.fsub(w, step), w), weights, align=4)
        builder.store(builder.select(moves, after, before), squares, align=4)


@in_llvm(_steps)
def four_steps(table, slots, values, slopes, lengths):
    """With rows [n, four w, four s] and z = x / n: s <- s + (slope z)^2, w <- w - length z / (n sqrt(s)).

    `slopes` and `lengths` are tuples of four float32; where a slope is 0, or s not finite, nothing changes.
    """
    for slot, value in zip(slots, values, strict=True):
        row = table[slot]
        for e in range(4):
            scaled = value / row[0]
            after = row[5 + e] + (slopes[e] * scaled) ** 2
            if slopes[e] != 0.0 and 0.0 < after < np.inf:
                row[1 + e] -= lengths[e] * (scaled / row[0]) / np.sqrt(after)
                row[5 + e] = after
