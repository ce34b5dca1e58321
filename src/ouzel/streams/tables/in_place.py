"""Rows of features read where their cells lie in a text, row after row: nothing is copied, and no column made."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import not_digits
from ouzel.kernels.jit import force_inline, kernel
from ouzel.sketches.hashing import finish_hash
from ouzel.streams.block import LARGEST, Names
from ouzel.streams.missing import says_nothing
from ouzel.streams.row_order import rank_row, ranking_room
from ouzel.streams.tables.cells import says_infinite
from ouzel.streams.tables.cut_rows import DOUBLED, CutRows
from ouzel.streams.tables.lanes import Rows
from ouzel.streams.tables.row_layout import IS_NUMBER, KINDS, Layout, names_of
from ouzel.streams.text.numbers import parse_number
from ouzel.streams.text.plain_features import plain_decimal
from ouzel.streams.text.spans import ONE, ZERO, absorb, is_new

BLANK = np.uint8(32)


@force_inline
def _number(data, start, size):
    """The number that a cell is, and whether it is one."""
    value, first, point, end = plain_decimal(data, start, not_digits(data, start), ZERO)
    if end == size and point > first:
        return value, True
    value, stop = parse_number(data, start, start + size)
    return value, np.uint64(stop) == start + size


@kernel
def _read(data, starts, sizes, layout, longest, mask, noted, offsets, ids, values, told):
    """Rows of features in canonical order: (features, words not yet noted, which columns have numbers but 0).

    -1 features if a cell is not finite or too long, or has quotation marks written twice. `starts` and `sizes` are
    those of all cells, row after row. `noted` has the ids of words met so far, see `is_new`; others come to `told`.
    """
    columns = np.uint64(len(layout.kinds))
    ranking, numbered = ranking_room(), np.zeros(len(layout.kinds), np.bool_)
    cell = filled = count = ZERO
    offsets[0] = 0
    for i in range(len(offsets) - 1):
        begun, previous, ordered = filled, np.int64(-1), True
        for k in range(columns):
            start, size = np.uint64(starts[cell]), np.uint64(sizes[cell])
            cell += ONE
            if layout.kinds[k] >= len(KINDS):
                continue
            if start >= DOUBLED:
                return np.int64(-1), count, numbered
            while size > ZERO and data[start] == BLANK:
                start, size = start + ONE, size - ONE
            while size > ZERO and data[start + size - ONE] == BLANK:
                size -= ONE
            if size == ZERO:
                continue
            is_number = layout.kinds[k] == IS_NUMBER
            if is_number:
                number, is_number = _number(data, start, size)
                value, identity = np.float32(number), layout.own[k]
                if is_number and not abs(number) <= LARGEST:
                    return np.int64(-1), count, numbered
                numbered[k] |= is_number and value != 0.0
            if not is_number:
                if says_nothing(data, np.int64(start), np.int64(start + size)):
                    continue
                infinite = layout.kinds[k] == IS_NUMBER and says_infinite(data, np.int64(start), np.int64(start + size))
                if infinite or size > longest:
                    return np.int64(-1), count, numbered
                word, tail, _ = absorb(layout.words[k], layout.held[k], layout.bits[k], data, start, size)
                value, length = np.float32(1.0), layout.ends[k + ONE] - layout.ends[k] + size
                identity = finish_hash(word, tail, length) & mask
                if is_new(noted, identity):
                    word_told = told[count]
                    word_told[0], word_told[1], word_told[2], word_told[3] = k, identity, start, start + size
                    count += ONE
            ids[filled], values[filled] = identity, value
            ordered &= np.int64(identity) > previous
            previous = np.int64(identity)
            filled += np.uint64(value != 0.0)
        if not ordered:
            filled = np.uint64(rank_row(ids, values, np.int64(begun), np.int64(filled), ranking))
        offsets[i + 1] = filled
    return np.int64(filled), count, numbered


def read_in_place(
    rows: CutRows, layout: Layout, longest: int, mask: np.uint32, noted: np.ndarray, told: np.ndarray
) -> tuple[Rows, Names, np.ndarray] | None:
    """The features of rows, the names of words that are not yet `noted`, and which columns have numbers but 0.

    A word has `longest` bytes at most. None if there is a cell to complain of, or one that does not lie in the text as
    it is. `told` (cells, TOLD) is room.
    """
    cells = rows.starts.size
    read = Rows(np.empty(rows.num_rows + 1, np.uint64), np.empty(cells, np.uint32), np.empty(cells, np.float32))
    asked = rows.data, rows.starts.ravel(), rows.sizes.ravel(), layout, np.uint64(longest), mask, noted
    filled, count, numbered = _read(*asked, *read, told)
    if filled < 0:
        return None
    names = names_of(layout, rows.data, told[: int(count)])
    return Rows(read.offsets, read.ids[:filled], read.values[:filled]), names, numbered
