"""Text of a CSV file in whole lines of UTF-8, for the tokenizer and PyArrow's parser; and the rows that are skipped.

Bytes that are not UTF-8, where the parser would stop, are replaced by a mark; rows with a mark are refused later.
"""

from __future__ import annotations

import bisect
import codecs
import threading
from array import array
from typing import Any

import numpy as np

from ouzel.errors import DataError
from ouzel.streams.kernels.lines import NOT_UTF8, SAVE_AS_UTF8, is_utf8
from ouzel.streams.limits import Limits
from ouzel.streams.sources.source import Source

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
