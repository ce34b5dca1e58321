"""CSV and TSV as batches of rows: a tokenizer finds the cells of plain text, PyArrow parses what is not plain.

Plain text has as many cells in every row as there are columns, and quotation marks only around cells or doubled within
them. PyArrow takes over at the first piece that is not plain; the numbers of rows that it refuses are recorded.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np
import pyarrow
import pyarrow.csv

from ouzel.errors import DataError, bad_line
from ouzel.kernels.bytes import LOOKED_AT, equal_to, ones, trailing_zeros
from ouzel.kernels.jit import force_inline, kernel
from ouzel.numerals import is_number
from ouzel.streams.formats.catalogue import Format
from ouzel.streams.kernels.lines import NOT_UTF8, SAVE_AS_UTF8, SPARE
from ouzel.streams.options import Options
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.arrow_types import compute
from ouzel.streams.tables.csv_cells import (
    BEHIND,
    DOUBLED,
    MARK,
    SkippedRows,
    TextSource,
    TokenizedRows,
    as_arrow,
    lines_in,
)

ZERO, ONE, TWO, EIGHT, SIXTY_THREE = (np.uint64(number) for number in (0, 1, 2, 8, 63))
QUOTE, NEWLINE, RETURN = (np.uint8(byte) for byte in b'"\n\r')
LONGEST = 1 << 31  # bytes of a text: the highest bit of a position is DOUBLED
FALLBACK = -1  # not plain
DELIMITERS = ",\t;|"  # between cells, in the order of detection
BLOCK = 4 << 20  # bytes that PyArrow parses at a time
SHORT = 1 << 12  # bytes of a last line, or of a few
PIECE = 2 << 20  # bytes of plain text that are read at a time: they stay in a near cache
QUOTED = re.compile(r'"[^"]*"?')


@force_inline
def _prefix_parity(word):
    """Return a word each of whose bits is the parity of the bits up to it."""
    for shift in (1, 2, 4, 8, 16, 32):
        word ^= word << np.uint64(shift)
    return word


@kernel
def find_ends(data, stop, delimiter, found):
    """Write the ends of cells in `data[:stop]` to `found`: (their number, quotation marks, returns, is a quote open).

    Delimiters, newlines and carriage returns within quotation marks do not count. `found` holds a position for every
    byte and SPARE more; BEHIND zero bytes follow the text in `data`.
    """
    count = quotes = returns = inside = ZERO
    at, stop = ZERO, np.uint64(stop)
    while at < stop:
        marks = equal_to(data, at, QUOTE)
        quoted = _prefix_parity(marks) ^ inside
        inside = ZERO - (quoted >> SIXTY_THREE)
        word = (equal_to(data, at, delimiter) | equal_to(data, at, NEWLINE)) & ~quoted
        quotes += ones(marks)
        returns += ones(equal_to(data, at, RETURN) & ~quoted)
        many = ones(word)
        for part in range(ZERO, (many + np.uint64(7)) >> np.uint64(3)):
            for k in range(8):  # surplus positions are overwritten
                found[count + EIGHT * part + np.uint64(k)] = at + trailing_zeros(word)
                word &= word - ONE
        count += many
        at += np.uint64(LOOKED_AT)
    return np.int64(count), np.int64(quotes), np.int64(returns), inside != ZERO


@force_inline
def _count_doubled(data, start, stop, quoted):
    """Return the number of doubled quotation marks in a cell; FALLBACK if one is not doubled."""
    count = 0
    while start < stop:
        if data[start] == QUOTE:
            if not quoted or start + ONE == stop or data[start + ONE] != QUOTE:
                return FALLBACK
            count += 1
            start += ONE
        start += ONE
    return count


@kernel
def tokenize_rows(data, found, count, columns, careful, starts, sizes):
    """Write the starts and sizes of cells, row after row; return (rows, end, quotation marks, carriage returns).

    Marks and returns within cells are not counted. If `careful`, doubled marks are looked for: their cell has DOUBLED
    in its start. FALLBACK rows if a row has more or fewer cells, or marks elsewhere. Empty lines are skipped.
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
                    return FALLBACK, np.int64(at), quotes, returns
            break
        for column in range(columns):
            end = np.uint64(found[k + column])
            start, stop = at, end
            at = end + ONE
            last = column == columns - ONE
            if (data[end] == NEWLINE) != last:
                return FALLBACK, np.int64(at), quotes, returns
            if last and stop > start and data[stop - ONE] == RETURN:
                stop -= ONE
                returns += 1
            quoted = stop > start and data[start] == QUOTE
            if quoted:
                if stop - start < TWO or data[stop - ONE] != QUOTE:
                    return FALLBACK, np.int64(at), quotes, returns
                start, stop = start + ONE, stop - ONE
                quotes += 2
            size, mark = stop - start, np.uint32(0)
            if careful:
                doubled = _count_doubled(data, start, stop, quoted)
                if doubled == FALLBACK:
                    return FALLBACK, np.int64(at), quotes, returns
                if doubled:
                    mark = DOUBLED
                    quotes += 2 * doubled
                    size -= np.uint64(doubled)
            starts[filled], sizes[filled] = np.uint32(start) | mark, size
            filled += ONE
        k += columns
        row += 1
    return row, np.int64(at), quotes, returns


