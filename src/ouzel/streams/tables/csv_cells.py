"""Cells of CSV text, found where they lie; what is not written plainly is left to another parser.

Where cells end is found for a whole chunk first, 64 bytes at a time: which of them lie within quotation marks is the
parity of the marks before them (Langdale and Lemire 2019, "Parsing Gigabytes of JSON per Second").
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import LOOKED_AT, equal_to, ones, trailing_zeros
from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.tables.cut_rows import BEHIND, DOUBLED, CutRows
from ouzel.streams.text.marks import SPARE

ZERO, ONE, TWO, EIGHT, SIXTY_THREE = (np.uint64(number) for number in (0, 1, 2, 8, 63))
QUOTE, NEWLINE, RETURN = (np.uint8(byte) for byte in b'"\n\r')
LONGEST = 1 << 31  # bytes of a text, whose places are told from marks by their highest bit
ODD = -1  # not written plainly


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
            if not quoted or start + ONE == stop or data[start + ONE] != QUOTE:
                return ODD
            count += 1
            start += ONE
        start += ONE
    return count


@kernel
def cut_rows(data, found, count, columns, careful, starts, sizes):
    """Where cells start and their sizes, those of a row side by side: (rows, end, quotation marks, returns).

    As many quotation marks and carriage returns are told as are not part of a cell. Where `careful`, those that are
    written twice are looked for: such a cell has DOUBLED in its start. ODD rows if one has more or fewer cells, or
    marks elsewhere. Lines of nothing are left out.
    """
    at = k = filled = ZERO
    count, columns = np.uint64(count), np.uint64(columns)
    row = quotes = returns = np.int64(0)
    while k < count:
        end = np.uint64(found[k])
        if data[end] == NEWLINE and (end == at or (end == at + ONE and data[at] == RETURN)):
            returns += np.int64(end - at)
            at, k = end + ONE, k + ONE
            continue
        if k + columns > count:
            for rest in range(k, count):
                if data[found[rest]] == NEWLINE:
                    return ODD, np.int64(at), quotes, returns
            break
        for column in range(columns):
            end = np.uint64(found[k + column])
            start, stop = at, end
            at = end + ONE
            last = column == columns - ONE
            if (data[end] == NEWLINE) != last:
                return ODD, np.int64(at), quotes, returns
            if last and stop > start and data[stop - ONE] == RETURN:
                stop -= ONE
                returns += 1
            quoted = stop > start and data[start] == QUOTE
            if quoted:
                if stop - start < TWO or data[stop - ONE] != QUOTE:
                    return ODD, np.int64(at), quotes, returns
                start, stop = start + ONE, stop - ONE
                quotes += 2
            size, mark = stop - start, np.uint32(0)
            if careful:
                doubled = _doubled(data, start, stop, quoted)
                if doubled == ODD:
                    return ODD, np.int64(at), quotes, returns
                if doubled:
                    mark = DOUBLED
                    quotes += 2 * doubled
                    size -= np.uint64(doubled)
            starts[filled], sizes[filled] = np.uint32(start) | mark, size
            filled += ONE
        k += columns
        row += 1
    return row, np.int64(at), quotes, returns


def can_cut(delimiter: str) -> bool:
    """Whether cells that are parted by this can be found: by one byte that means nothing else."""
    return len(delimiter) == 1 and delimiter.isascii() and delimiter not in '\0"\r\n'


class Cutter:
    """Chunks of CSV text as rows of cells."""

    def __init__(self, names: list[str], delimiter: str) -> None:
        self.names = names
        self._delimiter = np.uint8(ord(delimiter))
        self._found = np.empty(0, np.uint32)

    def cut(self, text: bytes) -> tuple[CutRows, int] | None:
        """The rows of a text, and how many bytes they take: all but the last, where a quotation in it does not end.

        None if one is not written plainly, or the last is most of the text.
        """
        if len(text) >= LONGEST:
            return None
        data = np.empty(len(text) + BEHIND, np.uint8)
        data[: len(text)] = np.frombuffer(text, np.uint8)
        data[len(text) :] = 0
        if len(self._found) < len(text) + SPARE:
            self._found = np.empty(len(text) + SPARE, np.uint32)
        count, quotes, returns, is_open = find_ends(data, len(text), self._delimiter, self._found)
        starts, sizes = np.empty(count, np.uint32), np.empty(count, np.uint32)
        for careful in (False, True):
            asked = data, self._found, count, len(self.names), careful
            rows, end, marks, stripped = cut_rows(*asked, starts, sizes)
            whole = end == len(text) or (is_open and self._may_go_on(data, count, end, len(text)))
            if rows == ODD or stripped != returns or not whole:
                return None
            if marks + text.count(b'"', end) == quotes:
                return CutRows(self.names, data, starts, sizes, rows), end
        return None

    def _may_go_on(self, data: np.ndarray, count: int, end: int, size: int) -> bool:
        """Whether the last cell of a text is a quotation, and the row, which begins at `end`, is not most of it."""
        start = max(end, int(self._found[count - 1]) + 1) if count else end
        return bool(data[start] == QUOTE) and 2 * end >= size
