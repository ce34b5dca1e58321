"""Files written whole or not at all, by any number of processes; and the lock on a file that one of them works on."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import socket
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ouzel.errors import OuzelError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PARTIAL, LOCK = ".partial", ".lock"
LONGEST = 64  # characters of a file's name that stand in the names beside it: file systems take 255 bytes


def as_path(given: object) -> Path:
    """A path as given, text or a `Path`; anything else is an OuzelError.

    >>> as_path("day.csv").suffix
    '.csv'
    >>> as_path(None)
    Traceback (most recent call last):
    ouzel.errors.OuzelError: the path of a file is text or a pathlib.Path; got None
    """
    if not isinstance(given, (str, os.PathLike)):
        raise OuzelError(f"the path of a file is text or a pathlib.Path; got {given!r:.80}")
    return Path(given)


@contextmanager
def write_atomically(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write to; in one step at the end, and on disk by then, it takes the place of `path`.

    Until then, and if anything fails, the place holds what it held. Every writer has a temporary file of its own beside
    the place, so that of several processes the last one wins. A symbolic link is followed, and the mode of a file that
    is replaced is kept. Raises OuzelError where nothing can be written.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "words")
    >>> with write_atomically(path) as file:
    ...     written = file.write(b"whole")
    >>> path.read_text(), [entry.name for entry in path.parent.iterdir()]
    ('whole', ['words'])
    """
    path = as_path(path)
    target = check_place(path)
    beside = None
    try:
        _remove_abandoned(target)
        file, beside = _create(target)
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(beside, target)
        _sync_folder(target.parent)
    except BaseException as error:
        if beside is not None:
            with suppress(OSError):
                beside.unlink()
        if isinstance(error, OSError):
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise OuzelError(f"{path}: cannot be written ({reason})") from None
        raise


def check_place(path: Path) -> Path:
    """The file that is written where `path` is asked for; refused if there is no folder, no right, or a device."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OuzelError(f"{path}: is a symbolic link that leads to itself; name another")
    if not target.parent.is_dir():
        raise OuzelError(f"{path}: there is no folder {target.parent}; make it first")
    if target.exists() and not target.is_file():
        raise OuzelError(f"{path}: is not an ordinary file, and this file is replaced as a whole; name another")
    if not os.access(target.parent, os.W_OK):
        raise OuzelError(f"{path}: cannot be written: no right to write in the folder {target.parent}")
    return target


@contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Work on a file alone: another process that asks for the same is refused, and told who works on it.

    The lock is the system's on a file beside, so it ends with the process however that ends. Reading needs none.
    """
    from filelock import FileLock, Timeout

    beside = _beside(check_place(Path(path)), LOCK)
    lock = FileLock(beside, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise OuzelError(
            f"{path}: {_holder(beside)} is at work on this file; wait for it to end, stop it, or name another file"
        ) from None
    except OSError as error:
        raise OuzelError(f"{path}: cannot be locked ({error.strerror or error}); name another file") from None
    try:
        here = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
        with suppress(OSError):
            beside.write_text(json.dumps({**here, "command": shlex.join(["ouzel", *sys.argv[1:]])}))
        yield
    finally:
        with suppress(OSError):
            beside.unlink()  # while it is locked: who waits for it notices that it is gone
        lock.release()


def _holder(beside: Path) -> str:
    """Who holds a lock, as it wrote of itself."""
    try:
        held = json.loads(beside.read_text())
        return "process {pid} on {host} (since {since}: {command})".format_map(held)
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _beside(target: Path, suffix: str) -> Path:
    """A hidden name in the same folder."""
    name = target.name
    if len(name) > LONGEST:
        name = f"{name[: LONGEST // 2]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"
    return target.with_name(f".{name}{suffix}")


def _create(target: Path) -> tuple[BinaryIO, Path]:
    """A temporary file of this process alone, with the mode of the file to be replaced, locked while it is open."""
    before = target.stat() if target.exists() else None
    while True:
        beside = _beside(target, f".{os.urandom(4).hex()}{PARTIAL}")
        with suppress(FileExistsError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            file = os.fdopen(os.open(beside, flags, 0o666 if before is None else stat.S_IMODE(before.st_mode)), "wb")
            if _try_lock(file.fileno()) and beside.exists():
                break
            file.close()  # another process took it for abandoned before it was locked
            beside.unlink(missing_ok=True)
    if before is not None and os.name == "posix":
        with suppress(OSError):
            os.chown(file.fileno(), before.st_uid, before.st_gid)  # only the superuser may give a file away
        os.chmod(file.fileno(), stat.S_IMODE(before.st_mode))
    return file, beside


def _remove_abandoned(target: Path) -> None:
    """Remove temporary files of processes that were killed: those that nobody holds locked."""
    if fcntl is None:
        return
    start, end = _beside(target, ".").name, PARTIAL
    for entry in [entry for entry in os.scandir(target.parent) if entry.name.startswith(start)]:
        if entry.name.endswith(end) and len(entry.name) == len(start) + 8 + len(end):
            with suppress(OSError), open(entry.path, "rb+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(entry.path)


def _try_lock(descriptor: int) -> bool:
    """Whether nobody else holds a file just made; it is locked now, where the file system can."""
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks, where none is taken for abandoned either
    return True


def _sync_folder(folder: Path) -> None:
    """Make a rename in the folder survive a loss of power, where the system can."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
