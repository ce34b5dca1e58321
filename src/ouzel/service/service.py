"""A service: its models by name, its limits and its counters, and which model is meant where none is named."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ouzel.errors import OuzelError
from ouzel.service.limits import ServiceLimits
from ouzel.service.metrics import Metrics

if TYPE_CHECKING:
    from ouzel.service.followed import Followed
    from ouzel.service.served import Served
    from ouzel.service.shadowing import Shadowing


class Service:
    """What one process serves; the first of the models is meant where none is named, until another is promoted."""

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
        """The model that is meant where none is named."""
        return self.models[self.first_name]

    async def start(self) -> None:
        """Begin to learn."""
        for served in self.models.values():
            served.start()
        if self.shadowing is not None:
            self.shadowing.start()

    async def end(self) -> None:
        """Learn what waits, and write a snapshot of each model."""
        self.ending = True
        if self.shadowing is not None:
            await self.shadowing.stop()
        for served in self.models.values():
            await served.end()

    async def promote(self, name: str) -> None:
        """Have the shadow, once it has caught up, be the model that is meant where none is named."""
        from ouzel.service.shadowing import note_promoted

        shadowing = self.shadowing
        if shadowing is None or shadowing.shadow.name != name:
            raise OuzelError(f"{name!r} is not a shadow of {self.first_name!r}; a service has one with --shadow NAME")
        leader, shadow = shadowing.leader, shadowing.shadow
        plans = [feed.plan for feed in leader.feeds]
        fed = leader
        await leader.stop_feeds()
        try:
            await shadowing.stop()
            await shadowing.catch_up()
            await asyncio.to_thread(shadow.log.take_over, leader.log.feeds())
            await asyncio.to_thread(note_promoted, shadow.folder.path.parent, name)
            self.shadowing, self.first_name, fed = None, name, shadow
            leader.fed_by([])
        finally:
            fed.fed_by(plans)
            fed.start_feeds()

    def measure(self) -> None:
        """Have the figures of each model among the counters."""
        for name, served in self.models.items():
            for figure, value in served.figures().items():
                self.metrics.state.labels(name, figure).set(value)
            for feed in served.feeds:
                for figure, number in feed.figures().items():
                    self.metrics.feeds.labels(name, feed.plan.name, figure).set(number)
