"""Compiled kernels on disk: stamped with the digest of the sources they depend on, in a folder that may be told.

Numba's disk cache watches the file of the kernel alone, so a kernel that inlined a changed loss would go on running
the old one. Here every cache entry carries a digest of the kernel's module and of all modules of this package that it
imports, directly or through others, but for this one; and the same of the modules that define a NamedTuple among the
arguments (a learner's settings, a user's own loss) or register a body for it.

Kernels lie beside their sources, or where that cannot be written in the user's folder for caches. `OUZEL_CACHE_DIR`
names another folder, which may lie on a disk that cannot be written, and be copied to other machines: `ouzel compile`
fills it. Kernels are code, so that nothing is loaded from such a folder where other users could have written it.
Kernels serve processors like the one that compiled them, or those of a family that the folder names.

A wheel comes with such a folder, `compiled/` in the package, of kernels for a family. They are taken where no other
place has a kernel, and never if the sources, the releases of Numba and llvmlite, Python or the processor are others.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import multiprocessing
import os
import pickle
import re
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import llvmlite
import numba
from llvmlite import binding
from numba import types
from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    UserProvidedCacheLocator,
)
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import CompileResult

PACKAGE = Path(__file__).parents[1]
IMPORT = re.compile(r"\n(?:from|import) (ouzel[\w.]*)(?: import (\([^)]*\)|.*))?")
FOLDER, PROCESSOR = "OUZEL_CACHE_DIR", "processor.json"
WHEEL, TAKEN = (
    PACKAGE / "compiled",
    "OUZEL_WHEEL_KERNELS",
)  # kernels that come with a wheel; the variable is 0: not taken
VERSIONS = f"numba {numba.__version__}, llvmlite {llvmlite.__version__}"
HASHES = b"_numba_hashsecret"  # begins symbols of kernels that hash texts, and numbers of sets
MAKE_SAFE = "own it, and run `chmod -R go-w` on it"
UNTOLD = 60.0  # seconds after which a kernel is told, if ever
FAMILIES = {
    "x86-64": (),
    "x86-64-v2": ("popcnt", "sse4.2", "ssse3"),
    "x86-64-v3": ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"),
    "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
    "armv8-a": (),
}
"""Families of processors that kernels can be compiled for, and what each must be able to do beyond the one before."""
ARM = "armv8-a"
PLACES = {"ouzel.kernels.cache", "ouzel.kernels.forks"}  # decide where kernels lie, not what they are

on_compile: list[Callable[[str], None]] = []
"""Called with a kernel's name just before it is compiled because no cache holds it."""

registries: list[tuple[str, dict[type, Callable[..., Any]]]] = []
"""Of every function that is dispatched by a class its module, and its bodies."""


def supports(family: str) -> bool:
    """Whether this machine's processor is one of a family."""
    machine = binding.get_process_triple().partition("-")[0]
    if family == ARM:
        return machine in ("aarch64", "arm64")
    names = list(FAMILIES)
    needed = [feature for name in names[: names.index(family) + 1] for feature in FAMILIES[name]]
    able = binding.get_host_cpu_features()
    return machine == "x86_64" and all(able.get(feature, False) for feature in needed)


def _target(family: str) -> str:
    """What LLVM calls a family."""
    return "generic" if family == ARM else family


