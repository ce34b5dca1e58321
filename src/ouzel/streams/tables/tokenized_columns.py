"""Rows of features read where their cells lie in a text, row after row: nothing is copied, and no column made."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import not_digits
from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.block import LARGEST, Names
from ouzel.streams.kernels.batch_hash import ONE, ZERO, allocate_names, hash_names, put_name
from ouzel.streams.kernels.delimiters import BLANK, trim_blanks
from ouzel.streams.kernels.new_names import NewNames, copy_names
from ouzel.streams.kernels.numbers import parse_number, plain_decimal
from ouzel.streams.kernels.row_order import rank_row, ranking_room
from ouzel.streams.kernels.seen_set import is_new
from ouzel.streams.missing import marks_no_number, says_nothing
from ouzel.streams.tables.cells import says_infinite
from ouzel.streams.tables.column_buffers import IS_NUMBER, KINDS, Layout, Rows
from ouzel.streams.tables.tokenized_rows import DOUBLED, CutRows
from ouzel.streams.truth_values import NEITHER, lower, may_be_truth, truth_of


@force_inline
def _number(data, start, size):
    """The number that a cell is, and whether it is one."""
    value, first, point, end = plain_decimal(data, start, not_digits(data, start), ZERO)
    if end == size and point > first:
        return value, True
    value, stop = parse_number(data, start, start + size)
    return value, np.uint64(stop) == start + size


@kernel
def _read(data, starts, sizes, layout, longest, mask, noted, offsets, ids, values, spans):
    """Rows of features in canonical order: (features, words not yet noted, which columns have numbers, and which of
    those of numbers have words).

    Truth values are written in small letters where they lie. -1 features if a cell is not finite or too long, or has
    quotation marks written twice. `starts` and `sizes` are those of all cells, row after row. `noted` has the ids of
    words met so far, see `is_new`; others come to `spans` (see `NewNames`). The words of a row are hashed together.
    """
    columns = np.uint64(len(layout.kinds))
    ranking, numbered = ranking_room(), np.zeros(len(layout.kinds), np.bool_)
    worded = np.zeros(len(layout.kinds), np.bool_)
    pending, words = allocate_names(len(layout.kinds)), np.empty((len(layout.kinds), 4), np.uint64)
    cell = filled = count = ZERO
    offsets[0] = 0
    for i in range(len(offsets) - 1):
        begun, several = filled, ZERO
        for k in range(columns):
            start, size = np.uint64(starts[cell]), np.uint64(sizes[cell])
            cell += ONE
            if layout.kinds[k] >= len(KINDS) or size == ZERO:
                continue
            if start >= DOUBLED:
                return np.int64(-1), count, numbered, worded
            if (data[start] == BLANK) | (data[start + size - ONE] == BLANK):
                start, stop = trim_blanks(data, start, start + size)
                size = stop - start
                if size == ZERO:
                    continue
            if layout.kinds[k] == IS_NUMBER:
                number, is_number = _number(data, start, size)
                if is_number and not abs(number) <= LARGEST:
                    return np.int64(-1), count, numbered, worded
                if is_number:
                    ids[filled], values[filled] = layout.own[k], np.float32(number)
                    numbered[k] = True
                    filled += np.uint64(values[filled] != 0.0)
                    continue
                if marks_no_number(data, start, start + size):
                    continue
            if says_nothing(data, np.int64(start), np.int64(start + size)):
                continue
            if may_be_truth(data, start, size):
                truth = truth_of(data, np.int64(start), np.int64(size))
                if truth != NEITHER and layout.kinds[k] == IS_NUMBER:
                    ids[filled], values[filled] = layout.own[k], np.float32(truth)
                    numbered[k] = True
                    filled += np.uint64(truth)
                    continue
                if truth != NEITHER:
                    lower(data, np.int64(start), np.int64(size))
            if layout.kinds[k] == IS_NUMBER:
                if says_infinite(data, np.int64(start), np.int64(start + size)):
                    return np.int64(-1), count, numbered, worded
                worded[k] = True
            if size > longest:
                return np.int64(-1), count, numbered, worded
            length = layout.ends[k + ONE] - layout.ends[k] + size
            put_name(pending, several, layout.words[k], layout.held[k], layout.bits[k], data, start, size, length)
            words[several, 0], words[several, 1], words[several, 2], words[several, 3] = k, filled, start, start + size
            values[filled] = np.float32(1.0)
            several, filled = several + ONE, filled + ONE
        hash_names(pending, several)
        for k in range(several):
            identity = pending.hashes[k] & mask
            ids[words[k, 1]] = identity
            if is_new(noted, identity):
                column, told = words[k, 0], spans[count]
                told[0], told[1] = layout.ends[column], layout.ends[column + ONE]
                told[2], told[3], told[4] = words[k, 2], words[k, 3], identity
                count += ONE
        filled = np.uint64(rank_row(ids, values, np.int64(begun), np.int64(filled), ranking))
        offsets[i + 1] = filled
    return np.int64(filled), count, numbered, worded


def read_in_place(
    rows: CutRows, layout: Layout, longest: int, mask: np.uint32, noted: np.ndarray, spans: np.ndarray
) -> tuple[Rows, Names, np.ndarray, np.ndarray] | None:
    """The features of rows, the names of words that are not yet `noted`, which columns have numbers, and which of those
    of numbers have words.

    A word has `longest` bytes at most. None if there is a cell to complain of, or one that does not lie in the text as
    it is. `spans` (cells, SPAN) is room.
    """
    cells = rows.starts.size
    read = Rows(np.empty(rows.num_rows + 1, np.uint64), np.empty(cells, np.uint32), np.empty(cells, np.float32))
    asked = rows.data, rows.starts.ravel(), rows.sizes.ravel(), layout, np.uint64(longest), mask, noted
    filled, count, numbered, worded = _read(*asked, *read, spans)
    if filled < 0:
        return None
    spans = spans[: int(count)]
    size = int((spans[:, 1] - spans[:, 0] + spans[:, 3] - spans[:, 2]).sum())
    names = copy_names([NewNames(layout.prefixes, rows.data, spans, size)])
    return Rows(read.offsets, read.ids[:filled], read.values[:filled]), names, numbered, worded
