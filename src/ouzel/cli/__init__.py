"""The command line: one file per command, with imports deferred until a command needs them.

Its process has reliable standard output and standard error, also where they are closed or fail.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from contextlib import suppress
from typing import Any

STARTED = 300_000  # more objects than a command has made when it begins to work
NARROWEST = 20  # columns that COLUMNS may say


def main() -> None:
    """Run `ouzel` with the arguments of the process."""
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # Arrow's own clears large pages anew for every table
    gc.set_threshold(STARTED)  # what is imported is not garbage: collecting it takes a tenth of the start
    try:
        _make_usable()
        from ouzel.cli.app import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules were imported
        status = 130
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)  # Arrow's threads may be reading a file ahead, and would not survive an orderly end of Python


class _Dispensable(io.TextIOWrapper):
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


def _make_usable() -> None:
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
    sys.stderr = _Dispensable(given.detach(), encoding, errors="backslashreplace", line_buffering=True)
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