def family_of(folder: Path) -> str | None:
    """The family of processors that a folder's kernels are for, if this machine is one of it."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        family = json.loads((folder / PROCESSOR).read_text())["family"]
        return family if supports(family) else None
    return None


def _settle_family() -> None:
    """Compile for the family of processors that the kernels of the folder that is told are for."""
    family = family_of(Path(os.environ[FOLDER])) if os.environ.get(FOLDER) else None
    if family is not None:
        vars(config).update(CPU_NAME=_target(family), CPU_FEATURES="")


_settle_family()


@functools.cache
def _wheel_family() -> str | None:
    """The family of the kernels that the wheel has; None where there are none, or others are asked for."""
    told = os.environ.get(TAKEN) == "0" or os.environ.get("NUMBA_CPU_NAME") or os.environ.get("NUMBA_CPU_FEATURES")
    return None if told else family_of(WHEEL)


@functools.cache
def _source(name: str) -> bytes:
    """The source of a module of this package, or of another one that has been imported; empty if it has none."""
    package, *rest = name.split(".")
    place = os.path.join(PACKAGE, *rest)
    given = [f"{place}.py", os.path.join(place, "__init__.py")] if package == PACKAGE.name else []
    for path in (*given, getattr(sys.modules.get(name), "__file__", None) or ""):
        if path.endswith(".py"):
            with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError), open(path, "rb") as file:
                return file.read()
    return b""


@functools.cache
def _is_package(name: str) -> bool:
    """Whether a name of this package has modules below it."""
    return os.path.isdir(os.path.join(PACKAGE, *name.split(".")[1:]))


@functools.cache
def _imported(name: str) -> frozenset[str]:
    """Modules of this package that a module imports at its top level: what its kernels may call lies there."""
    found = set()
    for home, names in IMPORT.findall(f"\n{_source(name).decode()}"):
        parts = re.findall(r"\w+", names) if _is_package(home) else ()
        found |= {home, *(f"{home}.{part}" for part in parts)}
    return frozenset(module for module in found - PLACES if _source(module))


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
    return hashlib.sha256(repr([(module, _content(module)) for module in sorted(_reached(name))]).encode()).hexdigest()


@functools.cache
def _content(name: str) -> str:
    return hashlib.sha256(_source(name)).hexdigest()


def _terms(kinds: Any, callers: frozenset[str]) -> set[str]:
    """Names of the NamedTuples found anywhere in a signature, with digests of the modules they depend on.

    Bodies count that functions have which the `callers` can call: what else is imported differs between processes.
    """
    found = set()
    for kind in kinds:
        if isinstance(kind, types.BaseNamedTuple):
            term = getattr(kind, "instance_class")  # noqa: B009
            bodies = (bodies[term] for stub, bodies in registries if term in bodies and _may_call(callers, stub))
            homes = {term.__module__, *(body.__module__ for body in bodies)}
            found.add(f"{term.__module__}.{term.__qualname__} {sorted(map(source_digest, homes))}")
        if isinstance(kind, types.BaseTuple):
            found |= _terms(getattr(kind, "types"), callers)  # noqa: B009
    return found


def make_folder(path: Path) -> None:
    """Make a folder, and those that it lies in, which no other user may write to."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o755, exist_ok=True)


def _may_call(callers: frozenset[str], module: str) -> bool:
    """Whether a function of the module may be called in these; what others than this package import is not known."""
    return module in callers or any(name.split(".")[0] != PACKAGE.name for name in (module, *callers))


def unsafe_reason(path: str) -> str | None:
    """Why code must not be run from a folder or a file: other users could have written it; None where they could not.

    It must belong to this user or to root, and its group and others must not be allowed to write to it.
    """
    if not hasattr(os, "geteuid"):  # Windows
        return None
    facts = os.stat(path)
    if facts.st_uid not in (0, os.geteuid()):
        return "belongs to another user"
    return "may be written to by other users" if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else None


@functools.cache
def _is_refused(path: str) -> bool:
    """Whether kernels must not be loaded from a folder, which is then said once."""
    with suppress(OSError):
        reason = unsafe_reason(path)
        if reason is not None and multiprocessing.parent_process() is None:
            print(f"ouzel: {path} {reason}: kernels in it are not used; {MAKE_SAFE}", file=sys.stderr, flush=True)
        return reason is not None
    return True


class _Folder(UserProvidedCacheLocator):
    """Places in the folder that is told: by the names of modules, wherever the package lies, written or not."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file
        self._lineno = function.__code__.co_firstlineno
        self._cache_path = str(Path(os.environ[FOLDER], function.__module__).resolve())

    def ensure_cache_path(self) -> None:
        make_folder(Path(self._cache_path))

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> Any:
        """The place of a function's kernels; None if no folder is told, it cannot hold them, or it is not safe."""
        if not os.environ.get(FOLDER):
            return None
        found = cls(function, file)
        try:
            found.ensure_cache_path()
        except OSError:
            return None
        return None if any(map(_is_refused, (os.environ[FOLDER], found._cache_path))) else found


