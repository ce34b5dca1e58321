"""CSV and TSV as streams. PyArrow parses; rows that it refuses are told by their number."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import pyarrow
import pyarrow.csv

from ouzel.errors import DataError, bad_line
from ouzel.numerals import is_number
from ouzel.streams.formats import DELIMITERS
from ouzel.streams.options import Options
from ouzel.streams.sources import Source

BLOCK = 3 << 20  # bytes
QUOTED = re.compile(r'"[^"]*"?')


class _Text:
    """A file for Arrow's reader, which stops at what is no UTF-8: here that is replaced. Gives what has arrived."""

    closed = False

    def __init__(self, file: Any, arriving: bool) -> None:
        self._read = file.read1 if arriving else file.read
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.quotes = 0  # quotation marks read

    def read(self, size: int) -> bytes:
        """The next bytes, at most `size`; a byte replaced becomes three."""
        while data := self._read(max(1, size // 3)):
            self.quotes += data.count(b'"')
            if data.isascii() and not self._decoder.getstate()[0]:
                return bytes(data)
            if text := self._decoder.decode(data):
                return text.encode()
        return self._decoder.decode(b"", final=True).encode()

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        pass


def lines_above(options: Options) -> int:
    """Lines above the first row."""
    return options.skip_lines + (0 if options.columns else 1)


def delimited_batches(
    source: Source, options: Options, format: str, skipped: Callable[[int], None]
) -> Iterator[pyarrow.RecordBatch]:
    """Record batches of a CSV or TSV file, every cell as text, the names of its columns in its header.

    A row of more or fewer cells is left out if the options say so; else DataError follows the rows before it.
    """
    file: Any = source.open()
    for _ in range(options.skip_lines):
        file.readline()
    delimiter = options.delimiter or ("\t" if format == "tsv" else None)
    if options.columns:
        names, delimiter = list(options.columns), delimiter or ","
    else:
        names, delimiter = _header(file, delimiter, source.name)
    uneven: list[Any] = []

    def refuse(row: Any) -> str:
        uneven.append(row)
        return "skip"

    given = _Text(file, source.size is None)
    text = pyarrow.large_string()
    try:
        reader = pyarrow.csv.open_csv(
            pyarrow.PythonFile(given, mode="r"),
            pyarrow.csv.ReadOptions(use_threads=False, block_size=BLOCK, column_names=names),
            pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=refuse),
            pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, text), strings_can_be_null=True),
        )
    except pyarrow.ArrowInvalid as error:
        if "Empty CSV file" in str(error):
            return
        raise
    even = 0  # rows given out
    last = None  # the last cell of the last row
    for batch in reader:
        if options.on_error != "skip" and uneven and uneven[0].number - 1 - even <= batch.num_rows:
            yield batch.slice(0, uneven[0].number - 1 - even)  # Arrow reads ahead
            break
        yield batch
        even += batch.num_rows
        last = batch.column(-1)[-1].as_py() if batch.num_rows else last
    if options.on_error == "skip":
        skipped(len(uneven))
    elif uneven:
        row = uneven[0]
        raise bad_line(
            f"{source.name}: row {lines_above(options) + row.number}: found {row.actual_columns} cells "
            f"({_beginning(row.text)}); expected {row.expected_columns}, as there are columns",
            "rows",
        )
    elif given.quotes % 2 and last is not None and "\n" in last:
        raise DataError(
            f"{source.name}: row {lines_above(options) + even}: found a quotation that does not end "
            f"({_beginning(last)}); close it, or take the mark out"
        )


def _beginning(text: str) -> str:
    """So much of a text as fits a message."""
    text = " ".join(text.split())
    return text if len(text) <= 40 else f"{text[:40]}…"


def _header(file: Any, delimiter: str | None, name: str) -> tuple[list[str], str]:
    """Names of columns, and what parts them: what parts the header outside of quotation marks."""
    lines = (line.decode("utf-8", "replace") for line in file)
    first = next((line for line in lines if line.strip("\r\n")), None)
    if first is None:
        raise DataError(f"{name}: is empty; there is nothing to learn from")
    if "\0" in first:
        raise DataError(f"{name}: has a zero byte in its first line; expected a table as text: name its format")
    unquoted = QUOTED.sub("", first).rstrip("\r\n")
    if "\r" in unquoted:
        raise DataError(f"{name}: has lines that end in a carriage return alone; end them in a newline")
    if delimiter is None:
        delimiter = next((character for character in DELIMITERS if character in unquoted), ",")
    try:
        names = next(csv.reader(chain([first], lines), delimiter=delimiter))
    except csv.Error as error:
        raise DataError(f"{name}: its header cannot be read ({error}); expected names of columns in one line") from None
    if all(is_number(word) for word in names):
        raise DataError(f"{name}: has no header; name its {len(names)} columns with", columns=("A", "B", "…"))
    return [word.strip() for word in names], delimiter
