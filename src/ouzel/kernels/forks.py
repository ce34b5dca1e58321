"""Forks wait until no thread imports or compiles: a child has no thread that would release the locks of either.

A process may be forked while another of its threads begins to read or to learn, which imports modules and compiles
kernels. Python's locks of modules and Numba's of its compiler would stay locked in the child for ever.

What has to do with forks itself is imported here: Python would release its locks after a fork that began before that.
"""

from __future__ import annotations

import _imp
import concurrent.futures.thread  # noqa: F401
import importlib
import logging  # noqa: F401
import os
import threading
import time
from typing import Any

LONGEST_WAIT = 30.0  # seconds that a fork waits for an import: longer than any takes, unless it runs a program
WAIT = 0.001
PACKAGES = ("ouzel", "numba", "llvmlite", "numpy", "scipy", "pyarrow", "sklearn", "zstandard", "safetensors")


class _Imports:
    """Python's global lock of imports: while a thread holds it, no other begins to import a module."""

    acquire, release = staticmethod(_imp.acquire_lock), staticmethod(_imp.release_lock)


_locks: list[Any] = []  # that a child needs
_held: list[Any] = []  # those that this fork has acquired


def hold_in_forks(lock: Any) -> None:
    """Have every fork wait for a lock, which the child finds released."""
    _locks.append(lock)


def _importing() -> bool:
    """Whether another thread imports a module of Ouzel's, or of a package that it uses."""
    locks = getattr(getattr(importlib, "_bootstrap", None), "_module_locks", {})
    me = threading.get_ident()
    for name, reference in list(locks.items()):
        if isinstance(name, str) and name.partition(".")[0] in PACKAGES:
            lock = reference()
            if lock is not None and getattr(lock, "owner", me) != me:  # None: a thread is about to acquire it
                return True
    return False


def _before() -> None:
    last = time.monotonic() + LONGEST_WAIT
    while True:
        for lock in (*_locks, _Imports):  # that of imports last: who compiles may need it
            lock.acquire()
            _held.append(lock)
        if not _importing() or time.monotonic() > last:
            return
        _after()  # what is imported may have to compile
        time.sleep(WAIT)


def _after() -> None:
    while _held:
        _held.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
