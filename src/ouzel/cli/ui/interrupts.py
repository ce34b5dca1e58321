"""Handling of Ctrl-C and of signals that end processes."""

from __future__ import annotations

import signal
import threading
from contextlib import suppress
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    from ouzel.evaluation.progressive import Run

ENDINGS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]  # Windows has no SIGHUP
SOON = 0.01  # seconds until a signal that arrives where Numba cannot be interrupted is raised again

_waiting: list[threading.Timer] = []  # signals to be raised again


class Interrupted(Exception):  # noqa: N818 it is not an error; Typer keeps KeyboardInterrupt to itself
    """Interruption of a command, with what was saved before."""


class Signals:
    """Context in which signals that end processes unwind the command like Ctrl-C, so that it saves what was learnt.

    One that was ignored when the command began (`nohup`, a job in the background) stays ignored.
    """

    def __init__(self) -> None:
        self.ending = 0  # the signal that ended the command, if one did
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._before = _handle([signal.SIGINT, *ENDINGS], self._end)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        while _waiting:
            _waiting.pop().cancel()
        _restore(self._before)

    def status(self, status: int) -> int:
        """Return the exit status: that of the signal, if there was one."""
        return 128 + self.ending if self.ending else status

    def _end(self, number: int, frame: FrameType | None) -> None:
        if number in ENDINGS:
            self.ending = number
        raise KeyboardInterrupt


class DeferredInterrupt:
    """Context in which a signal waits for the end of the block that is being learnt; a second signal does not.

    It does not stop the run between held-out examples and the end of their stretch, where they are evaluated, or a
    resumed run would evaluate them by another model. It does not wait while the run waits for what it reads,
    as `waiting` says: from a pipe (`piped`) that may last for ever.
    """

    def __init__(self, run: Run, waiting: Callable[[], bool] = lambda: True, piped: bool = True) -> None:
        self.run = run
        self.waiting = waiting
        self.piped = piped
        self.begun_at = run.position
        self.requests = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._before = _handle([signal.SIGINT, *ENDINGS], self._request)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        _restore(self._before)

    def check(self) -> None:
        """Raise the interruption if there was one and the run can resume from here."""
        if self.requests > 1 or (self.requests and (not self.run.pending or (self.piped and self.waiting()))):
            raise KeyboardInterrupt

    def _request(self, number: int, frame: FrameType | None) -> None:
        self.requests += 1
        before = self._before[number]
        if number in ENDINGS and callable(before):
            with suppress(KeyboardInterrupt):
                before(number, frame)  # `Signals` stores it
        reading = self.run.clock.now == "reading" and self.waiting() and (self.piped or not self.run.pending)
        if self.requests > 1 or reading or self.run.position == self.begun_at:
            raise KeyboardInterrupt


def _is_within_numba(frame: FrameType | None) -> bool:
    """Whether an exception would be lost here, or break more than the call.

    In Numba's `refresh` it ends generators, and no kernel loads any more. Where LLVM calls Python it is lost, and with
    it the kernel that was compiled.
    """
    while frame is not None:
        module, name = str(frame.f_globals.get("__name__")), frame.f_code.co_name
        if (name == "refresh" and module.startswith("numba.")) or module == "llvmlite.binding.executionengine":
            return True
        frame = frame.f_back
    return False


def _raise_in(thread: int, number: int) -> None:
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(thread, number)  # this also wakes a blocking read
    else:
        signal.raise_signal(number)


def _handle(numbers: list[int], handle: Callable[[int, FrameType | None], None]) -> dict[int, Any]:
    """Set the handler of some signals, except ignored ones; return the previous handlers."""
    if threading.current_thread() is not threading.main_thread():
        return {}  # only the main thread receives signals

    def handler(number: int, frame: FrameType | None) -> None:
        if _is_within_numba(frame):
            timer = threading.Timer(SOON, _raise_in, (threading.get_ident(), number))
            timer.daemon = True
            _waiting.append(timer)
            timer.start()
        else:
            handle(number, frame)

    heeded = [number for number in numbers if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    return {number: signal.signal(number, handler) for number in heeded}


def _restore(before: dict[int, Any]) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)
