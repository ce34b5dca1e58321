"""What Numba has no words for, put in LLVM's: four numbers at a time, and asking for memory before it is needed.

Rows of a table that lie far apart are summed with the sums in registers, which LLVM does not find by itself where the
number of columns is not known. And while one example is learnt the processor can be fetching the rows of the next.
A function so written has a plain body too, for where nothing is compiled.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable

LANES = 4  # columns that are worked on together: a table has a multiple of them
LINE = 64  # bytes that come from memory together

INTEGER, NUMBER, BYTES = ir.IntType(64), ir.DoubleType(), ir.IntType(8).as_pointer()
FOUR = ir.VectorType(NUMBER, LANES)
F = TypeVar("F", bound=Callable[..., Any])
FUSED = ("contract",)  # as in every kernel, a product and a sum may be one instruction


def in_llvm(instructions: Callable[..., Any], result: Any = types.none) -> Callable[[F], F]:
    """Have kernels that call the function run these instructions: a function of the builder, arrays and numbers."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        arguments = [
            context.make_array(kind)(context, builder, value) if isinstance(kind, types.Array) else value
            for kind, value in zip(signature.args, given, strict=True)
        ]
        value = instructions(builder, *arguments)
        return context.get_dummy_value() if value is None else value

    def decorate(plain: F) -> F:
        type_callable(plain)(lambda context: functools.wraps(plain)(lambda *kinds: result))
        lower_builtin(plain, types.VarArg(types.Any))(generate)
        return plain

    return decorate


def _row(builder: Any, table: Any, slots: Any, k: Any, column: Any) -> Any:
    """Address of a column in the row of slot k, or in row k where there are no slots."""
    slot = k if slots is None else builder.zext(builder.load(builder.gep(slots.data, [k])), INTEGER)
    width = cgutils.unpack_tuple(builder, table.shape, 2)[1]
    return builder.gep(table.data, [builder.add(builder.mul(slot, width), column)])


def four_at(builder: Any, address: Any) -> Any:
    """The address of a number as that of four."""
    return builder.bitcast(address, ir.VectorType(address.type.pointee, LANES).as_pointer())


def in_all_lanes(builder: Any, value: Any, lanes: int = LANES) -> Any:
    """One number in every lane of a vector."""
    nothing, first = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined), ir.Constant(ir.IntType(32), 0)
    everywhere = ir.Constant(ir.VectorType(first.type, lanes), None)
    return builder.shuffle_vector(builder.insert_element(nothing, value, first), nothing, everywhere)


def _same(builder: Any, values: Any, k: Any) -> Any:
    """values[k] in all four lanes."""
    value = builder.load(builder.gep(values.data, [k]))
    return in_all_lanes(builder, builder.fpext(value, NUMBER) if value.type != NUMBER else value)


def _length(builder: Any, array: Any) -> Any:
    return cgutils.unpack_tuple(builder, array.shape, 1)[0]


def _plus_product(builder: Any, total: Any, a: Any, b: Any) -> Any:
    return builder.fadd(total, builder.fmul(a, b, flags=FUSED), flags=FUSED)


def _fetch_ahead(builder: Any, table: Any, slots: Any) -> None:
    kind = ir.FunctionType(ir.VoidType(), [BYTES, *[ir.IntType(32)] * 3])
    prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
    for_writing, soon, data = (ir.Constant(ir.IntType(32), number) for number in (1, 3, 1))
    size = builder.mul(cgutils.unpack_tuple(builder, table.strides, 2)[0], INTEGER(1))
    with cgutils.for_range(builder, _length(builder, slots)) as row:
        start = builder.bitcast(_row(builder, table, slots, row.index, INTEGER(0)), BYTES)
        with cgutils.for_range_slice(builder, INTEGER(0), size, INTEGER(LINE), inc=True) as (place, _):
            builder.call(prefetch, [builder.gep(start, [place]), for_writing, soon, data])


def _fours(builder: Any, address: Any, groups: int) -> list[Any]:
    """The addresses of so many times four numbers."""
    return [four_at(builder, builder.gep(address, [INTEGER(LANES * group)])) for group in range(groups)]


