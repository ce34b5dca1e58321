"""What the default does to features, to cells of effects and to a covariance, several numbers at once.

Their columns of the table are [four w, four s^-1/2], all float32. After some 2^22 equal gradients what one more takes
from s^-1/2 is less than the spacing of single precision, and would be lost: rates would fall no more. In long streams
it is rounded by a dither, a fraction u of the spacing: s^-1/2 falls by one spacing if it should fall by more than u of
it, else not at all. Of u spread evenly over [0, 1) the expected change is the true one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from ouzel.kernels.simd import FUSED, INTEGER, NUMBER, four_at, in_all_lanes, in_llvm

TINIEST = 1e-37  # gradients are taken for no less, nor values
LARGEST = 1e18  # gradients are taken for no more: the square is finite
FURTHEST = 1e36  # no weight goes further than this: products with values are finite
PAIR = ir.VectorType(ir.FloatType(), 2)
ONE_NUMBER, FOUR, BITS = ir.FloatType(), ir.VectorType(ir.FloatType(), 4), ir.VectorType(ir.IntType(32), 4)
QUARTET = types.UniTuple(types.float32, 4)
WEIGHTS, ROOTS = 0, 4  # columns
EXPONENT = 0x7F800000  # of the bits of a number in single precision
SPACING = 2.0**-23  # of numbers from 1 to 2


def _all(number: float) -> Any:
    return ir.Constant(FOUR, [number] * 4)


def _vector(builder: Any, numbers: Any) -> Any:
    """A tuple of four numbers as lanes."""
    vector = ir.Constant(FOUR, ir.Undefined)
    for e in range(4):
        vector = builder.insert_element(vector, builder.extract_value(numbers, e), ir.Constant(ir.IntType(32), e))
    return vector


def _tuple(builder: Any, vector: Any) -> Any:
    """Lanes as a tuple."""
    numbers = ir.Constant(ir.ArrayType(ONE_NUMBER, 4), ir.Undefined)
    for e in range(4):
        numbers = builder.insert_value(numbers, builder.extract_element(vector, ir.Constant(ir.IntType(32), e)), e)
    return numbers


def _call(builder: Any, name: str, *vectors: Any) -> Any:
    kind = ir.FunctionType(FOUR, [FOUR] * len(vectors))
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v4f32"), vectors)


def _each(builder: Any, table: Any, slots: Any, values: Any, work: Any) -> None:
    """For every slot `work(z, address)`: its value in all lanes, and where columns of its row are."""
    count, width = cgutils.unpack_tuple(builder, slots.shape, 1)[0], cgutils.unpack_tuple(builder, table.shape, 2)[1]
    with cgutils.for_range(builder, count) as loop:
        slot = builder.zext(builder.load(builder.gep(slots.data, [loop.index])), INTEGER)
        row = builder.gep(table.data, [builder.mul(slot, width)])
        value = builder.load(builder.gep(values.data, [loop.index]))
        value = builder.fptrunc(value, ONE_NUMBER) if value.type != ONE_NUMBER else value

        def address(column: int, row: Any = row) -> Any:
            return four_at(builder, builder.gep(row, [INTEGER(column)]))

        work(in_all_lanes(builder, value), address)


def _fallen(builder: Any, root: Any, ratio: Any, rounded: Any, dither: Any) -> Any:
    """root / sqrt(1 + ratio^2): as rounded, or by dither where it falls by less than the spacing of its numbers."""
    lost = builder.fmul(builder.fmul(root, ratio), builder.fmul(ratio, _all(0.5)))
    bits = builder.bitcast(root, BITS)
    exponent = builder.bitcast(builder.and_(bits, ir.Constant(BITS, [EXPONENT] * 4)), FOUR)
    spacing = builder.fmul(exponent, _all(SPACING))
    falls = builder.fcmp_ordered(">", lost, builder.fmul(in_all_lanes(builder, dither), spacing))
    stepped = builder.bitcast(builder.sub(bits, builder.zext(falls, BITS)), FOUR)
    return builder.select(builder.fcmp_ordered("<", lost, spacing), stepped, rounded)


def _add_squares(builder: Any, table: Any, slots: Any, values: Any, slopes: Any, dither: Any = None) -> Any:
    slope, none = _vector(builder, slopes), _all(0.0)
    total = cgutils.alloca_once_value(builder, none)
    builder.store(none, total)

    def work(z: Any, address: Any) -> None:
        root = builder.load(address(ROOTS), align=4)
        gradient = _call(builder, "fabs", builder.fmul(slope, z))
        ratio = _call(builder, "minnum", builder.fmul(gradient, root), _all(LARGEST))
        more = builder.fadd(_all(1.0), builder.fmul(ratio, ratio, flags=FUSED), flags=FUSED)
        new = builder.fcmp_ordered("==", root, none)  # 1 / |gradient|, else as many as there are before
        over = builder.select(new, gradient, _call(builder, "sqrt", more))
        under = builder.fdiv(builder.select(new, _all(1.0), root), over)
        later = under if dither is None else _fallen(builder, root, ratio, under, dither)
        first = builder.select(builder.fcmp_ordered(">", gradient, _all(TINIEST)), under, none)
        root = builder.select(new, first, later)
        builder.store(root, address(ROOTS), align=4)
        push = builder.fmul(builder.fmul(z, z), root, flags=FUSED)
        builder.store(builder.fadd(builder.load(total), push, flags=FUSED), total)

    _each(builder, table, slots, values, work)
    return _tuple(builder, builder.select(builder.fcmp_unordered("!=", slope, none), builder.load(total), none))


def _move(builder: Any, table: Any, slots: Any, values: Any, steps: Any) -> None:
    step = _vector(builder, steps)

    def work(z: Any, address: Any) -> None:
        length = builder.fmul(step, z)
        change = builder.fmul(length, builder.load(address(ROOTS), align=4), flags=FUSED)
        weights = builder.load(address(WEIGHTS), align=4)
        moved = builder.fsub(weights, change, flags=FUSED)
        sound = builder.fcmp_ordered("<=", _call(builder, "fabs", moved), _all(FURTHEST))
        builder.store(builder.select(sound, moved, weights), address(WEIGHTS), align=4)

    _each(builder, table, slots, values, work)


@in_llvm(_add_squares, QUARTET)
def add_squares(table, slots, values, slopes):
    """s <- s + (slope z)^2; the sums of z^2 s^-1/2 of the four models, 0 for those whose slope is 0."""
    return _plain_add_squares(table, slots, values, slopes, None)


@in_llvm(_add_squares, QUARTET)
def add_squares_by_dither(table, slots, values, slopes, dither):
    """The same where changes of s^-1/2 below its spacing are rounded by the fraction `dither` (float32) of it."""
    return _plain_add_squares(table, slots, values, slopes, dither)


def _plain_add_squares(table, slots, values, slopes, dither):
    sums = np.zeros(4, np.float32)
    for slot, z in zip(slots, values, strict=True):
        roots = table[slot, ROOTS : ROOTS + 4]
        for e in range(4):
            gradient, root = abs(slopes[e] * z), roots[e]
            if root > 0.0:
                ratio = min(gradient * root, np.float32(LARGEST))
                roots[e] = root / np.sqrt(1.0 + ratio * ratio)
                lost, spacing = 0.5 * root * ratio * ratio, np.spacing(root)
                if dither is not None and lost < spacing:
                    roots[e] = root - spacing * (lost > dither * spacing)
            elif gradient > TINIEST:
                roots[e] = 1.0 / gradient
            if slopes[e] != 0.0:
                sums[e] += z * z * roots[e]
    return tuple(sums)


@in_llvm(_move)
def move(table, slots, values, steps):
    """w <- w - step z / s^1/2; a weight stays where it would go too far."""
    for slot, z in zip(slots, values, strict=True):
        weights = table[slot, WEIGHTS : WEIGHTS + 4]
        moved = weights - np.array(steps) * z * table[slot, ROOTS : ROOTS + 4]
        weights[:] = np.where(np.abs(moved) <= FURTHEST, moved, weights)


def _each_two(builder: Any, cells: Any, at: Any, parts: Any, work: Any) -> None:
    """Call `work(weights, squares, parts, store)` for two places at a time; at each are two neighbouring cells."""

    def lanes(*places: int) -> Any:
        return ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)

    def cell(k: Any) -> Any:
        place = builder.shl(builder.load(builder.gep(at.data, [k])), INTEGER(1))
        return four_at(builder, builder.gep(cells.data, [place]))

    def part(k: Any) -> Any:
        address = builder.gep(parts.data, [builder.shl(k, INTEGER(1))])
        return builder.load(builder.bitcast(address, PAIR.as_pointer()), align=4)

    count = cgutils.unpack_tuple(builder, at.shape, 1)[0]
    with cgutils.for_range_slice(builder, INTEGER(0), count, INTEGER(2), inc=True) as (k, _):
        after = builder.add(k, INTEGER(1))
        whole = builder.icmp_signed("<", after, count)
        other = builder.select(whole, after, k)  # a last place without a partner stands twice, once with parts of 0
        first, second = cell(k), cell(other)
        one, two = builder.load(first, align=4), builder.load(second, align=4)
        counted = builder.select(whole, part(other), ir.Constant(PAIR, [0.0] * 2))

        def store(weights: Any, squares: Any, first: Any = first, second: Any = second) -> None:
            builder.store(builder.shuffle_vector(weights, squares, lanes(2, 6, 3, 7)), second, align=4)
            builder.store(builder.shuffle_vector(weights, squares, lanes(0, 4, 1, 5)), first, align=4)

        weights, squares = (builder.shuffle_vector(one, two, lanes(*places)) for places in ((0, 2, 4, 6), (1, 3, 5, 7)))
        work(weights, squares, builder.shuffle_vector(part(k), counted, lanes(0, 1, 2, 3)), store)


def _sum_weights(builder: Any, cells: Any, at: Any, parts: Any) -> Any:
    numbers = ir.VectorType(ir.DoubleType(), 4)
    total = cgutils.alloca_once_value(builder, ir.Constant(numbers, [0.0] * 4))
    builder.store(ir.Constant(numbers, [0.0] * 4), total)

    def work(weights: Any, squares: Any, parts: Any, store: Any) -> None:
        more = builder.fpext(builder.fmul(weights, parts), numbers)
        builder.store(builder.fadd(builder.load(total), more), total)

    _each_two(builder, cells, at, parts, work)
    sums = [builder.extract_element(builder.load(total), ir.Constant(ir.IntType(32), e)) for e in range(4)]
    return builder.fadd(builder.fadd(sums[0], sums[1]), builder.fadd(sums[2], sums[3]))


def _move_weights(builder: Any, cells: Any, at: Any, parts: Any, slope: Any, step: Any, damping: Any) -> None:
    slope, step, damping = (in_all_lanes(builder, number) for number in (slope, step, damping))

    def work(weights: Any, squares: Any, parts: Any, store: Any) -> None:
        slopes = builder.fmul(slope, parts)
        squares = builder.fadd(squares, builder.fmul(slopes, slopes, flags=FUSED), flags=FUSED)
        roots = _call(builder, "sqrt", builder.fadd(squares, damping))
        store(builder.fsub(weights, builder.fdiv(builder.fmul(step, slopes), roots)), squares)

    _each_two(builder, cells, at, parts, work)


@in_llvm(_sum_weights, types.float64)
def sum_weights(cells, at, parts):
    """Sum of the weights of cells `at` (n,) and of the next ones, each times its part (n, 2); `cells` is (N, 2, 1)."""
    products = cells[at[:, None] + [0, 1], 0, 0] * parts
    return products.sum(dtype=np.float64)


@in_llvm(_move_weights)
def move_weights(cells, at, parts, slope, step, damping):
    """A step of AdaGrad for them, down the slope times the part: s <- s + g^2, w <- w - step g / sqrt(s + damping)."""
    for k in range(len(at)):
        for side in range(2):
            cell, gradient = cells[at[k] + side], slope * parts[k, side]
            cell[1, 0] += gradient * gradient
            cell[0, 0] -= step * gradient / np.sqrt(cell[1, 0] + damping)


def _rank_one_update(builder: Any, matrix: Any, v: Any, factor: Any, ratio: Any) -> None:
    """Four rows and eight columns at a time, so that v is loaded seldom; what is left over in smaller parts."""
    count, width = cgutils.unpack_tuple(builder, v.shape, 1)[0], cgutils.unpack_tuple(builder, matrix.shape, 2)[1]

    def columns(rows: list[Any], steps: list[Any], lanes: int, first: Any, end: Any) -> None:
        kind = ir.VectorType(NUMBER, lanes).as_pointer()
        kept, taken = in_all_lanes(builder, factor, lanes), [in_all_lanes(builder, step, lanes) for step in steps]
        with cgutils.for_range_slice(builder, first, end, INTEGER(lanes), inc=True) as (j, _):
            part = builder.load(builder.bitcast(builder.gep(v.data, [j]), kind), align=8)
            for row, step in zip(rows, taken, strict=True):
                address = builder.bitcast(builder.gep(row, [j]), kind)
                before = builder.fmul(kept, builder.load(address, align=8), flags=FUSED)
                changed = builder.fsub(before, builder.fmul(step, part, flags=FUSED), flags=FUSED)
                builder.store(changed, address, align=8)

    def together(many: int, first: Any, end: Any) -> None:
        with cgutils.for_range_slice(builder, first, end, INTEGER(many), inc=True) as (i, _):
            places = [builder.add(i, INTEGER(place)) for place in range(many)]
            steps = [builder.fmul(ratio, builder.load(builder.gep(v.data, [place]))) for place in places]
            rows = [builder.gep(matrix.data, [builder.mul(place, width)]) for place in places]
            whole = builder.and_(count, INTEGER(-8))
            columns(rows, steps, 8, INTEGER(0), whole)
            columns(rows, steps, 1, whole, count)

    fours = builder.and_(count, INTEGER(-4))
    together(4, INTEGER(0), fours)
    together(1, fours, count)


@in_llvm(_rank_one_update)
def rank_one_update(matrix, v, factor, ratio):
    """matrix <- factor matrix - ratio v v', in the first len(v) rows and columns."""
    here = slice(len(v))
    matrix[here, here] = factor * matrix[here, here] - np.outer(ratio * v, v)
