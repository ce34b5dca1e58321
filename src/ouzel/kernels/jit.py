"""The one place that configures Numba: `kernel` compiles a function, `dispatch` picks a body by the class of a term."""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numba import njit, typeof
from numba.core import config, event
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import overload
from numba.np import linalg

from ouzel.kernels.cache import KernelCache, registries
from ouzel.kernels.forks import hold_in_forks

F = TypeVar("F", bound=Callable[..., Any])


class _Stopwatch(event.Listener):
    """How long this process has compiled: one kernel at a time, and what it calls within its own time."""

    def __init__(self) -> None:
        self.state = (0, 0.0, 0.0)  # compilations under way, when the outermost began, seconds before it; read in one

    def on_start(self, event: Any) -> None:
        depth, begun, before = self.state
        self.state = (depth + 1, begun if depth else time.perf_counter(), before)

    def on_end(self, event: Any) -> None:
        depth, begun, before = self.state
        self.state = (depth - 1, begun, before if depth > 1 else before + time.perf_counter() - begun)


def _spare_linear_algebra() -> None:
    """Answer for SciPy's linear algebra, which Numba would import only to know that it is there: a tenth of a start.

    It asks once, where it compiles or loads a first kernel; whoever asks later is answered by Numba itself.
    """
    if "scipy" in sys.modules and "numba.np.arraymath" not in sys.modules:
        asked: Any = linalg.ensure_blas

        def there() -> None:
            vars(linalg).update(ensure_blas=asked)

        vars(linalg).update(ensure_blas=there)


_spare_linear_algebra()
hold_in_forks(global_compiler_lock)
_silent = threading.local()
_stopwatch = _Stopwatch()
event.register("numba:compile", _stopwatch)


def seconds_compiling() -> float:
    """Seconds this process has spent compiling kernels until now, in whichever thread."""
    depth, begun, before = _stopwatch.state
    return before + time.perf_counter() - begun if depth else before


def kernel(function: F, *, inline: bool = False, plain: Callable[..., Any] | None = None) -> F:
    """Compile `function` on its first call: cached on disk, off the GIL, IEEE arithmetic with fused multiply-add.

    Where nothing is compiled, `plain` runs in its place: a function of NumPy that does the same in less time than
    Python takes for one number after the other.

    >>> @kernel
    ... def double(x):
    ...     return 2 * x
    >>> double(4)
    8
    """
    if getattr(config, "DISABLE_JIT", False):
        return _as_compiled(plain or function)
    compile: Any = njit  # its signature leaves out _nrt, and that terms are callables
    compiled = compile(nogil=True, error_model="numpy", fastmath={"contract"}, forceinline=inline, _nrt=not inline)(
        function
    )
    if Path(function.__code__.co_filename).is_file():
        compiled._cache = KernelCache(function)
    return compiled


def kernel_of(
    owner: Callable[..., Any] | str, *, inline: bool = False, compile: Callable[[Any], Any] | None = None
) -> Any:
    """Compile a function made for another one, such as a loop over rows; it is cached and announced as part of that.

    The owner may be the name of a module. `compile` is another way to compile, such as `inline_source`.
    """
    home = owner if isinstance(owner, str) else owner.__module__

    def compiled(function: F) -> F:
        function.__module__ = home
        function.__qualname__ = f"{home.removeprefix('ouzel.learners.')}.{function.__name__}"
        return compile(function) if compile is not None else kernel(function, inline=inline)

    return compiled


def _as_compiled(function: Callable[..., Any]) -> Any:
    """A function that is not compiled, but as silent about overflow and division by zero as if it were."""

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        if getattr(_silent, "already", False):  # in a kernel that called this one
            return function(*arguments)
        _silent.already = True
        try:
            with np.errstate(all="ignore"):
                return function(*arguments)
        finally:
            _silent.already = False

    silent: Any = run
    return silent


def force_inline(function: F) -> F:
    """A kernel that allocates nothing, set into its callers: for what is done to every example or every feature.

    Without allocation Numba need not count references to the arrays of a state, which costs more than the work itself
    where a state has many.
    """
    return kernel(function, inline=True)


def specialise(function: F, *arguments: Any) -> F:
    """A kernel as compiled for arguments of just these types: a call of it spares finding the types out.

    That is most of the cost of a call that works on one example. What it is called with is not checked any more.
    """
    compile: Any = getattr(function, "compile", None)  # there is none where nothing is compiled
    return compile(tuple(map(typeof, arguments))) if compile else function


def inline_source(function: F) -> F:
    """A kernel whose statements are set into its callers before types are known, and which is not compiled by itself.

    For what is long and has one caller or two, or is seldom done: an inlined function is compiled first alone and then
    with each caller on the way up, which is most of the time that a first run takes.
    """
    if getattr(config, "DISABLE_JIT", False):
        return _as_compiled(function)
    compile: Any = njit
    return compile(inline="always", error_model="numpy", fastmath={"contract"})(function)


def dispatch(stub: F) -> Any:
    """Make `stub` a function whose body is chosen by the class of its first argument, in kernels and in Python.

    `@stub.register(Class)` registers the body for a NamedTuple class; a user's own class registers the same way. That
    of `object` serves classes that have none.

    >>> from typing import NamedTuple
    >>> class Double(NamedTuple):
    ...     by: float
    >>> @dispatch
    ... def apply(term, x):
    ...     "Apply the term to x."
    >>> @apply.register(Double)
    ... def _(term, x):
    ...     return 2 * x * term.by
    >>> apply(Double(2.0), 3.0)
    12.0
    """
    bodies: dict[type, Callable[..., Any]] = {}
    registries.append((stub.__module__, bodies))

    @functools.wraps(stub)
    def chosen(term: Any, *rest: Any) -> Any:
        return bodies[type(term) if type(term) in bodies else object](term, *rest)

    def choose(term: Any, *rest: Any) -> Callable[..., Any] | None:
        kind: Any = getattr(term, "instance_class", None)
        return bodies.get(kind, bodies.get(object)) if kind is not None else None

    def register(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def put(body: Callable[..., Any]) -> Callable[..., Any]:
            bodies[kind] = body
            return body

        return put

    overload(chosen, strict=False, jit_options={"error_model": "numpy", "fastmath": {"contract"}})(choose)
    found: Any = chosen
    found.register = register
    found.bodies = bodies
    return found
