"""Engines: who does the tasks. Three functions are all that a training asks of one.

`share(value)` and `submit(function, *arguments, lane=…)` give handles, which can be arguments of further tasks, and
`result(handle)` waits for what a handle stands for. Tasks are functions of values: an engine may do one twice, and does
one again that was lost with a worker. Tasks of a lane go to one worker where that can be; those of none anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

Function = Callable[..., Any]


class Engine(Protocol):
    """What does the tasks of a training."""

    name: str
    dashboard: str | None
    elsewhere: bool  # whether tasks of a lane are done while the training goes on

    @property
    def workers(self) -> int: ...  # that there are now

    def share(self, value: Any) -> Any:
        """A handle of a value that many tasks need."""

    def submit(self, function: Function, *arguments: Any, lane: int | None = None) -> Any:
        """A handle of what a function gives of values and handles."""

    def result(self, handle: Any) -> Any:
        """What a handle stands for; errors of the task are raised."""

    def close(self) -> None:
        """Let go of the workers."""


class Value:
    """A value that is here."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Serial:
    """Everything in this process, one task after the other."""

    name = "one process"
    dashboard: str | None = None
    elsewhere = False
    workers: int = 1

    def share(self, value: Any) -> Value:
        """The value itself."""
        return Value(value)

    def submit(self, function: Function, *arguments: Any, lane: int | None = None) -> Value:
        """Done at once."""
        return Value(function(*(part.value if isinstance(part, Value) else part for part in arguments)))

    def result(self, handle: Value) -> Any:
        """What was found."""
        return handle.value

    def close(self) -> None:
        """Nothing is held."""
