"""The one place that configures Numba: `kernel` compiles a function, `dispatch` picks a body by the class of a term.

Numba's disk cache watches the file of the kernel alone, so a kernel that inlined a changed loss would go on running
the old one. Here every cache entry carries a digest of the kernel's module and of all modules of this package that it
imports, directly or through others; and the same of the modules that define a NamedTuple among the arguments (a
learner's settings, a user's own loss) or register a body for it.
"""

from __future__ import annotations

import functools
import hashlib
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numba import njit, typeof, types
from numba.core import config, event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.extending import overload

F = TypeVar("F", bound=Callable[..., Any])
PACKAGE = Path(__file__).parents[1]
IMPORT = re.compile(r"^(?:from|import) (ouzel[\w.]*)(?: import (\([^)]*\)|.*))?", re.MULTILINE)

on_compile: list[Callable[[str], None]] = []
"""Called with a kernel's name just before it is compiled because no cache holds it."""


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


_registries: list[tuple[str, dict[type, Callable[..., Any]]]] = []  # of every function that `dispatch` made, its module

_stopwatch = _Stopwatch()
event.register("numba:compile", _stopwatch)


def seconds_compiling() -> float:
    """Seconds this process has spent compiling kernels until now, in whichever thread."""
    depth, begun, before = _stopwatch.state
    return before + time.perf_counter() - begun if depth else before


@functools.cache
def _source(name: str) -> bytes:
    """The source of a module of this package, or of another one that has been imported; empty if it has none."""
    place = PACKAGE.joinpath(*name.split(".")[1:])
    given = [place.with_suffix(".py"), place / "__init__.py"] if name.split(".")[0] == PACKAGE.name else []
    given += [Path(getattr(sys.modules.get(name), "__file__", None) or "")]
    found = next((path for path in given if path.suffix == ".py" and path.is_file()), None)
    return found.read_bytes() if found else b""


@functools.cache
def _imported(name: str) -> frozenset[str]:
    """Modules of this package that a module imports at its top level: what its kernels may call lies there."""
    found = set()
    for home, names in IMPORT.findall(_source(name).decode()):
        found |= {home, *(f"{home}.{part}" for part in re.findall(r"\w+", names))}
    return frozenset(module for module in found if _source(module))


@functools.cache
def _reached(name: str) -> frozenset[str]:
    """A module and those of this package that it imports, directly or not."""
    reached, waiting = {name}, [name]
    while waiting:
        new = _imported(waiting.pop()) - reached
        reached |= new
        waiting += new
    return frozenset(reached)


@functools.cache
def source_digest(name: str) -> str:
    """Digest of a module's source and of those of this package that it imports, directly or not, by content."""
    digest = hashlib.sha256()
    for module in sorted(_reached(name)):
        digest.update(f"{module} {len(_source(module))} ".encode() + _source(module))
    return digest.hexdigest()


def _terms(kinds: Any, callers: frozenset[str]) -> set[str]:
    """Names of the NamedTuples found anywhere in a signature, with digests of the modules they depend on.

    Bodies count that functions have which the `callers` can call: what else is imported differs between processes.
    """
    found = set()
    for kind in kinds:
        if isinstance(kind, types.BaseNamedTuple):
            term = getattr(kind, "instance_class")  # noqa: B009
            bodies = (bodies[term] for stub, bodies in _registries if term in bodies and _may_call(callers, stub))
            homes = {term.__module__, *(body.__module__ for body in bodies)}
            found.add(f"{term.__module__}.{term.__qualname__} {sorted(map(source_digest, homes))}")
        if isinstance(kind, types.BaseTuple):
            found |= _terms(getattr(kind, "types"), callers)  # noqa: B009
    return found


def _may_call(callers: frozenset[str], module: str) -> bool:
    """Whether a function of the module may be called in these; what others than this package import is not known."""
    return module in callers or any(name.split(".")[0] != PACKAGE.name for name in (module, *callers))


class _Index(IndexDataCacheFile):
    """What is in the cache of a function; what cannot be read is compiled again."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:
            return {}


class _Cache(FunctionCache):
    """Numba's disk cache, stamped with the digest of the sources that a kernel depends on.

    Signatures are known by their text: Numba's index would hold a user's own classes, and then no process could read it
    that cannot import them.
    """

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)
        self._cache_file = _Index(self._cache_path, self._impl.filename_base, source_digest(py_func.__module__))
        self._name = py_func.__qualname__

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        code = hashlib.sha256(self._py_func.__code__.co_code).hexdigest()
        cells = [cell.cell_contents for cell in self._py_func.__closure__ or ()]
        inner = [f"{part.__module__}.{part.__qualname__} {source_digest(part.__module__)}" for part in cells]
        callers = frozenset().union(*map(_reached, (self._py_func.__module__, *(part.__module__ for part in cells))))
        return f"{sig!r} {sorted(_terms(sig, callers))}", codegen.magic_tuple(), (code, *inner)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        loaded = super().load_overload(sig, target_context)
        if loaded is None:
            for listener in on_compile:
                listener(self._name)
        return loaded


def kernel(function: F, *, inline: bool = False) -> F:
    """Compile `function` on its first call: cached on disk, off the GIL, IEEE arithmetic with fused multiply-add.

    >>> @kernel
    ... def double(x):
    ...     return 2 * x
    >>> double(4)
    8
    """
    if getattr(config, "DISABLE_JIT", False):
        return _as_compiled(function)
    compile: Any = njit  # its signature leaves out _nrt, and that terms are callables
    compiled = compile(nogil=True, error_model="numpy", fastmath={"contract"}, forceinline=inline, _nrt=not inline)(
        function
    )
    if Path(function.__code__.co_filename).is_file():
        compiled._cache = _Cache(function)
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


def _as_compiled(function: F) -> F:
    """A function that is not compiled, but as silent about overflow and division by zero as if it were."""

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

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
    _registries.append((stub.__module__, bodies))

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
