"""Rows of features read from tokenized text, row after row: no cell is copied, and no column is built."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import not_digits
from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.block import LARGEST, Names
from ouzel.streams.kernels.batch_hash import LANES, lane_of
from ouzel.streams.kernels.delimiters import BLANK, trim_blanks
from ouzel.streams.kernels.new_names import NewNames, copy_names
from ouzel.streams.kernels.numbers import parse_number, plain_decimal
from ouzel.streams.kernels.row_buffer import (
    ENOUGH_NAMES,
    OWN_LINE,
    ROWS_AT_ONCE,
    allocate_rows,
    begin_row,
    finish_names,
    finish_row,
    put_number,
    put_word,
)
from ouzel.streams.kernels.seen_set import find_new
from ouzel.streams.missing import is_na_number_token, is_na_token
from ouzel.streams.tables.cells import is_infinity
from ouzel.streams.tables.column_buffers import IS_NUMBER, KINDS, Layout, Rows
from ouzel.streams.tables.tokenized_rows import DOUBLED, TokenizedRows
from ouzel.streams.truth_values import NEITHER, lower, may_be_truth, truth_of

ENOUGH = np.uint64(1024)  # features that are gathered of some rows, or those of one more row
ONE, ZERO = np.uint64(1), np.uint64(0)
COLUMN, START, STOP = (np.uint64((OWN_LINE + k) * LANES) for k in range(3))
"""Of a word that is gathered its column, and where it starts and ends."""


@force_inline
def _number(data, start, size):
    """The number in a cell, and whether the cell is one."""
    value, first, point, end = plain_decimal(data, start, not_digits(data, start), ZERO)
    if end == size and point > first:
        return value, True
    value, stop = parse_number(data, start, start + size)
    return value, np.uint64(stop) == start + size


@force_inline
def _record_words(buffer, names, layout, mask, seen, spans, count):
    """Write the spans of those of the first words that are new behind `count` others; return how many there are."""
    lanes, hashes, new = buffer.names
    for k in range(find_new(seen, hashes, names, mask, new)):
        lane, span = lane_of(new[k]), spans[count]
        column = np.uint64(lanes[lane + COLUMN])
        span[0], span[1] = layout.ends[column], layout.ends[column + ONE]
        span[2], span[3], span[4] = lanes[lane + START], lanes[lane + STOP], hashes[new[k]] & mask
        count += ONE
    return count


@kernel
def _read(data, starts, sizes, layout, longest, mask, seen, offsets, ids, values, spans):
    """Rows of features in canonical order: (features, words not yet seen, which columns have numbers, and which of
    those of numbers have words).

    Truth values are written in small letters where they lie. -1 features if a cell is not finite or too long, or has
    quotation marks written twice. `starts` and `sizes` are those of all cells, row after row. `seen` has the ids of
    words met so far, see `is_new`; others come to `spans` (see `NewNames`). The words of some rows are hashed together.
    """
    columns, rows = np.uint64(len(layout.kinds)), np.uint64(len(offsets) - 1)
    numbered, worded = np.zeros(len(layout.kinds), np.bool_), np.zeros(len(layout.kinds), np.bool_)
    buffer = allocate_rows(len(layout.kinds) + int(ENOUGH))
    cell = filled = count = row = waiting = features = names = ZERO
    offsets[0] = 0
    while row < rows:
        begin_row(buffer, waiting, features, names)
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
                    put_number(buffer, features, layout.own[k], layout.own[k], np.float32(number))
                    numbered[k] = True
                    features += np.uint64(buffer.values[features] != 0.0)
                    continue
                if is_na_number_token(data, start, start + size):
                    continue
            if is_na_token(data, np.int64(start), np.int64(start + size)):
                continue
            if may_be_truth(data, start, size):
                truth = truth_of(data, np.int64(start), np.int64(size))
                if truth != NEITHER and layout.kinds[k] == IS_NUMBER:
                    put_number(buffer, features, layout.own[k], layout.own[k], np.float32(truth))
                    numbered[k] = True
                    features += np.uint64(truth)
                    continue
                if truth != NEITHER:
                    lower(data, np.int64(start), np.int64(size))
            if layout.kinds[k] == IS_NUMBER:
                if is_infinity(data, np.int64(start), np.int64(start + size)):
                    return np.int64(-1), count, numbered, worded
                worded[k] = True
            if size > longest:
                return np.int64(-1), count, numbered, worded
            length = layout.ends[k + ONE] - layout.ends[k] + size
            prefix = layout.words[k], layout.tails[k], layout.bits[k]
            put_word(buffer, features, names, prefix[0], prefix[1], prefix[2], data, start, size, length)
            lane = lane_of(names)
            buffer.names.lanes[lane + COLUMN], buffer.names.lanes[lane + START] = k, start
            buffer.names.lanes[lane + STOP] = start + size
            names, features = names + ONE, features + ONE
        row, waiting = row + ONE, waiting + ONE
        if row < rows and waiting < ROWS_AT_ONCE and names < ENOUGH_NAMES and features < ENOUGH:
            continue
        finish_names(buffer, features, names, waiting, mask)
        count = _record_words(buffer, names, layout, mask, seen, spans, count)
        for k in range(waiting):
            filled = finish_row(buffer, k, ids, values, filled)
            offsets[row - waiting + k + ONE] = filled
        waiting = features = names = ZERO
    return np.int64(filled), count, numbered, worded


def read_in_place(
    rows: TokenizedRows, layout: Layout, longest: int, mask: np.uint32, seen: np.ndarray, spans: np.ndarray
) -> tuple[Rows, Names, np.ndarray, np.ndarray] | None:
    """The features of rows, the names of words not yet `seen`, and masks of columns with numbers and with words.

    A word has `longest` bytes at most. None if there is a cell to complain of, or one that does not lie in the text as
    it is. `spans` (cells, SPAN) is room.
    """
    cells = rows.starts.size
    read = Rows(np.empty(rows.num_rows + 1, np.uint64), np.empty(cells, np.uint32), np.empty(cells, np.float32))
    arguments = rows.data, rows.starts.ravel(), rows.sizes.ravel(), layout, np.uint64(longest), mask, seen
    filled, count, numbered, worded = _read(*arguments, *read, spans)
    if filled < 0:
        return None
    spans = spans[: int(count)]
    size = int((spans[:, 1] - spans[:, 0] + spans[:, 3] - spans[:, 2]).sum())
    names = copy_names([NewNames(layout.prefixes, rows.data, spans, size)])
    return Rows(read.offsets, read.ids[:filled], read.values[:filled]), names, numbered, worded
