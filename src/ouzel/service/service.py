"""A service: its models by name, its limits and metrics, and the shadow that learns what the first model learns."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.errors import OuzelError
from ouzel.files import write_atomically
from ouzel.service.example_log import Entry
from ouzel.service.limits import ServiceLimits
from ouzel.service.metrics import Metrics
from ouzel.service.served import Served
from ouzel.service.submission import KeyOf, Submitted

if TYPE_CHECKING:
    from ouzel.service.predictor import Followed


class Service:
    """The models of one process. Requests without a name go to the first model, until another is promoted."""

    def __init__(
        self,
        models: Mapping[str, Served | Followed],
        limits: ServiceLimits,
        metrics: Metrics,
        shadowing: Shadowing | None = None,
    ) -> None:
        self.models = models
        self.limits = limits
        self.metrics = metrics
        self.shadowing = shadowing
        self.first_name = next(iter(models))
        self.ending = False

    @property
    def first(self) -> Served | Followed:
        """The model for requests without a name."""
        return self.models[self.first_name]

    async def start(self) -> None:
        """Start all models."""
        for served in self.models.values():
            served.start()
        if self.shadowing is not None:
            self.shadowing.start()

    async def end(self) -> None:
        """Learn the waiting examples, and write a snapshot of each model."""
        self.ending = True
        if self.shadowing is not None:
            await self.shadowing.stop()
        for served in self.models.values():
            await served.end()

    async def promote(self, name: str) -> None:
        """Make the shadow the first model, once it has caught up."""

        shadowing = self.shadowing
        if shadowing is None or shadowing.shadow.name != name:
            raise OuzelError(f"{name!r} is not a shadow of {self.first_name!r}; a service has one with --shadow NAME")
        shadowing.known_position()
        leader, shadow = shadowing.leader, shadowing.shadow
        plans = [feed.plan for feed in leader.feeds]
        fed = leader
        await leader.stop_feeds()
        try:
            await shadowing.stop()
            await shadowing.catch_up()
            await asyncio.to_thread(shadow.log.take_over, leader.log.feeds())
            await asyncio.to_thread(write_promoted, shadow.folder.path.parent, name)
            self.shadowing, self.first_name, fed = None, name, shadow
            leader.set_feeds([])
        finally:
            fed.set_feeds(plans)
            fed.start_feeds()

    def measure(self) -> None:
        """Update the metrics with the figures of each model."""
        for name, served in self.models.items():
            for figure, value in served.figures().items():
                self.metrics.state.labels(name, figure).set(value)
            for feed in served.feeds:
                for figure, number in feed.figures().items():
                    self.metrics.feeds.labels(name, feed.plan.name, figure).set(number)


AT_ONCE = 512  # examples
POLL_INTERVAL = 0.25  # seconds between two looks at a log without new examples
FIRST = "first"  # the file with the name of the promoted model


class Shadowing:
    """A shadow: a second model that learns what a leader learns, to be compared with it and to take its place.

    The shadow follows the log of the leader, in order, from the position that its own log has. So it learns each
    example once, whatever restarts, and a shadow that starts late catches up with all stored examples. With `on_alarm`
    a shadow that has learnt nothing begins with the example that raises the next alarm of the leader.
    """

    def __init__(self, leader: Served, shadow: Served, on_alarm: bool = False) -> None:
        self.leader = leader
        self.shadow = shadow
        self.on_alarm = on_alarm
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start to follow; call this within the event loop, after both models have started."""
        self._task = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        """Stop following."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def catch_up(self) -> None:
        """Let the shadow learn all that the leader has learnt by now."""
        while part := await asyncio.to_thread(self._next, self.known_position()):
            await self._learn(part)

    async def _follow(self) -> None:
        while (position := self._position()) is None:
            await asyncio.sleep(POLL_INTERVAL)
            await asyncio.to_thread(self._begin_at_alarm)
        while True:
            part = await asyncio.to_thread(self._next, position)
            if part:
                position = part[-1].number
                with suppress(OuzelError):  # which the shadow reports itself
                    await self._learn(part)
            else:
                await asyncio.sleep(POLL_INTERVAL)

    async def _learn(self, entries: list[Entry]) -> None:
        await self.shadow.room()
        given = [Submitted(entry.record, self._key(entry.number), key_of=KeyOf.PLACE) for entry in entries]
        await self.shadow.learn(given, patient=True)

    def _next(self, position: int) -> list[Entry]:
        """Return the next entries of the log of the leader."""
        log = self.leader.log
        return list(islice(log.entries(after=max(position, log.first() - 1)), AT_ONCE))

    def known_position(self) -> int:
        """Return the number of the last example of the leader that needs no learning; OuzelError before an alarm."""
        position = self._position()
        if position is None:
            raise OuzelError(f"{self.shadow.name!r} waits for an alarm of {self.leader.name!r}, and has learnt nothing")
        return position

    def _position(self) -> int | None:
        """Return the number of the last example of the leader that needs no learning, or None before an alarm."""
        key = self.shadow.log.last_key() or self.shadow.folder.follows
        name, _, number = key.rpartition(":")
        if name == self.leader.name and number.isdigit():
            return int(number)
        return None if self.on_alarm and not key else 0

    def _begin_at_alarm(self) -> None:
        """If the leader has raised an alarm, let the shadow begin with its example, also after a crash."""
        if alarms := list(self.leader.owner.drift):
            self.shadow.folder.write_follows(self._key(alarms[-1].example - 1))

    def _key(self, number: int) -> str:
        return f"{self.leader.name}:{number}"


def promoted(data: Path) -> str | None:
    """Return the name of the promoted model of a folder, if there is one."""
    path = data / FIRST
    return path.read_text().strip() if path.is_file() else None


def write_promoted(data: Path, name: str) -> None:
    """Make a model the first from now on, also after a restart."""
    with write_atomically(data / FIRST) as file:
        file.write(name.encode())