class _Nowhere(_Folder):
    """The place of kernels where no folder can be written: none is found there, and none kept."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file
        self._lineno = function.__code__.co_firstlineno
        self._cache_path = os.path.join(os.devnull, function.__module__)

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> Any:
        return cls(function, file)


class LoadedLibrary(JITCodeLibrary):
    """A loaded kernel's library; its LLVM code is parsed when a kernel that calls this one is compiled.

    Numba parses the LLVM code of every kernel that it loads and lists its functions: most of the time of loading.
    """

    bitcode = b""

    def _get_module_for_linking(self) -> Any:
        if self.bitcode:
            self._shared_module = binding.parse_bitcode(self.bitcode)
            self._codegen._engine._load_defined_symbols(self._shared_module)
            self.bitcode = b""
        return super()._get_module_for_linking()


@functools.cache
def _add_runtime_symbols() -> None:
    """Name the functions of Numba's runtime, written in C, to LLVM; those it compiles stand in each kernel's code."""
    for name, address in importlib.import_module("numba.core.runtime._nrt_python").c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


@functools.cache
def _no_functions() -> bytes:
    """LLVM code of a module that is empty."""
    return bytes(binding.parse_assembly("").as_bitcode())


class _Kernels(CompileResultCacheImpl):
    _locator_classes = [  # noqa: RUF012 of the class that is derived from
        _Folder,
        *CompileResultCacheImpl._locator_classes,
        _Nowhere,
    ]

    def check_cachable(self, kernel: Any) -> bool:
        """Whether a kernel can be loaded again: Numba crashes at those that call each other in a circle."""
        symbols = kernel.library._final_module.global_variables
        circle = any(symbol.name.startswith(RuntimeLinker.PREFIX) for symbol in symbols)
        return not circle and bool(super().check_cachable(kernel))

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return the kernel that a file holds, ready to run."""
        (name, form, (machine_code, bitcode)), described, *rest = payload
        symbols = (described.llvm_func_name, described.llvm_cpython_wrapper_name, described.llvm_cfunc_wrapper_name)
        target_context.codegen()._engine._defined_symbols |= {
            symbol for symbol in symbols if symbol.encode() in machine_code
        }
        library = (name, form, (machine_code, _no_functions()))
        kernel = CompileResult._rebuild(target_context, library, described, *rest)
        kernel.library.__class__ = LoadedLibrary
        kernel.library.bitcode = bitcode
        return kernel


