"""Rows of features read from tokenized text, row after row: no cell is copied, and no column is built."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import not_digits
from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.block import LARGEST, Names
from ouzel.streams.kernels.batch_hash import hash_names, put_name, room_to_hash
from ouzel.streams.kernels.numbers import parse_number, plain_decimal
from ouzel.streams.kernels.row_order import rank_row, ranking_room
from ouzel.streams.kernels.seen_set import BLANK, ONE, ZERO, is_new, trimmed
from ouzel.streams.missing import is_na_number_token, is_na_token
from ouzel.streams.tables.cells import is_infinity
from ouzel.streams.tables.column_buffers import IS_NUMBER, KINDS, Layout, Rows, names_of
from ouzel.streams.tables.tokenized_rows import DOUBLED, TokenizedRows
from ouzel.streams.truth_values import NEITHER, lower, may_be_truth, truth_of


@force_inline
def _number(data, start, size):
    """The number in a cell, and whether the cell is one."""
    value, first, point, end = plain_decimal(data, start, not_digits(data, start), ZERO)
    if end == size and point > first:
        return value, True
    value, stop = parse_number(data, start, start + size)
    return value, np.uint64(stop) == start + size


@kernel
def _read(data, starts, sizes, layout, longest, mask, seen, offsets, ids, values, new):
    """Write rows of features in canonical order; return (features, new words, numbered, worded).

    The masks say which columns have numbers, and which columns of numbers have words. Truth values are written in small
    letters where they lie. Returns -1 features if a cell is not finite or too long, or has quotation marks written
    twice. `starts` and `sizes` are those of all cells, row after row. `seen` has the ids of words so far, see `is_new`;
    new words are written to `new`. The words of a row are hashed together.
    """
    columns = np.uint64(len(layout.kinds))
    ranking, numbered = ranking_room(), np.zeros(len(layout.kinds), np.bool_)
    worded = np.zeros(len(layout.kinds), np.bool_)
    pending, words = room_to_hash(len(layout.kinds)), np.empty((len(layout.kinds), 4), np.uint64)
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
                start, stop = trimmed(data, start, start + size)
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
                if is_na_number_token(data, start, start + size):
                    continue
            if is_na_token(data, np.int64(start), np.int64(start + size)):
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
                if is_infinity(data, np.int64(start), np.int64(start + size)):
                    return np.int64(-1), count, numbered, worded
                worded[k] = True
            if size > longest:
                return np.int64(-1), count, numbered, worded
            length = layout.ends[k + ONE] - layout.ends[k] + size
            put_name(pending, several, layout.words[k], layout.tails[k], layout.bits[k], data, start, size, length)
            words[several, 0], words[several, 1], words[several, 2], words[several, 3] = k, filled, start, start + size
            values[filled] = np.float32(1.0)
            several, filled = several + ONE, filled + ONE
        hash_names(pending, several)
        for k in range(several):
            identity = pending.hashes[k] & mask
            ids[words[k, 1]] = identity
            if is_new(seen, identity):
                new[count, 0], new[count, 1] = words[k, 0], identity
                new[count, 2], new[count, 3] = words[k, 2], words[k, 3]
                count += ONE
        filled = np.uint64(rank_row(ids, values, np.int64(begun), np.int64(filled), ranking))
        offsets[i + 1] = filled
    return np.int64(filled), count, numbered, worded


def read_in_place(
    rows: TokenizedRows, layout: Layout, longest: int, mask: np.uint32, seen: np.ndarray, new: np.ndarray
) -> tuple[Rows, Names, np.ndarray, np.ndarray] | None:
    """The features of rows, the names of words not yet `seen`, and masks of columns with numbers and with words.

    A word has `longest` bytes at most. None if a cell must be refused, or does not lie in the text as it is. `new`
    (cells, NAME_FIELDS) is scratch.
    """
    cells = rows.starts.size
    read = Rows(np.empty(rows.num_rows + 1, np.uint64), np.empty(cells, np.uint32), np.empty(cells, np.float32))
    settings = rows.data, rows.starts.ravel(), rows.sizes.ravel(), layout, np.uint64(longest), mask, seen
    filled, count, numbered, worded = _read(*settings, *read, new)
    if filled < 0:
        return None
    names = names_of(layout, [(rows.data, new[: int(count)])])
    return Rows(read.offsets, read.ids[:filled], read.values[:filled]), names, numbered, worded
