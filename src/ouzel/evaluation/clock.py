"""Clock of a run: seconds spent on reading, learning, and compiling kernels (once on each machine)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from ouzel.kernels import jit


class Clock:
    """Seconds by part; what falls to the compilation of kernels, in whatever part, is counted as that alone.

    >>> clock = Clock()
    >>> with clock.on("learning"):
    ...     clock.now
    'learning'
    >>> clock.seconds["learning"] > 0.0, clock.seconds["compiling"], clock.now
    (True, 0.0, None)
    """

    def __init__(self) -> None:
        self.seconds = {"reading": 0.0, "learning": 0.0, "compiling": 0.0}
        self.now: str | None = None  # the part under way

    @contextmanager
    def on(self, part: str) -> Iterator[None]:
        """Count what is done within as `part`."""
        self.now = part
        begun, compiled = time.perf_counter(), jit.seconds_compiling()
        try:
            yield
        finally:
            compiling = jit.seconds_compiling() - compiled
            spent = time.perf_counter() - begun
            self.seconds[part] += max(0.0, spent - compiling)  # another thread may compile meanwhile
            self.seconds["compiling"] += compiling
            self.now = None
