"""Connections of clients: time limits on the head of a request and on reading the answer; writes are buffered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ouzel.service.gate import WHOLE, hurry

FLUSH_SIZE = 1 << 16  # bytes that are sent at once


class BufferedTransport:
    """A transport that sends the writes of one turn of the loop together: a head and its body are one system call.

    `end` closes the transport once all is written.
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
        """Send bytes before the loop turns to anything else."""
        if not self._parts:
            self._loop.call_soon(self.flush)
        self._parts.append(data)
        self._size += len(data)
        if self._size > FLUSH_SIZE:
            self.flush()

    def flush(self) -> None:
        """Send the buffered bytes."""
        if self._parts:
            parts, self._parts, self._size = self._parts, [], 0
            self.transport.write(b"".join(parts))

    def close(self) -> None:
        """Send the buffered bytes, and nothing after them."""
        self.flush()
        if not self.closed:
            self.closed = True
            self._end()

    def is_closing(self) -> bool:
        """Return whether nothing can be written any more."""
        return self.closed or self.transport.is_closing()


MOST_HEAD = 1 << 16  # bytes of a request before its body
SPARE = 64  # connections beyond the limit, which are answered 503; further ones are closed
ALWAYS = (b"/health", b"/v2/health/live")  # answered however many connections there are
LINGER = 5.0  # seconds of silence allowed to a client that still sends bytes which will not be read
LAST = 0.75  # seconds that a client may be silent, or not read, once the service ends


class Connection(HttpToolsProtocol):
    """The connection of a client. uvicorn limits the time between requests; this class also limits the time of each.

    The head of a request must come within that time and within MOST_HEAD bytes. A client that does not read its answer
    for as long loses the connection. (`gate.chunks_of_body` limits the time of a body.) A connection that ends while a
    body is still arriving discards the body for a while: if it closed at once, the client would see a connection reset
    instead of the answer.
    """

    _received = 0  # bytes since the last request
    _in_body = False  # whether a body has begun and not ended
    _late: asyncio.TimerHandle | None = None  # closes the connection if no head comes
    _stalled: asyncio.TimerHandle | None = None  # closes it if the client does not read
    _silent: asyncio.TimerHandle | None = None  # closes it after the last answer
    _lingers = LINGER

    def connection_made(self, transport: Any) -> None:
        """Accept a client, or close the connection if there are too many."""
        super().connection_made(transport)
        self.transport = BufferedTransport(transport, self.loop, self._end)  # type: ignore[assignment]
        if self.limit_concurrency is not None and len(self.connections) > self.limit_concurrency + SPARE:
            transport.abort()
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers of a connection that has ended."""
        for timer in (self._late, self._stalled, self._silent):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Receive bytes of a request: of its body, if that has begun."""
        if self._silent is not None:
            self._linger()
            return
        answered = self._in_body  # the request may be answered already while its body still arrives
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._received = 0
            if self._late is not None:
                self._late.cancel()
                self._late = None
            return
        self._await_head()
        if answered or self._in_body:
            return
        self._received += len(data)
        if self._received > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response(f"expected a request that begins with at most {MOST_HEAD:,} bytes before its body")

    def on_headers_complete(self) -> None:
        """Begin a request; /health is answered even with too many connections."""
        self._in_body = True
        limit = self.limit_concurrency
        if self.url.partition(b"?")[0] in ALWAYS:
            self.limit_concurrency = None
        super().on_headers_complete()
        self.limit_concurrency = limit

    def on_message_complete(self) -> None:
        """Note that a request has arrived whole."""
        self._in_body, self._received = False, 0
        self.scope[WHOLE] = True  # type: ignore[literal-required]
        super().on_message_complete()

    def pause_writing(self) -> None:
        """Start the timer of a client that does not read."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self.timeout_keep_alive, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer of a client that reads again."""
        if self._stalled is not None:
            self._stalled.cancel()
        super().resume_writing()

    def shutdown(self) -> None:
        """End with the service: requests may finish, but not be silent."""
        self._lingers = LAST
        if self._silent is not None:
            self._linger()
        if self.cycle is not None and not self.cycle.response_complete:
            hurry(self.cycle.scope, LAST)  # type: ignore[arg-type]
        if self.flow.write_paused and self._stalled is not None:
            self._stalled.cancel()
            self._stalled = self.loop.call_later(LAST, self.transport.abort)
        super().shutdown()

    def _await_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def _end(self) -> None:
        """End the connection, at once if no body is arriving."""
        transport = self.transport.transport  # type: ignore[attr-defined]
        if transport.is_closing() or not self._in_body:
            transport.close()
            return
        if transport.can_write_eof():
            transport.write_eof()
        self._ending = self.loop.time() + self.timeout_keep_alive
        self._linger()
        self.flow.resume_reading()

    def _linger(self) -> None:
        """Wait for the client to close: a moment after its last bytes, and at most the time that a client may take."""
        if self._silent is not None:
            self._silent.cancel()
        at = min(self.loop.time() + self._lingers, self._ending)
        self._silent = self.loop.call_at(at, self.transport.abort)


def raise_open_files(connections: int) -> None:
    """Raise the limit of open files of this process to what its connections need, where the system allows it."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 2 * connections + 512
        if soft != resource.RLIM_INFINITY and soft < wanted:
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
