"""`ouzel compile`: compiles kernels before they are needed, for images and read-only disks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Self

from ouzel.cli import options
from ouzel.cli.model_options import LEARNER
from ouzel.cli.parameters import FOLDER, option
from ouzel.errors import OuzelError
from ouzel.files import write_atomically
from ouzel.learners import catalogue

ROWS = 200
CONVERTED = "blocks.arrow"
REFUSED = 2  # exit status: a learner has no such task
SINGLE = """
import sys, ouzel
TASKS = (ouzel.OnlineClassifier, "ab"), (ouzel.OnlineClassifier, "abc"), (ouzel.OnlineRegressor, (1.5, 2.0))
for kind, labels in TASKS:
    try:
        model = kind(sys.argv[1])
        for label in labels:
            model.learn_one({"city=Rome": 1.0, "price": 2.0}, label)
        model.predict_one({"price": 1.0})
        if hasattr(model, "predict_proba"):
            model.predict_proba_one({"price": 1.0})
        labels = list(labels[:2]) + list(labels[-1:])
        X = [[1.0, 2.0], [0.5, 0.0], [3.0, 1.0]]
        model.fit(X, labels).predict(X)
    except ouzel.OuzelError:
        pass
list(ouzel.blocks_from([({"city": "Rome", "price": 2.0}, 1), ({"city": "Bonn"}, 0)]))
"""
FRAMES = """
import datetime, pyarrow as pa, sys, ouzel
NUMBERS, COUNTS = pa.array([1.0, 0.5, None, 2.0] * 50), pa.array([3, 1, 0, 2] * 50)
FILLED, WORDS = NUMBERS.fill_null(0.0), pa.array(["Rome", "Bonn", None, "Oslo"] * 50, pa.large_string())
DAYS = pa.array([datetime.datetime(2024, 1, 1 + k % 7) for k in range(200)])
for columns in (FILLED, FILLED), (COUNTS, COUNTS), (NUMBERS, COUNTS), (WORDS, COUNTS), (WORDS, NUMBERS, DAYS):
    X = pa.table({f"c{k}": column for k, column in enumerate(columns)})
    ouzel.OnlineClassifier(sys.argv[1]).fit(X, ["a", "b"] * 100).predict(X)
"""

LISTING = """
import runpy, sys
notes = sys.argv[1]
def note(event, given):
    if event == "open" and str(given[0]).endswith((".nbc", ".nbi")):
        with open(notes, "a") as file:
            print(given[0], file=file)
