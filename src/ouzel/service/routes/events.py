"""What happens, as server-sent events: the figures of a model every second, and drift when it is found."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ouzel.service.served import Served

EVERY = 1.0  # seconds


async def events(request: Request, served: Served) -> Response:
    """Events until the client goes, or the service ends."""
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(_events(served), media_type="text/event-stream", headers=headers)


async def _events(served: Served) -> AsyncIterator[bytes]:
    told = len(served.owner.drift.events)
    snapshot = ""
    while not served.ending:
        for event in list(served.owner.drift.events)[told:]:
            yield _event("drift", event._asdict())
        told = len(served.owner.drift.events)
        found = served.last_snapshot()
        if found is not None and found.name != snapshot:
            snapshot = found.name
            yield _event("snapshot", {"snapshot": snapshot})
        yield _event("figures", served.now())
        await asyncio.sleep(EVERY)


def _event(name: str, data: object) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + msgspec.json.encode(data) + b"\n\n"
