"""Standard output and standard error as a command can rely on them, whatever the process was given."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Any

NARROWEST = 20  # columns that COLUMNS may say


class Dispensable(io.TextIOWrapper):
    """Text that is written as far as it can be: progress and remarks, without which a run goes on."""

    def write(self, text: str) -> int:
        """Write, or not."""
        try:
            return super().write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        """Write what waits, or not."""
        with suppress(OSError):
            super().flush()


def make_usable() -> None:
    """Have a standard output that fails in words, and a standard error that does not fail; say the width if it is one.

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
