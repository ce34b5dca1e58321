"""Text of a CSV file in whole lines of UTF-8, for the tokenizer and PyArrow's parser; and rows that are found in it.

Bytes that are not UTF-8, where the parser would stop, are replaced by a mark; rows with a mark are refused later. Of
tokenized rows features are read where the cells lie, row after row, and columns of Arrow are made on demand.
"""

from __future__ import annotations

import bisect
import codecs
import threading
from array import array
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow
import pyarrow.csv

from ouzel.errors import DataError
from ouzel.kernels.bytes import COPIED, LOOKED_AT, copy_some, eight_bytes, not_digits
from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.block import LARGEST, Names
from ouzel.streams.kernels.batch_hash import LANES, lane_of
from ouzel.streams.kernels.lines import BLANK, NOT_UTF8, SAVE_AS_UTF8, is_utf8, trim_blanks
from ouzel.streams.kernels.new_names import NewNames, copy_names, find_new
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
from ouzel.streams.limits import Limits
from ouzel.streams.missing import is_na_number_token, is_na_token, is_one_of
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.cells import is_infinity
from ouzel.streams.tables.column_buffers import IS_NUMBER, KINDS, NONE, Layout, Rows
from ouzel.streams.truth_values import NEITHER, lower, may_be_truth, truth_of

MARK = "\ufdd0"  # in place of bytes that are not UTF-8: Unicode keeps this one for use within programs
codecs.register_error("ouzel.mark", lambda error: (MARK, getattr(error, "end", 0)))
LONGEST_WAIT = 0.5  # seconds, for a pipe that brings nothing


class SkippedRows:
    """Rows that are skipped: of more or fewer cells than there are columns, or with bytes that are not UTF-8."""

    def __init__(self) -> None:
        self.above = 0  # rows above the first one of PyArrow's parser
        self.first: Any = None
        self.lines = 0  # of such rows, with those within quotation marks
        self._places = array("q")  # of each among all rows, from 0

    def __len__(self) -> int:
        return len(self._places)

    def refuse(self, row: Any) -> str:
        """Record a row that PyArrow reports as invalid."""
        row = row._replace(number=row.number + self.above)
        self.first = self.first or row
        self.lines += lines_in(row.text)
        self._places.append(row.number - 1)
        return "skip"

    def skip(self, places: np.ndarray, lines: int = 0) -> None:
        """Record rows that are skipped for another reason, by their positions (n,) among all rows, ascending."""
        self.lines += lines or len(places)
        for place in places.tolist():
            bisect.insort(self._places, place)

    def positions(self, rows: np.ndarray) -> np.ndarray:
        """The positions (n,) among all rows of rows with these positions (n,) among the others."""
        places = np.array(self._places)
        before = places - np.arange(len(places))  # other rows before each
        return rows + np.searchsorted(before, rows, side="right")


def lines_in(text: str) -> int:
    """The number of lines of a row, or of a cell."""
    return text.strip("\r\n").count("\n") + 1


