"""Readers side by side on one machine: processes that take requests from one port, and map one snapshot each time.

What they map is shared memory: the pages of a snapshot are in memory once, however many processes answer from it. A
snapshot that is packed is unpacked once for all of them (`shared_snapshots`).
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType

from ouzel.errors import OuzelError
from ouzel.service.followed import Source
from ouzel.service.shared_snapshots import SharedSnapshots

TOUCH = 0.2  # seconds between two looks at the processes
SOON = 5.0  # a process that ends within so many seconds is not begun again at once
PATIENCE = 15.0  # seconds that a process has to end


class Local:
    """The snapshots of a model that a process of this machine writes: the newest of some files."""

    def __init__(self, newest: Callable[[], Sequence[Path]], writer: str, shared: SharedSnapshots) -> None:
        self.writer = writer
        self.place = self.mapped = newest()[0]
        self._newest = newest
        self._shared = shared
        self._seen: tuple[Path, int, int, int] | None = None  # place, inode, time and size
        self._parent = os.getppid()

    def fetch(self) -> bool:
        """Whether there is another snapshot than before; OuzelError if there will be none."""
        if os.getppid() != self._parent:  # it was killed: nobody would end this process any more
            os.kill(os.getpid(), signal.SIGTERM)
        self.place = self._newest()[0]
        trouble = trouble_of(self.place)
        if trouble.exists():
            raise OuzelError(trouble.read_text())
        found = self.place.stat()
        seen = (self.place, found.st_ino, found.st_mtime_ns, found.st_size)
        if seen == self._seen:
            return False
        self.mapped, self._seen = self._shared.unpacked(self.place), seen
        return True

    def forget(self) -> None:
        """Take what is there for new."""
        self._seen = None


class Workers:
    """So many processes that do the same, begun again if they end, until a signal asks for the end."""

    def __init__(self, count: int, work: Callable[[], None], beside: Callable[[], None] = lambda: None) -> None:
        self.count, self._work, self._beside = count, work, beside
        self._ending = False
        self._processes: list[BaseProcess] = []

    def run(self) -> None:
        """Keep them at work; `beside` is called now and then."""
        parent = os.getppid()
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, self._end)
        begun = time.monotonic() - SOON
        while not self._ending and os.getppid() == parent:
            self._processes = [process for process in self._processes if process.is_alive()]
            if len(self._processes) < self.count and time.monotonic() - begun >= SOON:
                begun = time.monotonic()
                self._processes += [self._begun() for _ in range(self.count - len(self._processes))]
            self._beside()
            time.sleep(TOUCH)
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join(PATIENCE)
            process.kill()

    def _begun(self) -> BaseProcess:
        process = multiprocessing.get_context("fork").Process(target=self._child)
        process.start()
        return process

    def _child(self) -> None:
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, signal.SIG_DFL)
        try:
            self._work()
        except OuzelError as error:
            print(error, file=sys.stderr)
            sys.exit(2)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._ending = True


class Refreshing:
    """Fetches snapshots now and then, for processes that look at the files; what goes wrong stands beside each."""

    def __init__(self, snapshots: Sequence[Source], every: float) -> None:
        self._snapshots, self._every = snapshots, every
        self._next = time.monotonic() + every

    def __call__(self) -> None:
        """Fetch what is new, if it is time."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._every
        for each in self._snapshots:
            trouble = trouble_of(each.place)
            try:
                each.fetch()
                trouble.unlink(missing_ok=True)
            except OuzelError as error:
                trouble.write_text(str(error))


def trouble_of(place: Path) -> Path:
    """The file that says why a snapshot is not followed at present."""
    return place.with_suffix(".trouble")


def listening(host: str, port: int) -> socket.socket:
    """A socket that processes share; OuzelError if there is none to be had."""
    if not hasattr(os, "fork"):
        raise OuzelError("--workers needs processes that can be forked, which this system does not have")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise OuzelError(f"{host}:{port}: cannot listen there ({error.strerror}); try another port") from None
