"""Reliable standard output and standard error, also where they are closed or fail."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Any

NARROWEST = 20  # columns that COLUMNS may say


class Dispensable(io.TextIOWrapper):
    """Text stream that ignores errors of writing, for progress and remarks."""

    def write(self, text: str) -> int:
        """Write a text; ignore errors."""
        try:
            return super().write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        """Flush the buffer; ignore errors."""
        with suppress(OSError):
            super().flush()


def make_usable() -> None:
    """Make standard output fail with a message and standard error not at all; ignore an impossible width.

    What is closed is taken by the null device, so that no file that is opened later stands in its place. Characters
    that the encoding lacks are written as their escapes.
    """
    for descriptor, flags in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):  # 0 and 1 refuse their use
        _take_if_closed(descriptor, flags)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 for as long as the process
    _escape(sys.stdout)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    given: Any = sys.stderr
    encoding = given.encoding
    sys.stderr = Dispensable(given.detach(), encoding, errors="backslashreplace", line_buffering=True)
    width = os.environ.get("COLUMNS", "")
    if not (width.isdecimal() and int(width) >= NARROWEST):
        os.environ.pop("COLUMNS", None)  # Rich would print lines of no width


def _take_if_closed(descriptor: int, flags: int) -> None:
    try:
        os.fstat(descriptor)
    except OSError:
        os.open(os.devnull, flags)  # the lowest that is free, which is this one


def _escape(stream: io.TextIOWrapper | object) -> None:
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
