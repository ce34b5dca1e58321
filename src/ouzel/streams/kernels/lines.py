"""Lines of text: where they and other delimiters are, what is wrong with one, and whether a chunk is UTF-8."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import DataError, bad_line
from ouzel.kernels.bytes import LOOKED_AT, equal_to, not_ascii, not_utf8, ones, trailing_zeros
from ouzel.kernels.jit import force_inline, kernel, kernel_of
from ouzel.streams.block import Block
from ouzel.streams.limits import Limits
from ouzel.streams.options import Options

ZERO, ONE, THREE, EIGHT, SIXTY_FOUR = (np.uint64(number) for number in (0, 1, 3, 8, LOOKED_AT))
SPARE = 64  # places behind the last position, all of them `stop`
BLANK, NEWLINE = np.uint8(32), np.uint8(10)
ZERO_BYTE = "a zero byte"
STRIDE = 1 << 14  # bytes that are split into lines at a time
NOT_UTF8 = "bytes that are not UTF-8"
SAVE_AS_UTF8 = "save the file as UTF-8"
NO_EXAMPLE = ord(":")  # parsers of svmlight and Vowpal Wabbit text skip a line of these
FIRST_BYTES = np.array([0xC0, 0xE0, 0xF0], np.uint8)  # of characters of two, three and four bytes


def make_scanner(owner: str, marks: Callable[..., Any], is_delimiter: Callable[..., Any]) -> Any:
    """Make a kernel of the module `owner`; `marks` returns a bit for each of 64 bytes, `is_delimiter` tests one."""

    @kernel_of(owner)
    def scan(data, start, stop, found):
        """Write the positions of delimiters in `data[start:stop]` to `found`, then `stop`; return their number.

        `found` holds all of them and SPARE more.
        """
        count, at, stop = ZERO, np.uint64(start), np.uint64(stop)
        while at + np.uint64(LOOKED_AT) <= stop:
            word = marks(data, at)
            many = ones(word)
            for part in range(np.uint64(0), (many + np.uint64(7)) >> THREE):
                for k in range(8):  # surplus positions are overwritten
                    found[count + EIGHT * part + np.uint64(k)] = at + trailing_zeros(word)
                    word &= word - ONE
            count += many
            at += np.uint64(LOOKED_AT)
        while at < stop:
            found[count] = at
            count += np.uint64(is_delimiter(data[at]))
            at += ONE
        for k in range(SPARE):
            found[count + np.uint64(k)] = stop
        return count

    return scan


@kernel
def count_lines(data, start, stop):
    """Return the number of line ends in `data[start:stop]` (uint8), and whether all of it is ASCII."""
    count, odd, at, stop = ZERO, ZERO, np.uint64(start), np.uint64(stop)
    while at + np.uint64(LOOKED_AT) <= stop:
        count += ones(equal_to(data, at, NEWLINE))
        odd |= not_ascii(data, at)
        at += np.uint64(LOOKED_AT)
    while at < stop:
        count += np.uint64(data[at] == NEWLINE)
        odd |= np.uint64(data[at] >= 128)
        at += ONE
    return count, odd == ZERO


@force_inline
def trim_blanks(data, start, stop):
    """Return a span without the blanks around it."""
    while start < stop and data[start] == BLANK:
        start += ONE
    while stop > start and data[stop - ONE] == BLANK:
        stop -= ONE
    return start, stop


class Problem(NamedTuple):
    """A bad line: its position, what was found there, and what was expected."""

    line: int  # from 0, within the chunk
    column: int  # bytes from the start of the line, from 1
    found: str
    expected: str
    limits: dict[str, str] | None = None  # larger limits that would let it pass

    def error(self, name: str, lines_before: int) -> DataError:
        """Return the error to raise. A file that is binary, or not UTF-8, has only the advice to use another file."""
        line = lines_before + self.line + 1
        if self.found in (ZERO_BYTE, NOT_UTF8):
            return DataError.at(name, self.found, self.expected, line=line, column=self.column)
        return bad_line(name, self.found, self.expected, line=line, column=self.column, limits=self.limits)


class Parsed(NamedTuple):
    """The block of a chunk of text, up to the first bad line."""

    block: Block
    lines: int
    skipped: int
    problem: Problem | None


def too_long(problem: Problem, limits: Limits, limit: str = "word") -> Problem:
    """Return the problem of a label or a name that exceeds a limit."""
    return problem._replace(expected=limits.expected(limit), limits=limits.longer(limit))


def problem_at(data: np.ndarray, start: int, position: int, expected: str) -> Problem:
    """Return the problem of the word at a byte position of the chunk that begins at `start`."""
    before = bytes(data[start:position])
    line = before.count(b"\n")
    column = position - start - (before.rfind(b"\n") + 1) + 1
    ahead = bytes(data[position : position + 200]).split(b"\n", 1)[0]
    word = ahead.split(None, 1)[0] if ahead.split() else b""
    if b"\0" in ahead:
        return Problem(line, column, ZERO_BYTE, "expected text; this looks like a binary file: name its format")
    text = word[:40].decode("utf-8", "replace") + ("…" if len(word) > 40 else "")
    return Problem(line, column, repr(text) if word else "the end of the line", expected)


def lines_at(data: np.ndarray, start: int, stop: int, count: int) -> tuple[list[bytes], int]:
    """Return the first `count` lines of `data[start:stop]`, or all, and where the next line begins."""
    lines: list[bytes] = []
    while start < stop and len(lines) < count:
        text = data[start : min(stop, start + STRIDE)].tobytes().split(b"\n")
        if len(text) == 1 and start + STRIDE < stop:  # a long line
            end = start + int(np.argmax(np.append(data[start:stop], 10) == 10)) + 1
            text = [data[start : end - 1].tobytes(), b""]
        whole = text if start + STRIDE >= stop and text[-1] else text[:-1]
        found = whole[: count - len(lines)]
        lines += found
        start += sum(map(len, found)) + len(found)
    return lines, min(start, stop)


@kernel
def is_utf8(data, start, stop):
    """Return whether `data[start:stop]` (uint8) is UTF-8: whole characters, each in its shortest form."""
    at, stop = np.uint64(start), np.uint64(stop)
    wrong = ZERO
    begin = np.zeros(SIXTY_FOUR + SIXTY_FOUR, np.uint8)  # the first bytes, and three before them
    size = min(stop - at, SIXTY_FOUR)
    for k in range(size):
        begin[THREE + k] = data[at + k]
    wrong |= not_utf8(begin, THREE)
    at += size
    while at + SIXTY_FOUR <= stop:
        wrong |= not_utf8(data, at)
        at += SIXTY_FOUR
    if at < stop:
        end = np.zeros(SIXTY_FOUR + SIXTY_FOUR, np.uint8)
        for k in range(stop - at + THREE):
            end[k] = data[at - THREE + k]
        wrong |= not_utf8(end, THREE)
    if stop > np.uint64(start):  # a character may be cut short at the end
        last = min(stop - np.uint64(start), THREE)
        for k in range(last):
            wrong |= np.uint64(data[stop - ONE - k] >= FIRST_BYTES[k])
    return wrong == ZERO


class CheckedText(NamedTuple):
    """Whole lines of a chunk, `data[start:stop]`, that are UTF-8, and the problem of the line behind them."""

    data: np.ndarray  # (bytes) uint8
    start: int
    stop: int
    lines: int  # newlines in them
    problem: Problem | None


def checked_text(data: np.ndarray, start: int, stop: int, options: Options) -> CheckedText:
    """Return the lines of `data[start:stop]` up to the first that is not UTF-8, or all lines if bad ones are skipped.

    Skipped lines are overwritten, in a copy, so that a parser finds no example in them.
    """
    lines, ascii = count_lines(data, start, stop)
    if ascii or is_utf8(data, start, stop):
        return CheckedText(data, start, stop, int(lines), None)
    if options.on_error != "skip":
        line, first, column = next(lines_not_utf8(data, start, stop))
        return CheckedText(data, start, first, line, Problem(line, column, NOT_UTF8, SAVE_AS_UTF8))
    text = data.copy()
    for _, first, _ in lines_not_utf8(data, start, stop):
        length = int(np.argmax(np.append(data[first:stop], 10) == 10))
        text[first : first + length] = NO_EXAMPLE
    return CheckedText(text, start, stop, int(lines), None)


def lines_not_utf8(data: np.ndarray, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """Yield each line of `data[start:stop]` that is not UTF-8: its number from 0, its start, and the column from 1.

    >>> list(lines_not_utf8(np.frombuffer(b"a\\nb\\xf6\\nc\\n", np.uint8), 0, 6))
    [(1, 2, 2)]
    """
    for number, line in enumerate(bytes(data[start:stop]).split(b"\n")):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            yield number, start, error.start + 1
        start += len(line) + 1
