"""Batching of requests: those of one turn of the event loop are answered together, and long ones by a thread.

A block costs little more than an example. The thread does one thing after the other while the loop answers others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ouzel.service.limits import BusyError, ServiceLimits
from ouzel.service.submission import Result

SMALL = 1 << 14  # bytes of a request that is answered in the loop
MOMENT = 0.002  # seconds that the loop may wait for a model that learns
Answered = TypeVar("Answered")


class WouldBlockError(Exception):
    """The request would block the event loop; the thread must answer it."""


class BackgroundThread:
    """A thread and its queue of requests, which is bounded in bytes."""

    def __init__(self, name: str, limits: ServiceLimits) -> None:
        self.waiting_bytes = 0
        self._most = limits.queue_bytes
        self._thread = ThreadPoolExecutor(1, f"ouzel-answer-{name}")

    async def run(self, size: int, work: Callable[[], Answered]) -> Answered:
        """Run work on `size` bytes and return its result; raise BusyError if too many bytes wait already."""
        if self.waiting_bytes and self.waiting_bytes + size > self._most:
            raise BusyError("too many long requests wait to be answered; send it again in a moment")
        self.waiting_bytes += size
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        finally:
            self.waiting_bytes -= size

    def end(self) -> None:
        """Start nothing more; do not wait for running work."""
        self._thread.shutdown(wait=False, cancel_futures=True)


MOST, MOST_BYTES = 64, 1 << 17  # lines and bytes of a batch, which block the loop together
PendingLines = list[tuple[bytes, asyncio.Future[Result]]]


class Batcher:
    """Collects single lines to predict into batches for a function that answers several; for use within one event loop.

    If that function raises WouldBlockError, `later` answers the batch.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[bytes]], list[Result]],
        later: Callable[[Sequence[bytes]], Awaitable[list[Result]]] | None = None,
    ) -> None:
        self._answer, self._answer_later = answer, later
        self._pending: PendingLines = []
        self._tasks: set[asyncio.Task[None]] = set()

    def submit(self, text: bytes) -> asyncio.Future[Result]:
        """Return the future answer to a line; it is set in the next turn of the loop."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Result] = loop.create_future()
        if not self._pending:
            loop.call_soon(self._answer_batch)
        self._pending.append((text, found))
        return found

    def _answer_batch(self) -> None:
        count = size = 0
        for text, _ in self._pending[:MOST]:
            if count and size + len(text) > MOST_BYTES:
                break
            size += len(text)
            count += 1
        pending, self._pending = self._pending[:count], self._pending[count:]
        if self._pending:
            asyncio.get_running_loop().call_soon(self._answer_batch)
        try:
            _set_results(pending, self._answer([text for text, _ in pending]))
        except WouldBlockError:
            task = asyncio.create_task(self._answer_in_background(pending))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        except Exception as error:
            _set_errors(pending, error)

    async def _answer_in_background(self, pending: PendingLines) -> None:
        assert self._answer_later is not None
        try:
            _set_results(pending, await self._answer_later([text for text, _ in pending]))
        except Exception as error:
            _set_errors(pending, error)


def _set_results(pending: PendingLines, results: list[Result]) -> None:
    for (_, found), result in zip(pending, results, strict=True):
        if not found.done():
            found.set_result(result)


def _set_errors(pending: PendingLines, error: Exception) -> None:
    """Raise an error in every request of a batch."""
    for _, found in pending:
        if not found.done():
            found.set_exception(error)
