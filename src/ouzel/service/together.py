"""Requests that came in one turn of the loop, answered together: a block costs little more than an example."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from ouzel.service.aside import NotNowError
from ouzel.service.submission import Result

MOST, MOST_BYTES = 64, 1 << 17  # lines, and bytes, that hold up the loop together
Asked = list[tuple[bytes, asyncio.Future[Result]]]


class Together:
    """Gathers lines that are asked about one by one, for a function that answers several; from within one loop.

    Where that function raises NotNowError, they are left to `later`.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[bytes]], list[Result]],
        later: Callable[[Sequence[bytes]], Awaitable[list[Result]]] | None = None,
    ) -> None:
        self._answer, self._answer_later = answer, later
        self._asked: Asked = []
        self._tasks: set[asyncio.Task[None]] = set()

    def ask(self, text: bytes) -> asyncio.Future[Result]:
        """What is said of a line, once the loop has turned."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Result] = loop.create_future()
        if not self._asked:
            loop.call_soon(self._tell)
        self._asked.append((text, found))
        return found

    def _tell(self) -> None:
        count = size = 0
        while count < min(MOST, len(self._asked)) and (not count or size + len(self._asked[count][0]) <= MOST_BYTES):
            size += len(self._asked[count][0])
            count += 1
        asked, self._asked = self._asked[:count], self._asked[count:]
        if self._asked:
            asyncio.get_running_loop().call_soon(self._tell)
        try:
            _tell_each(asked, self._answer([text for text, _ in asked]))
        except NotNowError:
            task = asyncio.create_task(self._tell_later(asked))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        except Exception as error:
            _tell_all(asked, error)

    async def _tell_later(self, asked: Asked) -> None:
        assert self._answer_later is not None
        try:
            _tell_each(asked, await self._answer_later([text for text, _ in asked]))
        except Exception as error:
            _tell_all(asked, error)


def _tell_each(asked: Asked, results: list[Result]) -> None:
    for (_, found), result in zip(asked, results, strict=True):
        if not found.done():
            found.set_result(result)


def _tell_all(asked: Asked, error: Exception) -> None:
    """Whoever asked is told of a mistake."""
    for _, found in asked:
        if not found.done():
            found.set_exception(error)
