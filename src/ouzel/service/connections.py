"""Connections that hold nothing up: how long a client may take for a request's head, and to read its answer."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ouzel.service.gate import WHOLE, hurry
from ouzel.service.wire import Wire

MOST_HEAD = 1 << 16  # bytes of a request before its body
SPARE = 64  # connections beyond the limit, which are told so; those beyond these are closed
ALWAYS = (b"/health", b"/v2/health/live")  # answered however many connections there are
LINGER = 5.0  # seconds that a client may be silent who still sends what will not be read
LAST = 0.75  # seconds that any client may be silent, or not read, once the service ends


class Connection(HttpToolsProtocol):
    """A client's connection. uvicorn limits the time between requests; this limits the same time for what may hang.

    A request's head must come within that time and in so many bytes; an answer that is not read for as long ends the
    connection. (How slowly a body may come is for `gate.chunks_of_body` to say.) A connection that ends while a body is
    still on its way passes that over, for a while: closed at once, the system would tell the client of a connection
    reset, and no longer what was answered.
    """

    _received = 0  # bytes since the last request
    _in_body = False  # whether a body has begun and not ended
    _late: asyncio.TimerHandle | None = None  # what ends a head that does not come
    _stalled: asyncio.TimerHandle | None = None  # what ends an answer that is not read
    _silent: asyncio.TimerHandle | None = None  # what ends a connection on which nothing is answered any more
    _lingers = LINGER

    def connection_made(self, transport: Any) -> None:
        """A client has come; one too many is sent away."""
        super().connection_made(transport)
        self.transport = Wire(transport, self.loop, self._end)  # type: ignore[assignment]
        if self.limit_concurrency is not None and len(self.connections) > self.limit_concurrency + SPARE:
            transport.abort()
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        for timer in (self._late, self._stalled, self._silent):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes of a request: of its body, if one is under way."""
        if self._silent is not None:
            self._linger()
            return
        answered = self._in_body  # it may be of a request that is answered already, as long as its body comes
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
        """A request has begun; whether the service lives is answered in any case."""
        self._in_body = True
        limit = self.limit_concurrency
        if self.url.partition(b"?")[0] in ALWAYS:
            self.limit_concurrency = None
        super().on_headers_complete()
        self.limit_concurrency = limit

    def on_message_complete(self) -> None:
        """A request is here to its end."""
        self._in_body, self._received = False, 0
        self.scope[WHOLE] = True  # type: ignore[literal-required]
        super().on_message_complete()

    def pause_writing(self) -> None:
        """The client does not read."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self.timeout_keep_alive, self.transport.abort)

    def resume_writing(self) -> None:
        """It does again."""
        if self._stalled is not None:
            self._stalled.cancel()
        super().resume_writing()

    def shutdown(self) -> None:
        """The service ends: what is under way may go on, but not be silent."""
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
        """End the connection, at once if nothing more comes."""
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
        """Wait for the client to end it: a moment after what came last, and not longer than a client may take."""
        if self._silent is not None:
            self._silent.cancel()
        at = min(self.loop.time() + self._lingers, self._ending)
        self._silent = self.loop.call_at(at, self.transport.abort)


def raise_open_files(connections: int) -> None:
    """Let this process have as many files open as it takes connections, and some, where the system allows that."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 2 * connections + 512
        if soft != resource.RLIM_INFINITY and soft < wanted:
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
