"""What readers of line formats share: the outcome of one chunk of text, and what is said of a bad line."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.errors import DataError, bad_line
from ouzel.streams.block import Block
from ouzel.streams.limits import Limits

ZERO_BYTE = "a zero byte"
STRIDE = 1 << 14  # bytes that are parted into lines at a time
NOT_UTF8 = "bytes that are not UTF-8"


class Problem(NamedTuple):
    """A bad line: where it is, what was found there, and what should have been."""

    line: int  # from 0, within the chunk
    column: int  # bytes from the start of the line, from 1
    found: str
    advice: str
    limits: dict[str, str] | None = None  # larger ones, with which it would not be bad

    def message(self, name: str, lines_before: int) -> str:
        """The one line that people read."""
        return f"{name}:{lines_before + self.line + 1}:{self.column}: found {self.found}; {self.advice}"

    def error(self, name: str, lines_before: int) -> DataError:
        """What is raised of it, with one advice: a binary file, and one in other letters, is to be another file."""
        message = self.message(name, lines_before)
        whole = self.found in (ZERO_BYTE, NOT_UTF8)
        return DataError(message) if whole else bad_line(message, limits=self.limits)


class Parsed(NamedTuple):
    """One chunk of text as a block, up to the first bad line if there is one."""

    block: Block
    lines: int
    skipped: int
    problem: Problem | None


def too_long(problem: Problem, limits: Limits, limit: str = "word") -> Problem:
    """The problem with a label or a name that takes more than the limit of a word, or of a label."""
    return problem._replace(advice=limits.expected(limit), limits=limits.longer(limit))


def problem_at(data: np.ndarray, start: int, position: int, advice: str) -> Problem:
    """The problem with the word at a byte position of the chunk that begins at `start`."""
    before = bytes(data[start:position])
    line = before.count(b"\n")
    column = position - start - (before.rfind(b"\n") + 1) + 1
    ahead = bytes(data[position : position + 200]).split(b"\n", 1)[0]
    word = ahead.split(None, 1)[0] if ahead.split() else b""
    if b"\0" in ahead:
        return Problem(line, column, ZERO_BYTE, "expected text; this looks like a binary file: name its format")
    text = word[:40].decode("utf-8", "replace") + ("…" if len(word) > 40 else "")
    return Problem(line, column, repr(text) if word else "the end of the line", advice)


def lines_at(data: np.ndarray, start: int, stop: int, count: int) -> tuple[list[bytes], int]:
    """The first lines of `data[start:stop]`, up to so many, and where the next begins."""
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
