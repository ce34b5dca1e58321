"""A service: its models by name, its limits and metrics, and the shadow that learns what the first model learns."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ouzel.errors import OuzelError
from ouzel.files import write_atomically
from ouzel.service.limits import ServiceLimits
from ouzel.service.metrics import Metrics
from ouzel.service.served import Served
from ouzel.service.shadowing import PROMOTION, BehindError, Shadowing, end_of

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
        self._promoting = asyncio.Lock()

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
        """Make the shadow the first model, once it has caught up; raise BehindError if that takes PROMOTION seconds.

        What waits to be learnt, or for its label, is the shadow's from then on.
        """
        shadowing = self.shadowing
        if shadowing is None or shadowing.shadow.name != name:
            raise OuzelError(f"{name!r} is not a shadow of {self.first_name!r}; a service has one with --shadow NAME")
        shadowing.check_begun()
        if self._promoting.locked():
            raise BehindError(f"{name!r} is being promoted; ask again in a moment")
        async with self._promoting:
            await self._promote(shadowing, asyncio.get_running_loop().time() + PROMOTION)

    async def _promote(self, shadowing: Shadowing, deadline: float) -> None:
        leader, shadow = shadowing.leader, shadowing.shadow
        plans = [feed.plan for feed in leader.feeds]
        fed = leader
        await shadowing.catch_up(deadline)  # what the leader learns meanwhile is little
        await leader.stop_feeds()
        try:
            if not await leader.writer.pause(deadline - asyncio.get_running_loop().time()):
                raise shadowing.late()
            try:
                await shadowing.catch_up(deadline)
                await shadowing.stop()
                await asyncio.to_thread(shadow.log.take_over, leader.log.feeds())
                await asyncio.to_thread(leader.log.take_over, [end_of(shadow)])  # should it follow one day
                await asyncio.to_thread(write_promoted, shadow.folder.path.parent, shadow.name)
                self.shadowing, self.first_name, fed = None, shadow.name, shadow
                leader.set_feeds([])
                leader.writer.hand_over(shadow.writer)
                leader.pending_labels.hand_over(shadow.pending_labels)
            finally:
                leader.writer.resume()
        finally:
            fed.set_feeds(plans)
            fed.start_feeds()

    def listed(self) -> list[dict[str, Any]]:
        """Return a description of each model as JSON values."""
        shadowing = self.shadowing
        shadow = None if shadowing is None else shadowing.shadow.name
        return [
            {
                "name": name,
                "first": name == self.first_name,
                "shadow": name == shadow,
                "failure": served.failure,
                **served.figures(),
                **(shadowing.figures() if shadowing is not None and name == shadow else {}),
            }
            for name, served in self.models.items()
        ]

    def measure(self) -> None:
        """Update the metrics with the figures of each model."""
        for name, served in self.models.items():
            figures: dict[str, float] = served.figures()
            if self.shadowing is not None and served is self.shadowing.shadow:
                figures = {**figures, **self.shadowing.figures()}
            for figure, value in figures.items():
                self.metrics.state.labels(name, figure).set(value)
            for feed in served.feeds:
                for figure, number in feed.figures().items():
                    self.metrics.feeds.labels(name, feed.plan.name, figure).set(number)


FIRST = "first"  # the file with the name of the promoted model


def promoted(data: Path) -> str | None:
    """Return the name of the promoted model of a folder, if there is one."""
    path = data / FIRST
    return path.read_text().strip() if path.is_file() else None


def write_promoted(data: Path, name: str) -> None:
    """Make a model the first from now on, also after a restart."""
    with write_atomically(data / FIRST) as file:
        file.write(name.encode())
