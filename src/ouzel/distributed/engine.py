"""Engines: who does the tasks. Three functions are all that a training asks of one.

`share(value)` and `submit(function, *arguments, lane=…)` give handles, which can be arguments of further tasks, and
`result(handle)` waits for what a handle stands for. Tasks are functions of values: an engine may do one twice, and does
one again that was lost with a worker. Tasks of a lane go to one worker where that can be; those of none anywhere.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol

from ouzel.errors import OuzelError

Function = Callable[..., Any]
MOST_DEATHS = 20  # of workers, over one task
PATIENCE = 0.5  # seconds between two looks at whether the driver is still there


class Engine(Protocol):
    """What does the tasks of a training."""

    name: str
    dashboard: str | None

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


class _Job:
    """A task for a worker, and its future as of the last time that it was handed over."""

    def __init__(self, function: Function, arguments: tuple[Any, ...], place: int) -> None:
        self.function, self.arguments, self.place = function, arguments, place
        self.future: Future[Any] | None = None


class Processes:
    """Processes of this machine; tasks of no lane are done here. A worker that dies is replaced, its task done anew."""

    name = "processes"
    dashboard: str | None = None

    def __init__(self, workers: int) -> None:
        self.workers: int = workers
        self._pools = [_start() for _ in range(workers)]

    def share(self, value: Any) -> Value:
        """The value itself; it goes to the workers with each task."""
        return Value(value)

    def submit(self, function: Function, *arguments: Any, lane: int | None = None) -> Any:
        """To the worker of the lane; what belongs to no lane is done here."""
        if lane is None:
            return Value(function(*(self.result(part) if _is_handle(part) else part for part in arguments)))
        job = _Job(function, tuple(self.result(p) if _is_handle(p) else p for p in arguments), lane % self.workers)
        self._hand_over(job)
        return job

    def result(self, handle: Any) -> Any:
        """What was found, by as many workers as it takes."""
        if isinstance(handle, Value):
            return handle.value
        for _ in range(MOST_DEATHS):
            try:
                return handle.future.result()
            except BrokenProcessPool:
                self._hand_over(handle)
        raise OuzelError(f"{MOST_DEATHS} workers have died over one task; is there memory enough? Give fewer --workers")

    def processes(self) -> list[int]:
        """The ids of the workers' processes."""
        return [pid for pool in self._pools for pid in (pool._processes or {})]

    def close(self) -> None:
        """End the workers."""
        for pool in self._pools:
            pool.shutdown(wait=True, cancel_futures=True)

    def _hand_over(self, job: _Job) -> None:
        try:
            job.future = self._pools[job.place].submit(job.function, *job.arguments)
        except BrokenProcessPool:
            self._pools[job.place].shutdown(wait=False)
            self._pools[job.place] = _start()
            job.future = self._pools[job.place].submit(job.function, *job.arguments)


def _is_handle(part: Any) -> bool:
    return isinstance(part, (Value, _Job))


def _start() -> ProcessPoolExecutor:
    """A worker of one process, which begins afresh: threads of this one would not survive a fork."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, mp_context=context, initializer=_begin, initargs=(os.getpid(),))


def _begin(driver: int) -> None:
    """Leave interruptions to the driver, and end when that has ended, however."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(driver,), daemon=True).start()


def _end_with(driver: int) -> None:
    while os.getppid() == driver:
        time.sleep(PATIENCE)
    os._exit(1)


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
    if cluster is None:
        here: Engine = Serial() if workers == 0 else Processes(workers)
        return Closing(here, True)
    if not isinstance(cluster, str):
        return Closing(cluster, False)
    if cluster.startswith("ray"):
        from ouzel.distributed.ray_engine import Ray

        return Closing(Ray(cluster), True)
    from ouzel.distributed.dask_engine import Dask

    return Closing(Dask(cluster), True)