def can_tokenize(delimiter: str) -> bool:
    """Return whether the tokenizer supports a delimiter: one byte that means nothing else."""
    return len(delimiter) == 1 and delimiter.isascii() and delimiter not in '\0"\r\n'


class CsvTokenizer:
    """Finds the cells of chunks of CSV text."""

    def __init__(self, names: list[str], delimiter: str) -> None:
        self.names = names
        self._delimiter = np.uint8(ord(delimiter))
        self._found = np.empty(0, np.uint32)

    def tokenize(self, text: bytes) -> tuple[TokenizedRows, int] | None:
        """Return the rows of a text and their bytes, all but a last row with a quotation that does not end.

        None if a row is not plain, or the last row is most of the text.
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
            arguments = data, self._found, count, len(self.names), careful
            rows, end, marks, stripped = tokenize_rows(*arguments, starts, sizes)
            whole = end == len(text) or (is_open and self._may_continue(data, count, end, len(text)))
            if rows == FALLBACK or stripped != returns or not whole:
                return None
            if marks + text.count(b'"', end) == quotes:
                return TokenizedRows(self.names, data, starts, sizes, rows), end
        return None

    def _may_continue(self, data: np.ndarray, count: int, end: int, size: int) -> bool:
        """Return whether the last cell is a quotation, and its row, from `end` on, is not most of the text."""
        start = max(end, int(self._found[count - 1]) + 1) if count else end
        return bool(data[start] == QUOTE) and 2 * end >= size


def lines_above(options: Options) -> int:
    """Return the number of lines above the first row."""
    return options.skip_lines + (0 if options.columns else 1)


def delimited_batches(
    source: Source,
    options: Options,
    format: Format,
    on_skipped: Callable[[int], None],
    uneven: SkippedRows,
    say: Callable[[str], None] = lambda line: None,
) -> Iterator[pyarrow.RecordBatch | TokenizedRows]:
    """Yield the rows of a CSV or TSV file, every cell as text; its header names the columns.

    `uneven` records a row of more or fewer cells; it is skipped if the options say so, else DataError follows the rows
    before it. `say` gets a line if the skipped rows take more lines than there are rows.
    """
    text = TextSource(source, options.limits)
    for _ in range(options.skip_lines):
        text.skip_line()
    delimiter = options.delimiter or format.delimiter
    if options.columns:
        names, delimiter = list(options.columns), delimiter or ","
    else:
        names, delimiter = _read_header(text, delimiter, options.skip_lines + 1)
    even, ended = 0, False  # rows given out
    last = None  # the last batch of any rows
    parsed = _whole_rows(_arrow_batches(text, names, delimiter, uneven), text, options.on_error == "skip")
    doubt = Doubt(names, delimiter, source.name, lines_above(options), say)
    plain = _tokenized_batches(text, names, delimiter, uneven, doubt) if can_tokenize(delimiter) else ()
    for batch in chain(plain, parsed):
        if options.on_error != "skip" and uneven and uneven.first.number - 1 - even <= batch.num_rows:
            batch, ended = batch.slice(0, uneven.first.number - 1 - even), True  # Arrow reads ahead
        marked = _marked_rows(batch) if text.marked else {}
        if marked and options.on_error != "skip":
            batch = as_arrow(batch)
            row = min(marked)
            yield batch.slice(0, row)
            cell = batch.column(marked[row])[row].as_py()
            raise DataError.at(
                source.name,
                f"{NOT_UTF8} ({_beginning(cell)})",
                SAVE_AS_UTF8,
                row=lines_above(options) + even + row + 1,
                column=names[marked[row]],
            )
        if marked:
            batch, places = as_arrow(batch), uneven.positions(even + np.arange(batch.num_rows))
            batch = batch.filter(pyarrow.array([row not in marked for row in range(batch.num_rows)]))
            uneven.skip(places[sorted(marked)])
        yield batch
        if ended:
            break
        even += batch.num_rows
        last = batch if batch.num_rows else last
    if options.on_error == "skip":
        if text.left_open:
            uneven.skip(uneven.positions(np.array([even])), lines_in(text.left_open))
        on_skipped(len(uneven))
        if uneven.lines > len(uneven):
            rows = f"{len(uneven)} rows that are left out take" if len(uneven) > 1 else "the row that is left out takes"
            say(f"{source.name}: {rows} {uneven.lines:,} lines; look for a quotation that does not end")
    elif uneven:
        row = uneven.first
        lines, cells = lines_in(row.text), "1 cell" if row.actual_columns == 1 else f"{row.actual_columns} cells"
        raise bad_line(
            source.name,
            f"{cells} {f'in {lines:,} lines ' if lines > 1 else ''}({_beginning(row.text)})",
            f"expected {row.expected_columns}, as there are columns",
            row=lines_above(options) + row.number,
            unit="rows",
        )
    if text.damage is not None:
        raise source.broken(text.damage)
    if options.on_error != "skip" and text.quotes % 2 and (cell := _last_cell(last)):
        raise DataError.at(
            source.name,
            f"a quotation that does not end ({_beginning(cell)}: {lines_in(cell):,} lines)",
            "close it, or take the mark out",
            row=lines_above(options) + even,
        )


class Doubt:
    """Looks for what shows that cells are not what was meant, and says so: quotation marks, and a second header."""

    def __init__(self, names: list[str], delimiter: str, name: str, above: int, say: Callable[[str], None]) -> None:
        self.name, self.above, self.say, self.several = name, above, say, len(names) > 1
        between = re.escape(delimiter.encode())
        cell = rb'(?:"(?:[^"]|"")*+"|[^"\r\n' + between + rb"]*+)"
        self._sound = re.compile(rb"(?:" + cell + rb"(?:" + between + rb"|\r?\n))*+")
        self._header = delimiter.join(names).encode().replace(b'"', b"")
        first = names[0].encode() if names else b""
        separator = delimiter.encode()
        self._begun = [b"\n" + mark + first + mark + separator for mark in (b"", b'"')]

    def look_for_headers(self, text: bytes, rows: int) -> None:
        """Warn where a text repeats the names of the columns; `rows` come before it."""
        if not self.several:
            return
        text = b"\n" + text + b"\n"
        for begun in self._begun:  # searched as they are: a pattern for both takes ten times as long
            start = text.find(begun)
            while start >= 0:
                line = text[start + 1 : text.index(b"\n", start + 1)]
                if line.rstrip(b"\r").replace(b'"', b"") == self._header:
                    self.several = False  # once is enough
                    row = self.above + rows + text.count(b"\n", 0, start) + 1
                    self.say(f"{self.name}: row {row} has the names of the columns again, and is read as any other row")
                    return
                start = text.find(begun, start + 1)

    def look_for_marks(self, text: bytes, rows: int) -> None:
        """Warn of the first quotation mark that is not around a cell; `rows` come before the text."""
        found = self._sound.match(text + b"\n")
        end = len(text) if found is None else found.end()
        if end >= len(text):
            return
        start = text.rfind(b"\n", 0, end) + 1
        stop = text.find(b"\n", end)
        line = _beginning(text[start : len(text) if stop < 0 else stop].decode("utf-8", "replace"))
        row = self.above + rows + text.count(b"\n", 0, start) + 1
        self.say(
            f"{self.name}: row {row} has a quotation mark that is not around a cell ({line}); it is read as it stands: "
            "look whether a separator or another mark is missing"
        )


def _tokenized_batches(
    text: TextSource, names: list[str], delimiter: str, ragged: SkippedRows, doubt: Doubt
) -> Iterator[TokenizedRows]:
    """Yield the rows up to the first piece that is not plain; put back what was not used."""
    tokenizer = CsvTokenizer(names, delimiter)
    rest, data = b"", b"\n"
    while data and len(rest) < PIECE:
        data = text.lines(3 * PIECE)
        rest += data
        if not ragged.above or len(rest) < SHORT:
            doubt.look_for_headers(rest, ragged.above)
        found = tokenizer.tokenize(rest if rest.endswith(b"\n") else rest + b"\n")
        if found is None:
            doubt.look_for_marks(rest, ragged.above)
            break
        rows, end = found
        rest = rest[end:]
        if rows.num_rows:
            ragged.above += rows.num_rows
            yield rows
    text.put_back(rest)


def _arrow_batches(
    text: TextSource, names: list[str], delimiter: str, ragged: SkippedRows
) -> Iterator[pyarrow.RecordBatch]:
    """Yield record batches as PyArrow parses them; rows that it refuses are skipped and recorded."""

    kinds = dict.fromkeys(names, pyarrow.large_string())
    try:
        yield from pyarrow.csv.open_csv(
            pyarrow.PythonFile(text, mode="r"),
            pyarrow.csv.ReadOptions(use_threads=False, block_size=BLOCK, column_names=names),
            pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=ragged.refuse),
            pyarrow.csv.ConvertOptions(column_types=kinds, strings_can_be_null=True),
        )
    except pyarrow.ArrowInvalid as error:
        if "straddling" in str(error):
            raise DataError.at(
                text.name,
                f"a quotation with newlines that does not end within {BLOCK >> 20} MB",
                "close it, or take the mark out",
            ) from error
        if "Empty CSV file" not in str(error):
            raise
    finally:
        text.end()


def _whole_rows(batches: Iterator[pyarrow.RecordBatch], text: TextSource, skip: bool) -> Iterator[pyarrow.RecordBatch]:
    """Yield batches without a last row whose quotation is cut off: in a damaged archive, or at the end if `skip`."""
    pending = None  # Arrow reads ahead: an end is known before the last batch is given out
    for batch in batches:
        if pending is not None:
            yield pending
        within = text.quotes % 2 and (text.damage is not None or (skip and _last_cell(batch)))
        pending = batch if within else None
        if pending is None:
            yield batch
    if pending is not None:
        text.left_open = _last_cell(pending) if text.damage is None else ""
        yield pending.slice(0, max(0, pending.num_rows - 1))


def _last_cell(batch: pyarrow.RecordBatch | TokenizedRows | None) -> str:
    """Return the last cell of the last row if it has several lines, else an empty text."""
    cell = None if batch is None or not batch.num_rows else as_arrow(batch).column(-1)[-1].as_py()
    return cell if cell is not None and "\n" in cell else ""


def _marked_rows(batch: pyarrow.RecordBatch | TokenizedRows) -> dict[int, int]:
    """Return the rows with bytes that are not UTF-8, each with the first column that has some."""
    found: dict[int, int] = {}
    for place, column in enumerate(as_arrow(batch).columns):
        for row in compute.indices_nonzero(compute.match_substring(column, MARK)).to_pylist():
            found.setdefault(row, place)
    return found


def _beginning(text: str) -> str:
    """Return the beginning of a text that fits a message."""
    text = " ".join(text.replace(MARK, "\ufffd").split())
    return text if len(text) <= 40 else f"{text[:40]}…"


def _read_header(text: TextSource, delimiter: str | None, number: int) -> tuple[list[str], str]:
    """Read the names of columns in the line of this number; return them and the delimiter."""
    name = text.name
    lines = _lines(text, number)
    first = next((line for line in lines if line.strip("\r\n")), None)
    if first is None:
        raise DataError.at(name, "is empty; there is nothing to learn from")
    if "\0" in first:
        raise DataError.at(name, "has a zero byte in its first line; expected a table as text: name its format")
    unquoted = QUOTED.sub("", first).rstrip("\r\n")
    if "\r" in unquoted:
        raise DataError.at(name, "has lines that end in a carriage return alone; end them in a newline")
    if delimiter is None:
        delimiter = next((character for character in DELIMITERS if character in unquoted), ",")
    try:
        names = next(csv.reader(chain([first], lines), delimiter=delimiter))
    except csv.Error as error:
        raise DataError.at(
            name, f"its header cannot be read ({error}); expected names of columns in one line"
        ) from None
    if all(is_number(word) for word in names):
        raise DataError.at(name, f"has no header; name its {len(names)} columns with", columns=("A", "B", "…"))
    return [word.strip() for word in names], delimiter


def _lines(text: TextSource, number: int) -> Iterator[str]:
    """Yield the lines of a header, from the one of this number on."""
    size = 0
    while line := text.line(number):
        number += 1
        size += len(line)
        text.check_line(size)
        yield line
