"""What a report was made from: digests of the code that ran, and of the data that was read.

A report of other code or data need not be what its command writes today. The digest of code is of what modules say,
not of how or where: comments, docstrings, layout, the paths of modules and their imports have no part in it, so that a
module may move.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ouzel.errors import OuzelError

CHECKOUT = Path(__file__).parents[1]
MODULES = "modules.json"  # beside the reports: the digests of the modules that each rests on
LENGTH = 12  # of a digest of code or data
SHORT = 8  # of a module's
OWN = "ouzel"
PACKAGES = {OWN: CHECKOUT / "src" / OWN, "reproduce": CHECKOUT / "reproduce"}
PATH_OF_MODULE = re.compile(rf"(?:{'|'.join(PACKAGES)})(?:\.\w+)+")
APART = (  # no number comes from these
    f"{OWN}.cli",
    f"{OWN}.errors",
    f"{OWN}.kernels.cache",
    f"{OWN}.streams.logs",
    __name__,
)


class DataFolder:
    """The folder of the data sets: `folder / name` is the path of one, and is noted.

    >>> DataFolder(Path("nowhere")) / "heart.svm.xz"
    Traceback (most recent call last):
    ouzel.errors.OuzelError: nowhere/heart.svm.xz: there is no such file; name the folder of the data sets by --data
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.used: set[Path] = set()

    def __truediv__(self, name: str) -> Path:
        found = self.path / name
        for part in {found, self.path / name.replace("images-idx3", "labels-idx1")}:  # images are read with labels
            if not part.is_file():
                raise OuzelError(f"{part}: there is no such file; name the folder of the data sets by --data")
            self.used.add(part)
        return found


def modules_run() -> list[str]:
    """The modules of these packages that the process has imported: what has run, if it did nothing else."""
    return sorted(
        name
        for name in sys.modules
        if name.split(".")[0] in PACKAGES and not any(name == part or name.startswith(f"{part}.") for part in APART)
    )


def module_digests(modules: Iterable[str]) -> list[str]:
    """The digest of what each of these packages' modules says, in order of digests; one that is gone has none."""
    found = set()
    for name in modules:
        package, *parts = name.split(".")
        place = PACKAGES[package].joinpath(*parts)
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if path.is_file():
                found.add(_digest_of_module(path.read_text("utf-8")))
    return sorted(found)


def code_digest(digests: Iterable[str]) -> str:
    """The digest of modules together, from that of each."""
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()[:LENGTH]


@functools.cache
def _present() -> frozenset[str]:
    """The digests of all modules of these packages."""
    paths = (path for folder in PACKAGES.values() for path in folder.rglob("*.py"))
    return frozenset(_digest_of_module(path.read_text("utf-8")) for path in paths)


def data_digest(files: Iterable[Path]) -> str:
    """The digest of files by their names and content."""
    digest = hashlib.sha256()
    for path in sorted(files, key=lambda path: path.name):
        digest.update(f"{path.name} ".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:LENGTH]


@functools.cache  # most modules are under every report
def _digest_of_module(source: str) -> str:
    return hashlib.sha256(_meaning(source).encode()).hexdigest()[:SHORT]


def _meaning(source: str) -> str:
    """A module as its syntax tree, without imports and strings that are statements or name a module."""
    return " ".join(_parts(ast.parse(source)))


def _parts(node: object) -> Iterator[str]:
    """A tree's node kinds and values, what is empty left out: the same in every version of Python."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        for statement in node.orelse:
            yield from _parts(statement)
    elif isinstance(node, ast.AST):
        yield type(node).__name__
        for _, value in ast.iter_fields(node):
            if value not in (None, []):
                yield from _parts(value)
    elif isinstance(node, list):
        yield "["
        for part in node:
            yield from _parts(part)
        yield "]"
    elif not (isinstance(node, str) and PATH_OF_MODULE.fullmatch(node)):
        yield repr(node)


def head(code: str, files: Iterable[Path]) -> str:
    """The line by which a report begins."""
    paths = list(files)
    data = f"{data_digest(paths)} ({len(paths)} file{'s' * (len(paths) != 1)})" if paths else "none"
    return f"Made from code {code}, data {data}."


def note(results: Path, name: str, digests: list[str]) -> None:
    """Write the digests of the modules that a report rests on."""
    known = noted(results) | {name: digests}
    lines = (f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known))
    (results / MODULES).write_text("{\n" + ",\n".join(lines) + "\n}\n")


def noted(results: Path) -> dict[str, list[str]]:
    """Return the digests of the modules that each report rests on; before version 0.3.0, names of modules."""
    path = results / MODULES
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def state_of(results: Path, name: str) -> str:
    """Whether the report of an experiment, if there is one, is of the code as it is: what to say of it."""
    path = results / f"{name}.md"
    if not path.is_file():
        return "no report"
    digests = noted(results).get(name)
    if digests is None:
        return "a report of unknown code"
    fresh = f"Made from code {code_digest(digests)}," in path.read_text() and _present().issuperset(digests)
    return "a report of this code" if fresh else "a report of other code"
