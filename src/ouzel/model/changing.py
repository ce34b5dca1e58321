"""One thread at a time begins a model, makes it larger, or adds a class to it."""

from __future__ import annotations

import threading
import weakref
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ouzel.kernels.forks import hold_in_forks

_guard = threading.Lock()
_locks: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # not attributes: objects are pickled
hold_in_forks(_guard)


def changing(thing: Any) -> AbstractContextManager[Any]:
    """The lock of a model or an estimator; who has waited for it looks again whether there is anything left to do."""
    with _guard:
        lock: AbstractContextManager[Any] = _locks.setdefault(thing, threading.RLock())
        return lock


def beginning(estimator: Any) -> AbstractContextManager[Any]:
    """What a call that learns runs in: the lock of an estimator that has no model yet, else nothing."""
    return nullcontext() if hasattr(estimator, "model_") else changing(estimator)