def _sums(groups: int, turns: int) -> Callable[..., None]:
    """Instructions for sums of rows; they are added to as many sums by turns as keep an addition from waiting."""

    def instructions(builder: Any, table: Any, slots: Any, values: Any, column: Any, out: Any) -> None:
        none = ir.Constant(FOUR, None)
        totals = [[cgutils.alloca_once_value(builder, none) for _ in range(groups)] for _ in range(turns)]
        for total in itertools.chain(*totals):
            builder.store(none, total)

        def add(k: Any, sums: list[Any]) -> None:
            value = _same(builder, values, k)
            for total, four in zip(sums, _fours(builder, _row(builder, table, slots, k, column), groups), strict=True):
                row = builder.load(four, align=8)
                builder.store(_plus_product(builder, builder.load(total), row, value), total)

        n = _length(builder, values if slots is None else slots)
        whole = builder.and_(n, INTEGER(-turns))
        with cgutils.for_range_slice(builder, INTEGER(0), whole, INTEGER(turns), inc=True) as (k, _):
            for place, sums in enumerate(totals):
                add(builder.add(k, INTEGER(place)), sums)
        with cgutils.for_range_slice(builder, whole, n, INTEGER(1), inc=True) as (k, _):
            add(k, totals[0])
        for group, four in enumerate(_fours(builder, builder.gep(out.data, [column]), groups)):
            parts = [builder.load(sums[group]) for sums in totals]
            while len(parts) > 1:
                parts = [builder.fadd(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
            builder.store(parts[0], four, align=8)

    return instructions


def _additions(groups: int) -> Callable[..., None]:
    def instructions(builder: Any, table: Any, slots: Any, values: Any, column: Any, step: Any) -> None:
        start = builder.gep(step.data, [column])
        changes = [builder.load(four, align=8) for four in _fours(builder, start, groups)]
        with cgutils.for_range(builder, _length(builder, slots)) as loop:
            value = _same(builder, values, loop.index)
            row = _row(builder, table, slots, loop.index, column)
            for four, change in zip(_fours(builder, row, groups), changes, strict=True):
                builder.store(_plus_product(builder, builder.load(four, align=8), value, change), four, align=8)

    return instructions


def _turn_lanes(builder: Any, matrix: Any, turns: Any, moves: Any, column: Any, out: Any) -> None:
    sums = [cgutils.alloca_once_value(builder, ir.Constant(FOUR, None)) for _ in range(2)]
    place = four_at(builder, builder.gep(out.data, [column]))
    total = cgutils.alloca_once_value(builder, builder.load(place, align=8))
    with cgutils.for_range(builder, _length(builder, moves)) as loop:
        parts = [_row(builder, turns, None, loop.index, INTEGER(part)) for part in range(5)]
        first, second, push, other, shrink = (in_all_lanes(builder, builder.load(part)) for part in parts)
        address = four_at(builder, _row(builder, matrix, None, loop.index, column))
        rest = builder.load(address, align=8)
        for pull, before in zip((first, second), sums, strict=True):
            rest = builder.fsub(rest, builder.fmul(pull, builder.load(before), flags=FUSED), flags=FUSED)
        turned = builder.fmul(rest, shrink)
        builder.store(turned, address, align=8)
        for part, before in zip((push, other), sums, strict=True):
            builder.store(_plus_product(builder, builder.load(before), part, rest), before)
        move = _same(builder, moves, loop.index)
        builder.store(_plus_product(builder, builder.load(total), turned, move), total)
    builder.store(builder.load(total), place, align=8)


def _combine_lanes(builder: Any, matrix: Any, values: Any, column: Any, out: Any) -> None:
    _sums(1, 4)(builder, matrix, None, values, column, out)


@in_llvm(_fetch_ahead)
def fetch_ahead(table, slots):
    """Have memory send the rows of these slots, which are needed soon."""


@in_llvm(_sums(1, 4))
def sum_lanes(table, slots, values, column, out):
    """out = sum of values[k] table[slots[k]] over the slots, in four columns from `column` on."""
    here = slice(column, column + LANES)
    out[here] = values[: len(slots)] @ table[slots, here]


@in_llvm(_combine_lanes)
def combine_lanes(matrix, values, column, out):
    """out = values @ matrix, in four columns from `column` on."""
    here = slice(column, column + LANES)
    out[here] = values @ matrix[:, here]


@in_llvm(_turn_lanes)
def turn_lanes(matrix, turns, moves, column, out):
    """Turn rows by two running sums down each column, and out += moves @ matrix, in four columns from `column` on.

    Row i of `turns` (m, 5) says what of either sum is taken off a row, what of the rest each sum gains, and by what
    the rest shrinks.
    """
    here = slice(column, column + LANES)
    sums = np.zeros((2, LANES))
    for row, turn, move in zip(matrix[:, here], turns, moves, strict=True):
        rest = row - turn[:2] @ sums
        sums += np.outer(turn[2:4], rest)
        row[:] = turn[4] * rest
        out[here] += move * row


@in_llvm(_additions(1))
def add_lanes(table, slots, values, column, step):
    """table[slots[k]] += values[k] step, for every k, in four columns from `column` on."""
    here = slice(column, column + LANES)
    table[slots, here] += values[: len(slots), None] * step[here]


@in_llvm(_sums(2, 2))
def sum_eight(table, slots, values, column, out):
    """`sum_lanes` in eight columns."""
    here = slice(column, column + 8)
    out[here] = values[: len(slots)] @ table[slots, here]


@in_llvm(_sums(3, 2))
def sum_twelve(table, slots, values, column, out):
    """`sum_lanes` in twelve columns."""
    here = slice(column, column + 12)
    out[here] = values[: len(slots)] @ table[slots, here]


@in_llvm(_additions(2))
def add_eight(table, slots, values, column, step):
    """`add_lanes` in eight columns."""
    here = slice(column, column + 8)
    table[slots, here] += values[: len(slots), None] * step[here]


@in_llvm(_additions(3))
def add_twelve(table, slots, values, column, step):
    """`add_lanes` in twelve columns."""
    here = slice(column, column + 12)
    table[slots, here] += values[: len(slots), None] * step[here]
