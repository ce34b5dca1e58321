"""Which engine does the tasks."""

from __future__ import annotations

from typing import Any

from ouzel.distributed.engine import Engine, Serial
from ouzel.distributed.processes import Processes


class Closing:
    """An engine for as long as it is needed."""

    def __init__(self, engine: Engine, ours: bool) -> None:
        self.engine, self.ours = engine, ours

    def __enter__(self) -> Engine:
        return self.engine

    def __exit__(self, *_: object) -> None:
        if self.ours:
            self.engine.close()


def engine_for(cluster: Any, workers: int) -> Closing:
    """The engine that is asked for: an address, an engine that is there, or so many processes."""
    if cluster is None and workers == 0:
        return Closing(Serial(), True)
    if cluster is None:
        return Closing(Processes(workers), True)
    if not isinstance(cluster, str):
        return Closing(cluster, False)
    if cluster.startswith("ray"):
        from ouzel.distributed.ray_engine import Ray

        return Closing(Ray(cluster), True)
    from ouzel.distributed.dask_engine import Dask

    return Closing(Dask(cluster), True)
