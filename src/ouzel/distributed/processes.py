"""Engine of worker processes on this machine.

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
POLL_INTERVAL = 0.5  # seconds between two checks whether the driver is alive


class WorkerDiedError(Exception):
    """A worker has died without a result."""


class Worker:
    """Process that runs one task after the other."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # threads of this process would not survive a fork
        self._here, there = context.Pipe()
        self.process = context.Process(target=_serve, args=(there, os.getpid()), daemon=True)
        self.process.start()
        there.close()
        self.died = False
        self._thread = ThreadPoolExecutor(1, "ouzel-worker")

    def submit(self, function: Function, arguments: tuple[Any, ...]) -> Future[Any]:
        """Queue a task behind those before it."""
        return self._thread.submit(self._call, function, arguments)

    def close(self) -> None:
        """End the process after its present task."""
        self._thread.shutdown(cancel_futures=True)
        self._here.close()
        self.process.join()

    def _call(self, function: Function, arguments: tuple[Any, ...]) -> Any:
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
    """Task of a worker, with the future of its last submission."""

    def __init__(self, function: Function, arguments: tuple[Any, ...], place: int) -> None:
        self.function, self.arguments, self.place = function, arguments, place
        self.future: Future[Any] | None = None


class Processes:
    """Engine of worker processes; tasks without a shard run in this process. A dead worker is replaced."""

    name = "processes"
    dashboard: str | None = None
    elsewhere = True

    def __init__(self, workers: int) -> None:
        self.workers: int = workers
        self._all = [Worker() for _ in range(workers)]

    def share(self, value: Any) -> Value:
        """Return a handle of the value, which is sent with each task."""
        return Value(value)

    def submit(self, function: Function, *arguments: Any, shard: int | None = None) -> Any:
        """Submit a task to the worker of the shard; without one, run it in this process."""
        given = tuple(self.result(part) if isinstance(part, (Value, _Job)) else part for part in arguments)
        if shard is None:
            return Value(function(*given))
        job = _Job(function, given, shard % self.workers)
        self._resubmit(job)
        return job

    def result(self, handle: Any) -> Any:
        """Wait for the result; resubmit the task if a worker dies."""
        if isinstance(handle, Value):
            return handle.value
        for _ in range(MOST_DEATHS):
            try:
                return handle.future.result()
            except (WorkerDiedError, CancelledError):  # it died over this task, or over one before it
                self._resubmit(handle)
        raise OuzelError(f"{MOST_DEATHS} workers have died over one task; is there memory enough? Give fewer --workers")

    def processes(self) -> list[int]:
        """Return the process ids of the workers."""
        return [worker.process.pid for worker in self._all if worker.process.pid is not None]

    def close(self) -> None:
        """End the workers."""
        for worker in self._all:
            worker.close()

    def _resubmit(self, job: _Job) -> None:
        if self._all[job.place].died:
            self._all[job.place].close()
            self._all[job.place] = Worker()
        job.future = self._all[job.place].submit(job.function, job.arguments)


def _serve(pipe: Any, driver: int) -> None:
    """Run the tasks that arrive until the driver ends; interruptions are left to the driver."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # what is loaded is not garbage
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())  # its own clears large pages anew for every shard
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
        time.sleep(POLL_INTERVAL)
    os._exit(1)
