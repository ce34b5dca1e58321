"""The check that text is UTF-8, a chunk of whole lines at a time: one rule for every format of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.options import Options
from ouzel.streams.text.lines import Problem
from ouzel.streams.text.marks import lines_of

NOT_UTF8 = "bytes that are no UTF-8"
SAVE_AS_UTF8 = "save the file as UTF-8"
NO_EXAMPLE = ord(":")  # a line of these alone is no example of svmlight or Vowpal Wabbit text
ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)


@force_inline
def _is_wrong(third, second, first, byte):
    """Whether a byte cannot follow the three before it, `first` the nearest (RFC 3629, section 4).

    Behind a first byte of two, three or four come one, two or three of 80 to BF, and nowhere else. Of those, the first
    is bounded where a character would be written longer than need be, be half of a surrogate pair, or be too large.
    """
    follows = (first >= 0xC0) | (second >= 0xE0) | (third >= 0xF0)
    wrong = follows != ((byte & 0xC0) == 0x80)
    wrong |= (byte == 0xC0) | (byte == 0xC1) | (byte >= 0xF5)
    wrong |= ((first == 0xE0) & (byte < 0xA0)) | ((first == 0xED) & (byte >= 0xA0))
    return wrong | ((first == 0xF0) & (byte < 0x90)) | ((first == 0xF4) & (byte >= 0x90))


@kernel
def is_utf8(data, start, stop):
    """Whether `data[start:stop]` (uint8) is UTF-8: whole characters, each written as short as can be."""
    at, stop = np.uint64(start), np.uint64(stop)
    wrong = np.uint32(0)
    third = second = first = np.uint8(0)
    head = min(at + THREE, stop)
    while at < head:
        wrong |= np.uint32(_is_wrong(third, second, first, data[at]))
        third, second, first = second, first, data[at]
        at += ONE
    for k in range(at, stop):  # no byte waits for the one before it
        wrong |= np.uint32(_is_wrong(data[k - THREE], data[k - TWO], data[k - ONE], data[k]))
    size = stop - np.uint64(start)
    if size >= ONE:
        wrong |= np.uint32(data[stop - ONE] >= 0xC0)
    if size >= TWO:
        wrong |= np.uint32(data[stop - TWO] >= 0xE0)
    if size >= THREE:
        wrong |= np.uint32(data[stop - THREE] >= 0xF0)
    return wrong == 0


class CheckedText(NamedTuple):
    """Whole lines of a chunk, `data[start:stop]`, that are UTF-8, and the line behind them that is not."""

    data: np.ndarray  # (bytes) uint8
    start: int
    stop: int
    lines: int  # newlines in it
    problem: Problem | None


def checked_text(data: np.ndarray, start: int, stop: int, options: Options) -> CheckedText:
    """The lines of `data[start:stop]` up to the first that is not UTF-8; where such lines are skipped, all lines.

    Those to be skipped are written over, in a copy, so that a parser takes none of them for an example.
    """
    lines, ascii = lines_of(data, start, stop)
    if ascii or is_utf8(data, start, stop):
        return CheckedText(data, start, stop, int(lines), None)
    if options.on_error != "skip":
        line, first, column = next(odd_lines(data, start, stop))
        return CheckedText(data, start, first, line, Problem(line, column, NOT_UTF8, SAVE_AS_UTF8))
    text = data.copy()
    for _, first, _ in odd_lines(data, start, stop):
        length = int(np.argmax(np.append(data[first:stop], 10) == 10))
        text[first : first + length] = NO_EXAMPLE
    return CheckedText(text, start, stop, int(lines), None)


def odd_lines(data: np.ndarray, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """Each line of `data[start:stop]` that is not UTF-8: its number from 0, where it begins, and the column from 1.

    >>> list(odd_lines(np.frombuffer(b"a\\nb\\xf6\\nc\\n", np.uint8), 0, 6))
    [(1, 2, 2)]
    """
    for number, line in enumerate(bytes(data[start:stop]).split(b"\n")):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            yield number, start, error.start + 1
        start += len(line) + 1
