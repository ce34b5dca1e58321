"""A service: its models by name, its limits and its counters, and the application that answers for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ouzel.service.limits import ServiceLimits
from ouzel.service.metrics import Metrics

if TYPE_CHECKING:
    from ouzel.service.followed import Followed
    from ouzel.service.served import Served


class Service:
    """What one process serves."""

    def __init__(self, models: Mapping[str, Served | Followed], limits: ServiceLimits, metrics: Metrics) -> None:
        self.models = models
        self.limits = limits
        self.metrics = metrics
        self.ending = False

    @property
    def first(self) -> Served | Followed:
        """The model that is meant where none is named."""
        return next(iter(self.models.values()))

    async def start(self) -> None:
        """Begin to learn."""
        for served in self.models.values():
            served.start()

    async def end(self) -> None:
        """Learn what waits, and write a snapshot of each model."""
        self.ending = True
        for served in self.models.values():
            await served.end()

    def measure(self) -> None:
        """Have the figures of each model among the counters."""
        for name, served in self.models.items():
            for figure, value in served.figures().items():
                self.metrics.state.labels(name, figure).set(value)
