"""Engine on Ray: tasks without actors, which Ray repeats if a worker is lost."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import Any

from ouzel.errors import OuzelError
from ouzel.extras import need


class Ray:
    """Engine of a Ray cluster: "ray" for that of this machine or a new one, ray://host:10001 for a remote one."""

    name = "Ray"
    elsewhere = True

    def __init__(self, address: str = "ray") -> None:
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        ray = need("ray", "a Ray cluster", "ray")
        self._ray = ray
        self._ours = not ray.is_initialized()
        if self._ours:
            try:
                where = address if address.startswith("ray://") else None
                ray.init(where, log_to_driver=False, logging_level=logging.ERROR)
            except (ConnectionError, OSError, ValueError) as error:
                reason = " ".join(str(error).split())[:100]
                raise OuzelError(f"{address}: there is no Ray cluster to be reached ({reason})") from None
        self.dashboard: str | None = None
        self._functions: dict[Callable[..., Any], Any] = {}

    @property
    def workers(self) -> int:
        """Number of processors for tasks."""
        return int(self._ray.cluster_resources().get("CPU", 0))

    def share(self, value: Any) -> Any:
        """Put a value into Ray's object store, which the driver owns."""
        return self._ray.put(value)

    def submit(self, function: Callable[..., Any], *arguments: Any, shard: int | None = None) -> Any:
        """Submit a task to any worker."""
        if function not in self._functions:
            self._functions[function] = self._ray.remote(max_retries=-1)(function)
        return self._functions[function].remote(*arguments)

    def result(self, handle: Any) -> Any:
        """Wait for the result of a task."""
        try:
            return self._ray.get(handle)
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, OuzelError):
                raise error.cause from None
            raise

    def close(self) -> None:
        """Disconnect from the cluster."""
        if self._ours:
            self._ray.shutdown()
