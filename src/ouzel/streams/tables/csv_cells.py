"""Cells of CSV text, found and put together column by column; what is not written plainly is left to another parser.

Where cells end is found for a whole chunk first, 64 bytes at a time: which of them lie within quotation marks is the
parity of the marks before them (Langdale and Lemire 2019, "Parsing Gigabytes of JSON per Second").
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow
import pyarrow.csv

from ouzel.kernels.bytes import COPIED, LOOKED_AT, copy_some, equal_to, ones, trailing_zeros
from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.missing import is_one_of
from ouzel.streams.text.marks import SPARE

ZERO, ONE, EIGHT, SIXTY_THREE = (np.uint64(number) for number in (0, 1, 8, 63))
QUOTE, NEWLINE, RETURN = (np.uint8(byte) for byte in b'"\n\r')
DOUBLED = np.uint32(1 << 31)  # marks a cell that has quotation marks, written twice
TILE = 256  # rows that are copied together, for they are in the nearest cache
BEHIND = COPIED + LOOKED_AT  # bytes behind a text that are read, and written over
LONG = np.uint64(COPIED)
LONGEST = 1 << 31  # bytes of a text, whose places are told from marks by their highest bit
ODD = -1  # not written plainly

NULLS = sorted(word.encode() for word in pyarrow.csv.ConvertOptions().null_values if word)
SIZES = np.array([len(word) for word in NULLS])
WORDS = np.array([list(word.ljust(SIZES.max())) for word in NULLS], np.uint8)
BEGINS = np.bincount(WORDS[:, 0], minlength=256) > 0  # whether one of the words begins with a byte
ENDS = np.bincount([word[-1] for word in NULLS], minlength=256) > 0  # or ends with it


@force_inline
def _to_the_left(word):
    """Each bit is the parity of those up to it."""
    for shift in (1, 2, 4, 8, 16, 32):
        word ^= word << np.uint64(shift)
    return word


@kernel
def find_ends(data, stop, delimiter, found):
    """Write to `found` where cells of `data[:stop]` end: (how many, quotation marks, returns, whether a quote is open).

    Of delimiters, newlines and carriage returns those within quotation marks do not count. `found` has room for a place
    of every byte and SPARE more, `data` for BEHIND bytes more, which are zero.
    """
    count = quotes = returns = inside = ZERO
    at, stop = ZERO, np.uint64(stop)
    while at < stop:
        marks = equal_to(data, at, QUOTE)
        quoted = _to_the_left(marks) ^ inside
        inside = ZERO - (quoted >> SIXTY_THREE)
        word = (equal_to(data, at, delimiter) | equal_to(data, at, NEWLINE)) & ~quoted
        quotes += ones(marks)
        returns += ones(equal_to(data, at, RETURN) & ~quoted)
        many = ones(word)
        for part in range(ZERO, (many + np.uint64(7)) >> np.uint64(3)):
            for k in range(8):  # as many as there are or more, which are written over
                found[count + EIGHT * part + np.uint64(k)] = at + trailing_zeros(word)
                word &= word - ONE
        count += many
        at += np.uint64(LOOKED_AT)
    return np.int64(count), np.int64(quotes), np.int64(returns), inside != ZERO


@force_inline
def _doubled(data, start, stop, quoted):
    """How many quotation marks of a cell are written twice; ODD if one is not."""
    count = 0
    while start < stop:
        if data[start] == QUOTE:
            if not quoted or start + 1 == stop or data[start + 1] != QUOTE:
                return ODD
            count += 1
            start += 1
        start += 1
    return count


@kernel
def cut_rows(data, found, count, careful, starts, sizes, totals):
    """Where cells (columns, rows) start and their sizes, and the bytes of each column: (rows, end, quotes, returns).

    As many quotation marks and carriage returns are told as are not part of a cell. Where `careful`, those that are
    written twice are looked for: such a cell has DOUBLED in its start. ODD rows if one has more or fewer cells, or
    marks elsewhere. Lines of nothing are left out.
    """
    columns = np.int64(len(totals))
    at = k = row = quotes = returns = np.int64(0)
    while k < count:
        end = np.int64(found[k])
        if data[end] == NEWLINE and (end == at or (end == at + 1 and data[at] == RETURN)):
            returns += end - at
            at, k = end + 1, k + 1
            continue
        if k + columns > count:
            for rest in range(k, count):
                if data[found[rest]] == NEWLINE:
                    return ODD, at, quotes, returns
            break
        for column in range(columns):
            end = np.int64(found[k + column])
            start, stop = at, end
            at = end + 1
            last = column == columns - 1
            if (data[end] == NEWLINE) != last:
                return ODD, at, quotes, returns
            if last and stop > start and data[stop - 1] == RETURN:
                stop -= 1
                returns += 1
            quoted = stop > start and data[start] == QUOTE
            if quoted:
                if stop - start < 2 or data[stop - 1] != QUOTE:
                    return ODD, at, quotes, returns
                start, stop = start + 1, stop - 1
                quotes += 2
            size = stop - start
            mark = np.uint32(0)
            if careful:
                doubled = _doubled(data, start, stop, quoted)
                if doubled == ODD:
                    return ODD, at, quotes, returns
                if doubled:
                    mark = DOUBLED
                    quotes += 2 * doubled
                    size -= doubled
            starts[column, row], sizes[column, row] = np.uint32(start) | mark, size
            totals[column] += size
        k += columns
        row += 1
    return row, at, quotes, returns


@kernel
def copy_cells(data, starts, sizes, rows, text, begins, offsets, valid):
    """Copy cells to `text`, those of a column from `begins[column]` on; their offsets (columns, rows + 1) and which
    are not null, as (columns, rows) bool. `text` has BEHIND bytes of room behind every column.
    """
    columns = len(begins)
    for first in range(0, rows, TILE):
        stop = min(first + TILE, rows)
        for column in range(columns):
            filled = np.uint64(begins[column] + offsets[column, first])
            for row in range(first, stop):
                start, size = starts[column, row], np.uint64(sizes[column, row])
                at = np.uint64(start & ~DOUBLED)
                begun = filled
                if start & DOUBLED:
                    while filled < begun + size:
                        text[filled] = data[at]
                        at += ONE + np.uint64(data[at] == QUOTE)
                        filled += ONE
                else:
                    copy_some(text, filled, data, at)
                    if size > LONG:
                        for k in range(LONG, size, LONG):
                            copy_some(text, filled + k, data, at + k)
                    filled += size
                is_null = size == 0
                if not is_null and BEGINS[text[begun]] & ENDS[text[begun + size - ONE]]:
                    is_null = is_one_of(text, np.int64(begun), np.int64(size), SIZES, WORDS)
                valid[column, row] = not is_null
                offsets[column, row + 1] = np.int64(filled) - begins[column]


def can_cut(delimiter: str) -> bool:
    """Whether cells that are parted by this can be found: by one byte that means nothing else."""
    return len(delimiter) == 1 and delimiter.isascii() and delimiter not in '\0"\r\n'


class Cutter:
    """Chunks of CSV text as record batches, every cell as text, and null where PyArrow's parser has null."""

    def __init__(self, names: list[str], delimiter: str) -> None:
        self.names = names
        self._delimiter = np.uint8(ord(delimiter))
        self._found = np.empty(0, np.uint32)

    def cut(self, text: bytes) -> tuple[pyarrow.RecordBatch, int] | None:
        """The rows of a text, and how many bytes they take: all but the last, where a quotation in it does not end.

        None if one is not written plainly, or the last is most of the text.
        """
        if len(text) >= LONGEST:
            return None
        data = np.zeros(len(text) + BEHIND, np.uint8)
        data[: len(text)] = np.frombuffer(text, np.uint8)
        if len(self._found) < len(text) + SPARE:
            self._found = np.empty(len(text) + SPARE, np.uint32)
        count, quotes, returns, is_open = find_ends(data, len(text), self._delimiter, self._found)
        columns = len(self.names)
        shape = columns, count // columns
        starts, sizes, totals = np.empty(shape, np.uint32), np.empty(shape, np.uint32), np.zeros(columns, np.int64)
        for careful in (False, True):
            totals[:] = 0
            rows, end, marks, stripped = cut_rows(data, self._found, count, careful, starts, sizes, totals)
            whole = end == len(text) or (is_open and self._may_go_on(data, count, end, len(text)))
            if rows == ODD or stripped != returns or not whole:
                return None
            if marks + text.count(b'"', end) == quotes:
                return self._batch(data, starts, sizes, rows, totals), end
        return None

    def _may_go_on(self, data: np.ndarray, count: int, end: int, size: int) -> bool:
        """Whether the last cell of a text is a quotation, and the row, which begins at `end`, is not most of it."""
        start = max(end, int(self._found[count - 1]) + 1) if count else end
        return bool(data[start] == QUOTE) and 2 * end >= size

    def _batch(
        self, data: np.ndarray, starts: np.ndarray, sizes: np.ndarray, rows: int, totals: np.ndarray
    ) -> pyarrow.RecordBatch:
        columns = len(totals)
        begins = np.concatenate([[0], np.cumsum(totals + BEHIND)])
        text = np.empty(int(begins[-1]), np.uint8)
        offsets, valid = np.empty((columns, rows + 1), np.int64), np.empty((columns, rows), np.bool_)
        offsets[:, 0] = 0
        copy_cells(data, starts, sizes, rows, text, begins[:-1], offsets, valid)
        return pyarrow.RecordBatch.from_arrays(
            [_column(offsets[k], text[begins[k] : begins[k] + totals[k] + COPIED], valid[k]) for k in range(columns)],
            self.names,
        )


def _column(offsets: np.ndarray, text: np.ndarray, valid: np.ndarray) -> Any:
    nulls = len(valid) - int(np.count_nonzero(valid))
    bits = pyarrow.py_buffer(np.packbits(valid, bitorder="little")) if nulls else None
    buffers = pyarrow.py_buffer(offsets), pyarrow.py_buffer(text)
    return pyarrow.LargeStringArray.from_buffers(len(valid), *buffers, bits, nulls)
