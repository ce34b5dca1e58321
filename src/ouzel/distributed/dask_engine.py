"""Engine on Dask.distributed, whose scheduler repeats tasks that were lost with a worker.

The base of a round is a literal of its tasks, so that nothing older than a round is needed to repeat one: the memory
of the scheduler does not grow with the rounds, and survives all workers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ouzel.errors import OuzelError
from ouzel.extras import need

MOST_TRIES = 20
CONNECTING = 10  # seconds


class Handle:
    """Handle of a task, with the future of its last submission."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...], shard: int | None) -> None:
        self.function, self.arguments, self.shard = function, arguments, shard
        self.future: Any = None


def _identity(value: Any) -> Any:
    return value


class Dask:
    """Engine of a Dask cluster, by the address of its scheduler or a client."""

    name = "Dask"
    elsewhere = True

    def __init__(self, address: Any) -> None:
        Client = need("distributed", "a Dask cluster", "dask").Client
        self._ours = isinstance(address, str)
        try:
            self._client = Client(address, timeout=CONNECTING) if self._ours else address
        except (OSError, ValueError) as error:
            raise OuzelError(
                f"{address}: there is no Dask scheduler to be reached ({' '.join(str(error).split())[:100]}); "
                "start one with `dask scheduler`, and workers with `dask worker ADDRESS`"
            ) from None
        self.dashboard: str | None = self._client.dashboard_link

    @property
    def workers(self) -> int:
        """Number of connected workers."""
        return len(self._addresses())

    def _addresses(self) -> list[str]:
        return sorted(self._client.scheduler_info(n_workers=-1)["workers"])

    def share(self, value: Any) -> Handle:
        """Submit a value as a task."""
        return self.submit(_identity, value)

    def submit(self, function: Callable[..., Any], *arguments: Any, shard: int | None = None) -> Handle:
        """Submit a task to the worker of the shard, or to any other if that is gone."""
        handle = Handle(function, arguments, shard)
        self._resubmit(handle)
        return handle

    def result(self, handle: Handle) -> Any:
        """Wait for the result; resubmit the task if a worker dies."""
        from distributed import CancelledError, KilledWorker
        from distributed.client import FutureCancelledError

        for _ in range(MOST_TRIES):
            try:
                return handle.future.result()
            except (KilledWorker, CancelledError, FutureCancelledError):
                self._again(handle)
        raise OuzelError(f"{MOST_TRIES} workers have died over one task; is there memory enough on the workers?")

    def close(self) -> None:
        """Disconnect from the cluster, which stays up."""
        if self._ours:
            self._client.close()

    def _again(self, handle: Handle) -> None:
        for part in handle.arguments:
            if isinstance(part, Handle) and part.future.status in ("cancelled", "error", "lost"):
                self._again(part)
        self._resubmit(handle)

    def _resubmit(self, handle: Handle) -> None:
        arguments = [part.future if isinstance(part, Handle) else part for part in handle.arguments]
        where: dict[str, Any] = {}
        addresses = self._addresses() if handle.shard is not None else []
        if addresses and handle.shard is not None:
            where = {"workers": [addresses[handle.shard % len(addresses)]], "allow_other_workers": True}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of large literals: see above
            handle.future = self._client.submit(handle.function, *arguments, pure=False, **where)
