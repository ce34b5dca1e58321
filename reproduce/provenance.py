"""What a report was made from: digests of the code that ran, and of the data that was read.

A report of other code or data need not be what its command writes today. The digest of code is of what modules say,
not of how: comments, docstrings and layout have no part in it.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ouzel.errors import OuzelError

CHECKOUT = Path(__file__).parents[1]
MODULES = "modules.json"  # beside the reports: the modules that each rests on
LENGTH = 12  # of a digest
OWN = "ouzel"
PACKAGES = {OWN: CHECKOUT / "src" / OWN, "reproduce": CHECKOUT / "reproduce"}
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


def code_digest(modules: Iterable[str]) -> str:
    """The digest of what modules of these packages say; one that is gone says nothing."""
    digest = hashlib.sha256()
    for name in modules:
        package, *parts = name.split(".")
        place = PACKAGES[package].joinpath(*parts)
        found = next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)
        digest.update(f"{name}\n{_meaning(found.read_text('utf-8')) if found else ''}\n".encode())
    return digest.hexdigest()[:LENGTH]


def data_digest(files: Iterable[Path]) -> str:
    """The digest of files by their names and content."""
    digest = hashlib.sha256()
    for path in sorted(files, key=lambda path: path.name):
        digest.update(f"{path.name} ".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:LENGTH]


@functools.cache  # most modules are under every report
def _meaning(source: str) -> str:
    """A module as its syntax tree, without strings that are statements."""
    return " ".join(_parts(ast.parse(source)))


def _parts(node: object) -> Iterator[str]:
    """A tree's node kinds and values, what is empty left out: the same in every version of Python."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return
    if isinstance(node, ast.AST):
        yield type(node).__name__
        for _, value in ast.iter_fields(node):
            if value not in (None, []):
                yield from _parts(value)
    elif isinstance(node, list):
        yield "["
        for part in node:
            yield from _parts(part)
        yield "]"
    else:
        yield repr(node)


def head(code: str, files: Iterable[Path]) -> str:
    """The line by which a report begins."""
    paths = list(files)
    data = f"{data_digest(paths)} ({len(paths)} file{'s' * (len(paths) != 1)})" if paths else "none"
    return f"Made from code {code}, data {data}."


def note(results: Path, name: str, modules: list[str]) -> None:
    """Put down which modules a report rests on, those of `ouzel` without its name."""
    known = noted(results)
    known[name] = [module.removeprefix(f"{OWN}.") for module in modules]
    lines = (f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known))
    (results / MODULES).write_text("{\n" + ",\n".join(lines) + "\n}\n")


def noted(results: Path) -> dict[str, list[str]]:
    """The modules that each report rests on."""
    path = results / MODULES
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def state_of(results: Path, name: str) -> str:
    """Whether the report of an experiment, if there is one, is of the code as it is: what to say of it."""
    path = results / f"{name}.md"
    if not path.is_file():
        return "no report"
    modules = noted(results).get(name)
    if modules is None:
        return "a report of unknown code"
    code = code_digest(module if module.split(".")[0] in PACKAGES else f"{OWN}.{module}" for module in modules)
    return "a report of this code" if f"Made from code {code}," in path.read_text() else "a report of other code"
