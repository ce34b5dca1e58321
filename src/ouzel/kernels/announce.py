"""Says that kernels are being compiled where somebody waits for them: at a terminal, in a notebook, on a screen.

A first run takes up to a minute longer than later ones. Nothing is written to pipes, files or logs: nobody looks there.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ouzel.kernels.cache import on_compile
from ouzel.kernels.jit import seconds_compiling

USUAL = 120  # kernels that a first run compiles: reading CSV and learning take 99 with adagrad, 124 with auto
EVERY = 10.0  # seconds of compiling between two lines


def _write(line: str) -> bool:
    """Write a line to standard error, if it is a terminal or a notebook's; return whether it is."""
    with suppress(OSError, ValueError):  # a standard error that is closed
        waits = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        if waits and multiprocessing.parent_process() is None:
            print(f"ouzel: {line}", file=sys.stderr, flush=True)
            return True
    return False


class _Announcement:
    """Listener that shows a line when a first kernel is compiled, and one every 10 seconds of compiling after it."""

    def __init__(self) -> None:
        self.write: Callable[[str], bool | None] = _write
        self.kernels, self.last, self.said = 0, 0.0, False

    def __call__(self, name: str) -> None:
        self.kernels += 1
        seconds = seconds_compiling()
        if not self.said:
            self.said = self.write("compiling kernels (once; later runs find them on disk) …") is not False
        elif seconds >= self.last + EVERY:
            self.last = seconds
            done = self.kernels - 1
            total = f"of about {USUAL}" if done < USUAL else "so far"
            self.write(f"compiling kernels: {done} {total}, {seconds:.0f} seconds …")


_announcement = _Announcement()
on_compile.append(_announcement)


@contextmanager
def shown_by(write: Callable[[str], bool | None]) -> Iterator[None]:
    """Have lines shown by this function for a while."""
    before, _announcement.write = _announcement.write, write
    try:
        yield
    finally:
        _announcement.write = before
