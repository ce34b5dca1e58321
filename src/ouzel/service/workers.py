"""Reader processes on one machine, which share a port and map the same snapshots.

Mapped pages are shared: a snapshot is in memory once, whatever the number of processes that answer from it. A packed
snapshot is unpacked once for all of them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType

from filelock import FileLock

from ouzel.errors import OuzelError
from ouzel.model import persistence
from ouzel.service.predictor import Source

KEPT = 2  # files: the one mapped now, and the one before it, which another process may be about to open
LOCK = ".lock"


class SharedSnapshots:
    """Unpacked snapshots in a folder; the first process that needs one makes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def unpacked(self, snapshot: Path) -> Path:
        """Return a file of the same model that can be mapped: the snapshot itself, if its arrays are not packed."""
        if persistence.is_whole(snapshot):
            return snapshot
        found = snapshot.stat()
        place = self.folder / f"{snapshot.stem}-{found.st_ino}-{found.st_mtime_ns}{snapshot.suffix}"
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / LOCK):
            if not place.exists():
                model, notes = persistence.load_notes(snapshot)
                persistence.save(model, place, notes, whole=True)
                self._remove_old(snapshot)
        return place

    def _remove_old(self, snapshot: Path) -> None:
        others = [path for path in self.folder.glob(f"*{snapshot.suffix}") if path.is_file()]
        for old in sorted(others, key=lambda path: path.stat().st_mtime_ns)[:-KEPT]:
            with suppress(OSError):
                old.unlink()


POLL_INTERVAL = 0.2  # seconds between two looks at the processes
SOON = 5.0  # seconds between two starts of processes that ended
PATIENCE = 15.0  # seconds for a process to end


class Local:
    """The snapshots of a model that another process of this machine writes: the newest of some files."""

    def __init__(self, newest: Callable[[], Sequence[Path]], writer: str, shared: SharedSnapshots) -> None:
        self.writer = writer
        self.place = self.mapped = newest()[0]
        self._newest = newest
        self._shared = shared
        self._seen: tuple[Path, int, int, int] | None = None  # path, inode, time and size
        self._parent = os.getppid()

    def fetch(self) -> bool:
        """Map the newest snapshot; return whether it is a new one, or raise OuzelError if fetching failed."""
        if os.getppid() != self._parent:  # the parent was killed: no one else would end this process
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
        """Treat the present snapshot as new."""
        self._seen = None


class Workers:
    """Supervisor of `count` processes that do the same work; it restarts them until a signal ends it."""

    def __init__(self, count: int, work: Callable[[], None], periodic: Callable[[], None] = lambda: None) -> None:
        self.count, self._work, self._periodic = count, work, periodic
        self._ending = False
        self._processes: list[BaseProcess] = []

    def run(self) -> None:
        """Start the processes and restart those that end; call `periodic` between two looks."""
        parent = os.getppid()
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, self._end)
        begun = time.monotonic() - SOON
        while not self._ending and os.getppid() == parent:
            self._processes = [process for process in self._processes if process.is_alive()]
            if len(self._processes) < self.count and time.monotonic() - begun >= SOON:
                begun = time.monotonic()
                self._processes += [self._start() for _ in range(self.count - len(self._processes))]
            self._periodic()
            time.sleep(POLL_INTERVAL)
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join(PATIENCE)
            process.kill()

    def _start(self) -> BaseProcess:
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
    """Fetches snapshots periodically for reader processes; writes errors to a file next to each snapshot."""

    def __init__(self, snapshots: Sequence[Source], every: float) -> None:
        self._snapshots, self._every = snapshots, every
        self._next = time.monotonic() + every

    def __call__(self) -> None:
        """Fetch new snapshots, if it is time."""
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
    """Return the file with the reason why a snapshot is not followed at present."""
    return place.with_suffix(".trouble")


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket, which processes may share; raise OuzelError if that fails."""
    try:
        families = {found[0] for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
        family = socket.AF_INET if socket.AF_INET in families else socket.AF_INET6
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else "ports end at 65535"
        raise OuzelError(f"{host}:{port}: cannot listen there ({reason}); try another port") from None
