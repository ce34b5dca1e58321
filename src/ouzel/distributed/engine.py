"""Engines that run tasks, and the three functions that a training calls.

`share(value)` and `submit(function, *arguments, shard=…)` return handles, which can be arguments of further tasks, and
`result(handle)` waits for the value of a handle. Tasks are pure functions: an engine may run one twice, and repeats
one that was lost with a worker. Tasks of a shard go to one worker where possible; tasks without one go anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

Function = Callable[..., Any]


class Engine(Protocol):
    """Engine that runs the tasks of a training."""

    name: str
    dashboard: str | None
    elsewhere: bool  # whether tasks of a shard run while the training continues

    @property
    def workers(self) -> int: ...  # that there are now

    def share(self, value: Any) -> Any:
        """Return a handle of a value that many tasks need."""

    def submit(self, function: Function, *arguments: Any, shard: int | None = None) -> Any:
        """Run a function on values and handles; return a handle of its result."""

    def result(self, handle: Any) -> Any:
        """Return the value of a handle; errors of the task are raised."""

    def close(self) -> None:
        """Release the workers."""


class Value:
    """Handle of a value in this process."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Serial:
    """Engine that runs tasks in this process, one after the other."""

    name = "one process"
    dashboard: str | None = None
    elsewhere = False
    workers: int = 1

    def share(self, value: Any) -> Value:
        """Return a handle of the value."""
        return Value(value)

    def submit(self, function: Function, *arguments: Any, shard: int | None = None) -> Value:
        """Run the function at once."""
        return Value(function(*(part.value if isinstance(part, Value) else part for part in arguments)))

    def result(self, handle: Value) -> Any:
        """Return the value of a handle."""
        return handle.value

    def close(self) -> None:
        """Do nothing: there are no workers."""
