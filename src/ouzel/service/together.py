"""Requests that came in one turn of the loop, answered together: a block costs little more than an example."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from ouzel.service.submission import Result

MOST = 64  # lines that hold up the loop together


class Together:
    """Gathers lines that are asked about one by one, for a function that answers several; from within one loop."""

    def __init__(self, answer: Callable[[Sequence[bytes]], list[Result]]) -> None:
        self._answer = answer
        self._asked: list[tuple[bytes, asyncio.Future[Result]]] = []

    def ask(self, text: bytes) -> asyncio.Future[Result]:
        """What is said of a line, once the loop has turned."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Result] = loop.create_future()
        if not self._asked:
            loop.call_soon(self._tell)
        self._asked.append((text, found))
        return found

    def _tell(self) -> None:
        asked, self._asked = self._asked[:MOST], self._asked[MOST:]
        if self._asked:
            asyncio.get_running_loop().call_soon(self._tell)
        try:
            results = self._answer([text for text, _ in asked])
        except Exception as error:  # whoever asked is told so
            for _, found in asked:
                if not found.done():
                    found.set_exception(error)
            return
        for (_, found), result in zip(asked, results, strict=True):
            if not found.done():
                found.set_result(result)
