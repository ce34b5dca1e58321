"""A user's interruption: it waits until examples are learnt whole, and has something to say."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from ouzel.evaluation.progressive import Run


class Interrupted(Exception):  # noqa: N818 it is no error; Typer keeps KeyboardInterrupt to itself
    """What was saved before the command was stopped."""


class Patience:
    """While a run is at work, Ctrl-C waits for the end of the block that is being learnt; a second one does not."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.begun_at = run.position
        self.asked = 0
        self.before: Any = None

    def __enter__(self) -> Self:
        self.before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        signal.signal(signal.SIGINT, self.before)

    def check(self) -> None:
        """Stop here if that was asked for."""
        if self.asked:
            raise KeyboardInterrupt

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked += 1
        if self.asked > 1 or self.run.clock.now == "reading" or self.run.position == self.begun_at:
            raise KeyboardInterrupt