sys.addaudithook(note)
flag, program = sys.argv[2:4]
sys.argv = ["ouzel", *sys.argv[4:]]
exec(program) if flag == "-c" else runpy.run_module(program, run_name="__main__", alter_sys=True)
"""
"""Runs a command of Python, and notes the compiled kernels that it opens."""


def run_compile(
    learner: Annotated[
        list[str] | None,
        option(f"Learner whose kernels to compile ({catalogue.DEFAULT}); may be repeated.", takes=LEARNER),
    ] = None,
    cache_dir: Annotated[
        str | None, option("Folder to fill ($OUZEL_CACHE_DIR, or the usual places).", takes=FOLDER)
    ] = None,
    cpu: Annotated[
        str | None, option("Compile for all processors of a family, such as x86-64-v3.", takes="FAMILY")
    ] = None,
    prune: Annotated[
        bool, option("Then remove from the folder what these runs do not load, such as parts of other kernels.")
    ] = False,
    json_: options.Json = False,
) -> None:
    """Compile kernels into a folder, from which any process with OUZEL_CACHE_DIR set to it loads them.

    Each learner learns and predicts small files of every format, as a first run on real files would.

    Example: ouzel compile --cache-dir /opt/ouzel-kernels --cpu x86-64-v3 --learner auto --learner adagrad
    """
    names = [catalogue.find(name).name for name in learner or [catalogue.DEFAULT]]
    named = cache_dir or os.environ.get("OUZEL_CACHE_DIR")
    folder = str(Path(named).resolve()) if named else None
    if cpu is not None and folder is None:
        raise OuzelError("--cpu is for kernels in a folder of their own; name it with --cache-dir DIR")
    if prune and folder is None:
        raise OuzelError("--prune is for kernels in a folder of their own; name it with --cache-dir DIR")
    from ouzel.cli.ui.progress import Screen

    begun = time.perf_counter()
    if folder is not None:
        settle_family(Path(folder), cpu)
    with Screen("compiling", quiet=json_) as screen, Runs(names, folder) as runs:
        for done, (what, run) in enumerate(runs):
            screen.update(what, done, len(runs))
            run()
        if prune:
            screen.update("pruning", len(runs), len(runs))
            remove_unused(Path(str(folder)), runs.used())
    found: dict[str, Any] = {"learners": names, "folder": folder, "family": cpu, "seconds": time.perf_counter() - begun}
    if folder is not None:
        kernels = [path.stat().st_size for path in Path(folder).glob("**/*.nbc")]
        found |= {"kernels": len(kernels), "bytes": sum(kernels)}
    if json_:
        print(json.dumps(found))
    elif folder is not None:
        print(f"{found['kernels']:,} kernels in {folder} ({found['bytes'] >> 20} MB), {found['seconds']:.0f} s")
        print(f"set OUZEL_CACHE_DIR={folder} where they are to be used")
    else:
        print(
            f"kernels compiled in {found['seconds']:.0f} s; they are next to the sources, or in the folder for caches"
        )


def settle_family(folder: Path, family: str | None) -> None:
    """Set the family of processors that the kernels of a folder are compiled for; None keeps the present one."""
    from ouzel.kernels.cache import FAMILIES, MAKE_SAFE, PROCESSOR, make_folder, supports, unsafe_reason

    if family is not None and family not in FAMILIES:
        raise OuzelError(f"--cpu takes one of {', '.join(FAMILIES)}; got {family!r}")
    if family is not None and not supports(family):
        raise OuzelError(
            f"this machine's processor is not one of {family}, and runs what it compiles; name an older one"
        )
    make_folder(folder)
    reason = unsafe_reason(str(folder))
    if reason is not None:
        raise OuzelError(f"{folder} {reason}, and kernels are code; {MAKE_SAFE}, or name another folder")
    if family is not None:
        with write_atomically(folder / PROCESSOR) as file:
            file.write(json.dumps({"family": family}).encode())


def remove_unused(folder: Path, used: set[Path]) -> None:
    """Remove kernels and indices of a folder that are not among those that are used."""
    for path in [*folder.glob("**/*.nbc"), *folder.glob("**/*.nbi")]:
        if path not in used:
            path.unlink()


class Runs:
    """Runs with a word on each; the files to learn are in a temporary folder."""

    def __init__(self, learners: list[str], cache: str | None) -> None:
        self.learners = learners
        own = {"OUZEL_WHEEL_KERNELS": "0"}  # compiled here, whatever the wheel came with
        self.environment = {**os.environ, **own, **({} if cache is None else {"OUZEL_CACHE_DIR": cache})}
        self._folder = tempfile.TemporaryDirectory(prefix="ouzel-compile-")
        self.files = [*write_files(Path(self._folder.name)), CONVERTED]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._folder.cleanup()

    def __len__(self) -> int:
        return len(list(self._commands()))

    def __iter__(self) -> Iterator[tuple[str, Callable[[], None]]]:
        for what, command in self._commands():
            yield what, partial(self._run, command)

    def used(self) -> set[Path]:
        """Run everything once more; return the files of kernels that were opened."""
        notes = Path(self._folder.name, "notes.txt")
        for _, (python, *command) in self._commands():
            self._run([python, "-c", LISTING, str(notes), *command])
        return {Path(line) for line in notes.read_text().splitlines()}

    def _commands(self) -> Iterator[tuple[str, list[str]]]:
        ouzel = [sys.executable, "-m", "ouzel"]
        yield "converting", [*ouzel, "convert", "two.svm", CONVERTED]
        for learner in self.learners:
            for kind in ("two", "three", "numbers"):
                model = f"{learner}.{kind}.ouzel"
                losses = ["--loss", "squared"] if kind == "numbers" else []
                train = [*ouzel, "train", f"{kind}.svm", "--learner", learner, *losses, "--model", model, "--json"]
                train += ["--passes", "2"]  # later blocks than the first, too
                yield f"{learner}: {kind}", train
                yield f"{learner}: {kind}", [*ouzel, "predict", model, f"{kind}.svm", "--output", "predicted.csv"]
            yield f"{learner}: one by one", [sys.executable, "-c", SINGLE, learner]
        for name in self.files:
            train = [*ouzel, "train", name, "--learner", self.learners[0], "--model", f"{name}.ouzel", "--json"]
            yield f"reading {name}", train
            if name != CONVERTED:
                yield f"reading {name}", [*train, "--cross", "city*price"]
        first, text = self.learners[0], ["--text", "note"]
        train = [*ouzel, "train", "t.csv", "--learner", first, "--model", "t.ouzel", "--json"]
        for given in (text, ["--alarm", "0.01"], ["--class-weight", "balanced"]):  # a service has alarms
            yield "options of training", [*train, *given]
        yield "comparing", [*ouzel, "compare", "two.svm", "--learners", ",".join(self.learners), "--json"]
        yield "data frames", [sys.executable, "-c", FRAMES, first]
        yield "predictions", [*ouzel, "test", f"{first}.two.ouzel", "two.svm", "--json"]
        for kind in ("two", "three", "numbers"):
            explained = ["--explain", "3", "--output", "predicted.csv"]
            yield "explanations", [*ouzel, "predict", f"{first}.{kind}.ouzel", f"{kind}.svm", *explained]

    def _run(self, command: list[str]) -> None:
        ran = subprocess.run(command, cwd=self._folder.name, env=self.environment, capture_output=True, text=True)
        if ran.returncode not in (0, REFUSED):
            raise OuzelError(f"compiling stopped: {' '.join(command[1:])}: {ran.stderr.strip().splitlines()[-1:]}")


def write_files(folder: Path) -> list[str]:
    """Write small files of every kind of label and of every format; return the names of the latter."""
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    numbers = [(k % 7 - 3) / 2 for k in range(ROWS)]
    cities = [("Rome", "Bonn", "Oslo")[k % 3] for k in range(ROWS)]
    for name, labels in (("two", (-1, 1)), ("three", (1, 2, 3)), ("numbers", (0.5, 2.25, 7.0))):
        rows = (f"{labels[k % len(labels)]} 1:{numbers[k]} {k % 9 + 2}:1\n" for k in range(ROWS))
        (folder / f"{name}.svm").write_text("".join(rows))
    lines = (f"{(-1, 1)[k % 2]} |city {cities[k]} |price x:{numbers[k]}\n" for k in range(ROWS))
    (folder / "t.vw").write_text("".join(lines))
    columns = {"label": [k % 2 for k in range(ROWS)], "city": cities, "price": numbers, "note": ["so good"] * ROWS}
    table = pyarrow.table(columns)
    pyarrow.parquet.write_table(table, folder / "t.parquet")
    pyarrow.csv.write_csv(table, folder / "t.csv")
    pyarrow.parquet.write_table(table.drop_columns("note"), folder / "plain.parquet")  # texts are read in another way
    coded = table.set_column(1, "city", table.column("city").dictionary_encode())
    with pyarrow.OSFile(str(folder / "t.arrow"), "wb") as sink, pyarrow.ipc.new_file(sink, coded.schema) as file:
        file.write_table(coded)
    plain = table.drop_columns("note")
    with pyarrow.OSFile(str(folder / "plain.arrow"), "wb") as sink, pyarrow.ipc.new_file(sink, plain.schema) as file:
        file.write_table(plain)
    city = table.column("city").cast(pyarrow.large_string())  # as data frames hold words
    large = table.drop_columns("note").set_column(1, "city", city).append_column("age", [list(range(ROWS))])
    pyarrow.parquet.write_table(large, folder / "large.parquet")
    with pyarrow.OSFile(str(folder / "large.arrow"), "wb") as sink, pyarrow.ipc.new_file(sink, large.schema) as file:
        file.write_table(large)
    rows = (json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in zip(*columns.values(), strict=True))
    (folder / "t.jsonl").write_text("".join(rows))
    tables = [f"{name}.{suffix}" for name in ("t", "plain", "large") for suffix in ("parquet", "arrow")]
    return ["t.vw", "t.csv", "t.jsonl", *tables]