class TextSource:
    """A source as a file for PyArrow's parser: the bytes that have arrived, in pieces of whole lines of any length.

    The text ends where an archive is damaged, and the error is kept.
    """

    closed = False

    def __init__(self, source: Source, limits: Limits) -> None:
        self.name = source.name
        self.quotes = 0  # quotation marks that the parser has read
        self.damage: OSError | None = None
        self.left_open = ""  # the cell of a quotation that does not end, where its row is skipped
        self._file: Any = source.open()
        self._arriving = source.size is None
        self._limits = limits
        self.marked = False  # whether some bytes are not UTF-8
        self._parsing = False  # whether PyArrow's parser has read any
        self._rest: list[bytes] = []  # the beginning of a line
        self._back = b""
        self._ended = False
        self._at_work = threading.Lock()

    def skip_line(self) -> None:
        """Skip the next line."""
        self._line()

    def line(self, number: int) -> str:
        """The next line, which has this number in messages; "" at the end of the text."""
        try:
            return self._line().decode()
        except UnicodeDecodeError:
            raise DataError.at(self.name, NOT_UTF8, SAVE_AS_UTF8, line=number) from None

    def _line(self) -> bytes:
        data: bytes = self._file.readline(self._limits.line + 1)
        self.check_line(len(data))
        return data

    def check_line(self, size: int) -> None:
        """Refuse a line, or a header of several lines, that is too long."""
        if size > self._limits.line:
            raise self._limits.exceeded(self.name, "line", f"has a line of {size:,} bytes or more")

    def read(self, size: int) -> bytes:
        """The next lines, of `size` bytes at most unless one is longer, for a parser that may be in another thread."""
        with self._at_work:
            if self._ended:
                return b""
            data = self.lines(size)
            if not self._parsing and (data or self._back):
                self._parsing = True
                self._back = codecs.BOM_UTF8 + self._back  # that PyArrow takes off, not one that begins the first cell
            if self._back:  # a quotation may begin in it, and must not take three pieces
                data = self._back + data
                data, self._back = data[:size], data[size:]
            self.quotes += data.count(b'"')
            return data

    def put_back(self, data: bytes) -> None:
        """Put bytes back, to be read again."""
        self._back = data + self._back

    def end(self) -> None:
        """End the text. PyArrow reads ahead in a thread, which must not outlive the interpreter."""
        self._ended = True
        if self._at_work.acquire(timeout=LONGEST_WAIT):
            self._at_work.release()

    def lines(self, size: int) -> bytes:
        """The next lines, of `size` bytes at most unless one is longer; a byte that is marked becomes three."""
        data = self._lines(size // 3)
        if not data.isascii() and not is_utf8(np.frombuffer(data, np.uint8), 0, len(data)):
            self.marked = True
            data = data.decode("utf-8", "ouzel.mark").encode()
        return data

    def _lines(self, size: int) -> bytes:
        """Whole lines; at the end of the text the rest, unless it is damaged."""
        length = sum(map(len, self._rest))
        while True:
            data = self._some(size)
            cut = data.rfind(b"\n") + 1
            if cut or not data:
                lines: list[bytes | memoryview] = [*self._rest, memoryview(data)[:cut]]
                self._rest = [data[cut:]] if data else []
                whole = b"" if self.damage is not None and not data else b"".join(lines)
                if len(whole) > self._limits.line:
                    self.check_line(max(map(len, whole.split(b"\n"))))
                return whole
            self._rest.append(data)
            length += len(data)
            self.check_line(length)

    def _some(self, size: int) -> bytes:
        """Some bytes: `size`, or those that have arrived, or those before a damage."""
        parts: list[bytes] = []
        try:
            while size > 0 and (data := self._file.read1(size)):
                parts.append(data)
                size = 0 if self._arriving else size - len(data)
        except OSError as error:
            self.damage = error
        return b"".join(parts)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        pass


QUOTE, LONG, ALL = np.uint8(34), np.uint64(COPIED), np.uint64(2**64 - 1)
ZERO, ONE, THREE = (np.uint64(number) for number in (0, 1, 3))
DOUBLED = np.uint32(1 << 31)  # marks a cell with quotation marks, which are written twice
BEHIND = COPIED + LOOKED_AT  # bytes behind a text that are read, and written over
FEW, SHORT = 64, np.uint64(8)  # most different cells of a column, and bytes of each, that are compared in place
TILE = 256  # rows that are copied together, in the nearest cache

NULLS = sorted(word.encode() for word in pyarrow.csv.ConvertOptions().null_values if word)
SIZES = np.array([len(word) for word in NULLS])
WORDS = np.array([list(word.ljust(SIZES.max())) for word in NULLS], np.uint8)
BEGINS = np.bincount(WORDS[:, 0], minlength=256) > 0  # whether one of the words begins with a byte
ENDS = np.bincount([word[-1] for word in NULLS], minlength=256) > 0  # or ends with it


@kernel
def copy_cells(data, starts, sizes, columns, begins, text, offsets, valid):
    """Copy the cells of some columns (k,) to `text`, those of each from `begins[k]` on.

    Writes their `offsets` (k, rows + 1), and to `valid` (k, rows) bool whether they are not null. `text` has BEHIND
    more bytes behind every column.
    """
    rows = len(starts)
    for first in range(0, rows, TILE):
        for k in range(len(columns)):
            column = columns[k]
            filled = np.uint64(begins[k] + offsets[k, first])
            for row in range(first, min(first + TILE, rows)):
                start, size = starts[row, column], np.uint64(sizes[row, column])
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
                        for part in range(LONG, size, LONG):
                            copy_some(text, filled + part, data, at + part)
                    filled += size
                is_null = size == 0
                if not is_null and BEGINS[text[begun]] & ENDS[text[begun + size - ONE]]:
                    is_null = is_one_of(text, np.int64(begun), np.int64(size), SIZES, WORDS)
                valid[k, row] = not is_null
                offsets[k, row + 1] = np.int64(filled) - begins[k]


@kernel
def code_cells(data, starts, sizes, cells, codes):
    """Number the different cells of a column (n,) in order; write the size and letters of each to `cells` (FEW, 2).

    Returns how many there are; -1 if there are more, or if one is long or has quotation marks written twice.
    """
    count = np.uint64(0)
    for i in range(len(starts)):
        size = np.uint64(sizes[i])
        if size > SHORT or starts[i] & DOUBLED:
            return -1
        letters = eight_bytes(data, np.uint64(starts[i]))
        letters &= (ONE << (size << THREE)) - ONE if size < SHORT else ALL
        k = np.uint64(0)
        while k < count and not (cells[k, 1] == letters and cells[k, 0] == size):
            k += ONE
        if k == count:
            if count == len(cells):
                return -1
            cells[k, 0], cells[k, 1] = size, letters
            count += ONE
        codes[i] = k
    return np.int64(count)


class TokenizedRows:
    """Rows of text cells: their starts and sizes in a text, row after row.

    Behind the text are BEHIND bytes. A cell whose quotation marks are written twice has DOUBLED in its start.
    """

    def __init__(self, names: list[str], data: np.ndarray, starts: np.ndarray, sizes: np.ndarray, rows: int) -> None:
        shape = rows, len(names)
        self.names = names
        self.data = data  # (bytes,) uint8
        self.starts = starts[: rows * len(names)].reshape(shape)  # uint32
        self.sizes = sizes[: rows * len(names)].reshape(shape)  # uint32
        self.num_rows = rows
        self._columns: dict[str, pyarrow.Array] = {}

    @cached_property
    def schema(self) -> pyarrow.Schema:
        """The columns, of text."""
        return pyarrow.schema([(name, pyarrow.large_string()) for name in self.names])

    def column(self, name: str) -> pyarrow.Array:
        """A column, null where PyArrow's parser has null."""
        if name not in self._columns:
            self._columns[name] = self._copied([self.names.index(name)])[0]
        return self._columns[name]

    def encoded(self, name: str) -> tuple[np.ndarray, list[str]] | None:
        """A column as positions (n,) in a list of its different cells, -1 where it is null.

        None if its different cells are not few and short.
        """
        place = self.names.index(name)
        cells, codes = np.empty((FEW, 2), np.uint64), np.empty(self.num_rows, np.int64)
        count = int(code_cells(self.data, self.starts[:, place], self.sizes[:, place], cells, codes))
        if count < 0:
            return None
        found = [letters.to_bytes(8, "little")[:size] for size, letters in cells[:count].tolist()]
        known = [cell for cell in found if cell and cell not in NULLS]
        if len(known) < count:
            codes = np.array([known.index(cell) if cell in known else -1 for cell in found])[codes]
        return codes, [cell.decode() for cell in known]

    def to_arrow(self) -> pyarrow.RecordBatch:
        """The rows as a record batch."""
        return pyarrow.RecordBatch.from_arrays(self._copied(list(range(len(self.names)))), schema=self.schema)

    def _copied(self, columns: list[int]) -> list[pyarrow.Array]:
        chosen = np.array(columns)
        totals = self.sizes[:, chosen].sum(axis=0, dtype=np.int64)
        begins = np.concatenate([[0], np.cumsum(totals + BEHIND)])
        text = np.empty(int(begins[-1]), np.uint8)
        offsets = np.empty((len(columns), self.num_rows + 1), np.int64)
        valid = np.empty((len(columns), self.num_rows), np.bool_)
        offsets[:, 0] = 0
        copy_cells(self.data, self.starts, self.sizes, chosen, begins, text, offsets, valid)
        ends = begins[:-1] + totals + COPIED
        return [_column(offsets[k], text[begins[k] : ends[k]], valid[k]) for k in range(len(columns))]


TableBatch: TypeAlias = pyarrow.RecordBatch | TokenizedRows


def as_arrow(batch: TableBatch) -> pyarrow.RecordBatch:
    """A batch as PyArrow's."""
    return batch.to_arrow() if isinstance(batch, TokenizedRows) else batch


def _column(offsets: np.ndarray, text: np.ndarray, valid: np.ndarray) -> pyarrow.Array:
    nulls = len(valid) - int(np.count_nonzero(valid))
    bits = pyarrow.py_buffer(np.packbits(valid, bitorder="little")) if nulls else None
    buffers = pyarrow.py_buffer(offsets), pyarrow.py_buffer(text)
    return pyarrow.LargeStringArray.from_buffers(len(valid), *buffers, bits, nulls)


ENOUGH = np.uint64(1024)  # features that are gathered of some rows, or those of one more row
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
    """Append the spans of new words to `spans`, which holds `count` of them; return the new count."""
    lanes, hashes, new = buffer.names
    for k in range(find_new(seen, hashes, names, mask, new)):
        lane, span = lane_of(new[k]), spans[count]
        column = np.uint64(lanes[lane + COLUMN])
        span[0], span[1] = layout.ends[column], layout.ends[column + ONE]
        span[2], span[3], span[4] = lanes[lane + START], lanes[lane + STOP], hashes[new[k]] & mask
        count += ONE
    return count


@force_inline
def _mark(buffer, place, layout, column, marked):
    """Put what is missing of a column at a place; return 1 if it is a feature, else 0."""
    marked[column] = True
    put_number(buffer, place, layout.marks[column], layout.marks[column], np.float32(1.0))
    return np.uint64(layout.marks[column] != NONE)


@kernel
def _read(data, starts, sizes, layout, longest, mask, seen, offsets, ids, values, spans):
    """Write rows of features in canonical order; return (features, new words, numbered, worded, marked).

    The masks say which columns have numbers, which columns of numbers have words, and which lack something. Truth
    values are written in small letters where they lie. Returns -1 features if a cell is not finite or too long, or has
    quotation marks written twice. `starts` and `sizes` are those of all cells, row after row. `seen` has the ids of
    words so far (`find_new`); new words are appended to `spans` (see `NewNames`). The words of several rows are hashed
    together.
    """
    columns, rows = np.uint64(len(layout.kinds)), np.uint64(len(offsets) - 1)
    numbered, worded = np.zeros(len(layout.kinds), np.bool_), np.zeros(len(layout.kinds), np.bool_)
    marked = np.zeros(len(layout.kinds), np.bool_)
    buffer = allocate_rows(len(layout.kinds) + int(ENOUGH))
    cell = filled = count = row = waiting = features = names = ZERO
    offsets[0] = 0
    while row < rows:
        begin_row(buffer, waiting, features, names)
        for k in range(columns):
            start, size = np.uint64(starts[cell]), np.uint64(sizes[cell])
            cell += ONE
            if layout.kinds[k] >= len(KINDS) or size == ZERO:
                features += _mark(buffer, features, layout, k, marked) if layout.kinds[k] < len(KINDS) else ZERO
                continue
            if start >= DOUBLED:
                return np.int64(-1), count, numbered, worded, marked
            if (data[start] == BLANK) | (data[start + size - ONE] == BLANK):
                start, stop = trim_blanks(data, start, start + size)
                size = stop - start
                if size == ZERO:
                    features += _mark(buffer, features, layout, k, marked)
                    continue
            if layout.kinds[k] == IS_NUMBER:
                number, is_number = _number(data, start, size)
                if is_number and not abs(number) <= LARGEST:
                    return np.int64(-1), count, numbered, worded, marked
                if is_number:
                    put_number(buffer, features, layout.own[k], layout.own[k], np.float32(number))
                    numbered[k] = True
                    features += np.uint64(buffer.values[features] != 0.0)
                    continue
                if is_na_number_token(data, start, start + size):
                    features += _mark(buffer, features, layout, k, marked)
                    continue
            if is_na_token(data, np.int64(start), np.int64(start + size)):
                features += _mark(buffer, features, layout, k, marked)
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
                    return np.int64(-1), count, numbered, worded, marked
                worded[k] = True
            if size > longest:
                return np.int64(-1), count, numbered, worded, marked
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
    return np.int64(filled), count, numbered, worded, marked


def read_in_place(
    rows: TokenizedRows, layout: Layout, longest: int, mask: np.uint32, seen: np.ndarray, spans: np.ndarray
) -> tuple[Rows, Names, np.ndarray, np.ndarray, np.ndarray] | None:
    """The features of rows, the names of words not yet `seen`, and masks of columns: those of `_read`.

    A word has `longest` bytes at most. None if a cell must be refused, or does not lie in the text as it is. `spans`
    (cells, SPAN) is scratch.
    """
    cells = rows.starts.size
    read = Rows(np.empty(rows.num_rows + 1, np.uint64), np.empty(cells, np.uint32), np.empty(cells, np.float32))
    arguments = rows.data, rows.starts.ravel(), rows.sizes.ravel(), layout, np.uint64(longest), mask, seen
    filled, count, *masks = _read(*arguments, *read, spans)
    if filled < 0:
        return None
    spans = spans[: int(count)]
    size = int((spans[:, 1] - spans[:, 0] + spans[:, 3] - spans[:, 2]).sum())
    names = copy_names([NewNames(layout.prefixes, rows.data, spans, size)])
    return Rows(read.offsets, read.ids[:filled], read.values[:filled]), names, *masks
