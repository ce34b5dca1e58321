"""Processes of this machine as an engine.

Each is at the other end of a pipe. The standard library's pools would wait for ever for the rest of an answer that a
worker had begun to write when it was killed, since they keep its end of the pipe open themselves.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Any

import pyarrow

from ouzel.distributed.engine import Function, Value
from ouzel.errors import OuzelError

MOST_DEATHS = 20  # of workers, over one task
PATIENCE = 0.5  # seconds between two looks at whether the driver is still there


class WorkerDiedError(Exception):
    """A worker has ended without an answer."""


class Worker:
    """A process that does one task after the other."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # threads of this process would not survive a fork
        self._here, there = context.Pipe()
        self.process = context.Process(target=_serve, args=(there, os.getpid()), daemon=True)
        self.process.start()
        there.close()
        self.died = False
        self._thread = ThreadPoolExecutor(1, "ouzel-worker")

    def submit(self, function: Function, arguments: tuple[Any, ...]) -> Future[Any]:
        """Have a task done after those before it."""
        return self._thread.submit(self._ask, function, arguments)

    def close(self) -> None:
        """End the process after the task that it is at."""
        self._thread.shutdown(cancel_futures=True)
        self._here.close()
        self.process.join()

    def _ask(self, function: Function, arguments: tuple[Any, ...]) -> Any:
        try:
            self._here.send((function, arguments))
            done, answer = self._here.recv()
        except (EOFError, OSError) as error:
            self.died = True
            raise WorkerDiedError from error
        if not done:
            raise answer
        return answer


class _Job:
    """A task for a worker, and its future as of the last time that it was handed over."""

    def __init__(self, function: Function, arguments: tuple[Any, ...], place: int) -> None:
        self.function, self.arguments, self.place = function, arguments, place
        self.future: Future[Any] | None = None


class Processes:
    """Processes of this machine; tasks of no lane are done here. A worker that dies is replaced, its task done anew."""

    name = "processes"
    dashboard: str | None = None
    elsewhere = True

    def __init__(self, workers: int) -> None:
        self.workers: int = workers
        self._all = [Worker() for _ in range(workers)]

    def share(self, value: Any) -> Value:
        """The value itself; it goes to the workers with each task."""
        return Value(value)

    def submit(self, function: Function, *arguments: Any, lane: int | None = None) -> Any:
        """To the worker of the lane; what belongs to no lane is done here."""
        given = tuple(self.result(part) if isinstance(part, (Value, _Job)) else part for part in arguments)
        if lane is None:
            return Value(function(*given))
        job = _Job(function, given, lane % self.workers)
        self._hand_over(job)
        return job

    def result(self, handle: Any) -> Any:
        """What was found, by as many workers as it takes."""
        if isinstance(handle, Value):
            return handle.value
        for _ in range(MOST_DEATHS):
            try:
                return handle.future.result()
            except (WorkerDiedError, CancelledError):  # it died over this task, or over one before it
                self._hand_over(handle)
        raise OuzelError(f"{MOST_DEATHS} workers have died over one task; is there memory enough? Give fewer --workers")

    def processes(self) -> list[int]:
        """The ids of the workers' processes."""
        return [worker.process.pid for worker in self._all if worker.process.pid is not None]

    def close(self) -> None:
        """End the workers."""
        for worker in self._all:
            worker.close()

    def _hand_over(self, job: _Job) -> None:
        if self._all[job.place].died:
            self._all[job.place].close()
            self._all[job.place] = Worker()
        job.future = self._all[job.place].submit(job.function, job.arguments)


def _serve(pipe: Any, driver: int) -> None:
    """Do what comes, until the driver goes; interruptions are left to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # what is loaded is not garbage
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())  # its own clears large pages anew for every lane
    threading.Thread(target=_end_with, args=(driver,), daemon=True).start()
    while True:
        try:
            function, arguments = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = True, function(*arguments)
        except Exception as error:
            answer = False, error
        try:
            pipe.send(answer)
        except OSError:
            return


def _end_with(driver: int) -> None:
    while os.getppid() == driver:
        time.sleep(PATIENCE)
    os._exit(1)
