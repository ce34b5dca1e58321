"""Processes that are killed at a moment and begun again: one harness for the tests and the attack.

`begin` is a function that begins the process. It may be a `subprocess.Popen`, a `Child` that was forked, or a service.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NoReturn, Protocol

LONGEST = 120.0  # seconds that a process may take to come to a moment


class Process(Protocol):
    """A process that has begun."""

    def poll(self) -> int | None:
        """How it ended: its status, or a signal as a negative number; None while it runs."""

    def send_signal(self, number: int, /) -> None:
        """Send it a signal."""

    def wait(self) -> int:
        """How it ended, when it has."""


class Child:
    """A process that was forked from this one."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if ended else None
        return self.returncode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self, timeout: float = LONGEST) -> int:
        if not reached(self, lambda: False, timeout):
            self.send_signal(signal.SIGKILL)
            os.waitpid(self.pid, 0)
            raise TimeoutError(f"the process took more than {timeout:.0f} s")
        return self.returncode or 0


def become(words: list[str], *streams: int) -> NoReturn:
    """Turn this forked process into `ouzel` with these descriptors as its standard streams."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    raw = (os.fdopen(number, mode, -(not at_once)) for number, mode in enumerate(("rb", "wb", "wb")))
    sys.stdin, sys.stdout, sys.stderr = (io.TextIOWrapper(stream, write_through=at_once) for stream in raw)
    sys.argv = ["ouzel", *words]
    from ouzel.cli import main

    try:
        main()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(1)


def written(path: Path) -> Callable[[], bool]:
    """Tells whether a file has been written since."""

    def stamp() -> int:
        return path.stat().st_mtime_ns if path.exists() else 0

    before = stamp()
    return lambda: stamp() != before


def reached(process: Process, happened: Callable[[], bool], longest: float = LONGEST) -> bool:
    """Wait until something has happened, or the process has ended; whether either came in time."""
    end = time.monotonic() + longest
    while process.poll() is None and not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def strike(
    process: Process, happened: Callable[[], bool] = lambda: True, pause: float = 0.0, number: int = signal.SIGKILL
) -> int:
    """Send a process a signal some seconds after something has happened; how it ended, be it before."""
    reached(process, happened)
    time.sleep(pause)
    if process.poll() is None:
        process.send_signal(number)
    return process.wait()


def through_kills(begin: Callable[[], Process], path: Path, pauses: Iterable[float]) -> int:
    """Begin a process for each pause, and kill it so long after it has written a file; how many were running then."""
    struck = 0
    for pause in pauses:
        anew = written(path)
        struck += strike(begin(), anew, pause) == -signal.SIGKILL
    return struck
