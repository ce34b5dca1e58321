"""Choice of the engine that runs tasks."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing, nullcontext
from typing import Any

from ouzel.distributed.engine import Engine, Serial
from ouzel.distributed.processes import Processes


def engine_for(cluster: Any, workers: int) -> AbstractContextManager[Engine]:
    """Return the engine of a cluster address or a number of processes, or a given one; close it at the end if ours."""
    if cluster is None and workers == 0:
        return closing(Serial())
    if cluster is None:
        return closing(Processes(workers))
    if not isinstance(cluster, str):
        return nullcontext(cluster)
    if cluster.startswith("ray"):
        from ouzel.distributed.ray_engine import Ray

        return closing(Ray(cluster))
    from ouzel.distributed.dask_engine import Dask

    return closing(Dask(cluster))
