"""Places in lines of JSON: where quotation marks stand, where blanks end, where lines do."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import ends_of_strings
from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.text.marks import finding

PIECE = np.uint64(1 << 14)  # bytes in which quotation marks are found at a time: they stay near the processor
ONE = np.uint64(1)


@force_inline
def _is_quote_or_odd(byte):
    return byte == 34 or byte == 92 or byte < 32


find_quotes = finding(__name__, ends_of_strings, _is_quote_or_odd)


@force_inline
def is_blank(byte):
    """Whether a byte is a blank; line ends are not blanks."""
    return byte == 32 or byte == 9 or byte == 13


@force_inline
def behind_blanks(data, at):
    """The place of the first byte that is not a blank, as there is one: what ends the text, or the line."""
    at += np.uint64(data[at] == 32)  # mostly one, or none
    if data[at] <= 32:
        while is_blank(data[at]):
            at += ONE
    return at


@force_inline
def mark_at(marks, mark, at):
    """The number of the first mark from `at` on, which is not before this one."""
    while marks[mark] < at:
        mark += ONE
    return mark


@kernel
def lines_end(data, at, stop):
    """The place behind the first line that ends PIECE bytes from `at` on, or later; `stop` if none does."""
    at += PIECE
    while at < stop:
        if data[at] == 10:
            return at + ONE
        at += ONE
    return stop