class _Index(IndexDataCacheFile):
    """What is in the cache of a function; what cannot be read is compiled again.

    Numba numbers the files of a function's kernels, and tells their numbers before they are written: of two processes
    one could take the other's kernel for its own, and after a kill at that moment any process that of older sources.
    Here a file is called by what it holds, and told when it is there. It begins with a digest of the rest: of one that
    is cut off, as a copy on a full disk is, nothing runs.
    """

    def __init__(self, folder: str, base: str, stamp: str) -> None:
        super().__init__(folder, base, stamp)
        self._version = VERSIONS

    def save(self, key: Any, data: Any) -> None:
        digest = hashlib.sha256(repr((self._source_stamp, self._version, key)).encode()).hexdigest()
        name = f"{self._index_name.removesuffix('.nbi')}.{digest[:16]}.nbc"
        self._save_data(name, data)
        overloads = self._load_index()
        overloads[key] = name
        self._save_index(overloads)
        self._remove_old({*overloads.values()})

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[Any]:
        """A file that only this user may write to, whatever the process's own files are by default."""
        with super()._open_for_write(filepath) as file:
            os.chmod(file.name, 0o644)
            yield file

    def _save_data(self, name: str, data: Any) -> None:
        code = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(code).digest() + code)

    def _load_data(self, name: str) -> Any:
        """What a file holds; an OSError, which Numba takes for a file that is not there, if it is not whole."""
        self._refuse_of_others(self._data_path(name))
        held = Path(self._data_path(name)).read_bytes()
        size = hashlib.sha256().digest_size
        if hashlib.sha256(held[size:]).digest() != held[:size]:
            raise OSError(f"{name} is damaged")
        if HASHES in held:
            importlib.import_module("numba.cpython.hashing")  # which makes these symbols known
        return pickle.loads(held[size:])

    def _remove_old(self, told: set[str]) -> None:
        """Remove kernels of older sources; one that another process has not told yet is compiled once more."""
        base = self._index_name.removesuffix(".nbi")
        with suppress(OSError), os.scandir(self._cache_path) as entries:
            for entry in entries:
                own = entry.name.startswith(f"{base}.") and entry.name.endswith(".nbc")
                if own and entry.name not in told and entry.stat().st_mtime < time.time() - UNTOLD:
                    os.unlink(entry.path)

    def _load_index(self) -> Any:
        try:
            self._refuse_of_others(self._index_path)
            return super()._load_index()
        except Exception:
            return {}

    def _refuse_of_others(self, path: str) -> None:
        """Raise an OSError, as of a file that is not there, for a file that another user could have written."""
        if os.environ.get(FOLDER) and Path(os.environ[FOLDER]).resolve() in Path(path).parents and unsafe_reason(path):
            raise OSError(f"{path} {unsafe_reason(path)}")


class KernelCache(FunctionCache):
    """Numba's disk cache, stamped with the digest of the sources that a kernel depends on.

    Signatures are known by their text: Numba's index would hold a user's own classes, and then no process could read it
    that cannot import them.
    """

    _impl_class = _Kernels

    def __init__(self, py_func: Callable[..., Any]) -> None:
        """Note the sources as they are now; where kernels lie is found out when one is asked for."""
        self._py_func, self._name = py_func, py_func.__qualname__
        self._stamp = source_digest(py_func.__module__)
        self.enable()

    @functools.cached_property
    def _impl(self) -> _Kernels:
        return _Kernels(self._py_func)

    @property
    def cache_path(self) -> str:
        return str(self._impl.locator.get_cache_path())

    def _index(self) -> _Index:
        return _Index(self.cache_path, self._impl.filename_base, self._stamp)

    _cache_file: Any = functools.cached_property(_index)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        code = hashlib.sha256(self._py_func.__code__.co_code).hexdigest()
        cells = [cell.cell_contents for cell in self._py_func.__closure__ or ()]
        inner = [f"{part.__module__}.{part.__qualname__} {source_digest(part.__module__)}" for part in cells]
        callers = frozenset().union(*map(_reached, (self._py_func.__module__, *(part.__module__ for part in cells))))
        return f"{sig!r} {sorted(_terms(sig, callers))}", codegen.magic_tuple(), (code, *inner)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel of a signature, if one is found.

        What is loaded needs no more of Numba than its runtime's symbols; it makes the rest ready before it compiles.
        """
        _add_runtime_symbols()
        with self._guard_against_spurious_io_errors():
            loaded = self._load_overload(sig, target_context)
            if loaded is None:
                loaded = self._load_from_wheel(sig, target_context)
            if loaded is not None:
                return loaded
        for listener in on_compile:
            listener(self._name)
        return None

    def _load_from_wheel(self, sig: Any, target_context: Any) -> Any:
        family = _wheel_family()
        if family is None:
            return None
        written, (triple, *_), code = self._index_key(sig, target_context.codegen())
        place = str(WHEEL / self._py_func.__module__)
        data = _Index(place, self._impl.filename_base, self._stamp).load((written, (triple, _target(family), ""), code))
        return None if data is None else self._impl.rebuild(target_context, data)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel, if the folder can be written."""
        with suppress(OSError):
            super().save_overload(sig, data)
