"""What a connection sends: together what was written in one turn of the loop, and to its end what was said last."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

AT_ONCE = 1 << 16  # bytes that wait for no more


class Wire:
    """A transport as uvicorn writes to it. A head and its body are one call of the system, and wake the client once.

    What closes it, once all of it is written, is for the connection to say.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, end: Callable[[], None]) -> None:
        self.transport = transport
        self.closed = False
        self._loop, self._end = loop, end
        self._parts: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)

    def write(self, data: bytes) -> None:
        """Send some bytes before the loop turns to anything else."""
        if not self._parts:
            self._loop.call_soon(self.flush)
        self._parts.append(data)
        self._size += len(data)
        if self._size > AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Send what was written."""
        if self._parts:
            parts, self._parts, self._size = self._parts, [], 0
            self.transport.write(b"".join(parts))

    def close(self) -> None:
        """Send what was written, and nothing after it."""
        self.flush()
        if not self.closed:
            self.closed = True
            self._end()

    def is_closing(self) -> bool:
        """Whether nothing can be written any more."""
        return self.closed or self.transport.is_closing()
