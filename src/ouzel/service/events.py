"""Events of a model, server-sent: what is said each second is made once for all streams, whose number is bounded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple

import msgspec

from ouzel.evaluation.alarm import Drift

INTERVAL = 1.0  # seconds


class Moment(NamedTuple):
    """State of a model at a time, as events say it."""

    drift: Sequence[Drift]
    snapshot: str  # name of the last one, or ""
    figures: bytes  # an event


class Events:
    """Streams of events of one model; `make` returns what can be said now, `ending` whether the service ends."""

    def __init__(self, make: Callable[[], Moment], ending: Callable[[], bool]) -> None:
        self._make, self._ending = make, ending
        self._streams = 0
        self._task: asyncio.Task[None] | None = None  # while there are streams

    async def stream(self) -> AsyncGenerator[bytes, None]:
        """Yield events until the service ends: those of now at once, and then each second."""
        reported, snapshot = None, ""
        async with aclosing(self._moments()) as moments:
            async for moment in moments:
                drift = [event.example for event in moment.drift]
                reported = max(drift, default=0) if reported is None else reported
                for event in moment.drift:
                    if event.example > reported:
                        yield event_of("drift", event._asdict())
                reported = max([reported, *drift])
                if moment.snapshot != snapshot:
                    snapshot = moment.snapshot
                    yield event_of("snapshot", {"snapshot": snapshot})
                yield moment.figures

    async def _moments(self) -> AsyncGenerator[Moment, None]:
        self._streams += 1
        try:
            if self._task is None:
                self._latest = self._make()
                self._following: asyncio.Future[Moment] = asyncio.get_running_loop().create_future()
                self._task = asyncio.create_task(self._tick())
            yield self._latest
            while not self._ending():
                yield await asyncio.shield(self._following)  # which others await, too
        finally:
            self._streams -= 1

    async def _tick(self) -> None:
        """Make each second what all streams say, as long as there are any."""
        while self._streams and not self._ending():
            await asyncio.sleep(INTERVAL)
            following, self._following = self._following, asyncio.get_running_loop().create_future()
            try:
                self._latest = self._make()
            except Exception as error:
                self._task = None
                following.set_exception(error)
                raise
            following.set_result(self._latest)
        self._task = None


def event_of(name: str, data: Any) -> bytes:
    """Return an event as its stream has it."""
    return b"event: " + name.encode() + b"\ndata: " + msgspec.json.encode(data) + b"\n\n"
