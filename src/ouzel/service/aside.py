"""What takes long leaves the loop: one thread does it, one thing after the other, while others are answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ouzel.service.limits import BusyError, ServiceLimits

SMALL = 1 << 14  # bytes of a request that is answered in the loop
MOMENT = 0.002  # seconds that the loop may wait for a model that learns
Answered = TypeVar("Answered")


class NotNowError(Exception):
    """What was asked would hold up the loop: it is for the thread."""


class Aside:
    """A thread, and requests that wait for it, which are bounded in bytes."""

    def __init__(self, name: str, limits: ServiceLimits) -> None:
        self.waiting_bytes = 0
        self._most = limits.queue_bytes
        self._thread = ThreadPoolExecutor(1, f"ouzel-answer-{name}")

    async def run(self, size: int, work: Callable[[], Answered]) -> Answered:
        """What work of so many bytes gives; BusyError if too many wait already."""
        if self.waiting_bytes and self.waiting_bytes + size > self._most:
            raise BusyError("too many long requests wait to be answered; send it again in a moment")
        self.waiting_bytes += size
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        finally:
            self.waiting_bytes -= size

    def end(self) -> None:
        """Begin nothing more; what is under way is not waited for."""
        self._thread.shutdown(wait=False, cancel_futures=True)
