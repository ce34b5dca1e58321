"""What every target is: it makes inputs of seeds, mutates them, and runs one; and what the readers' targets share."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, ClassVar
from unittest import mock

import numpy as np

from torture import mutation
from torture.names import Name
from torture.slot import Slot
from torture.verdicts import Failure

SCRATCH = "TORTURE_SCRATCH"  # the environment variable that names the folder of a run
LARGEST_LEARNT = 1 << 16  # a feature id below which a learner without a budget is tried


class Target:
    """A way into the program that inputs are sent through."""

    name: ClassVar[str]
    weight: ClassVar[float]  # of every hundred inputs, about so many
    share: ClassVar[float] = 5.0  # of the time, beside those of the others, where time decides
    about: ClassVar[str]  # one line
    binary: ClassVar[bool] = False  # whether inputs are bytes of Arrow, Parquet or model files
    breeding: ClassVar[float] = 0.4  # share of inputs that are mutations of those that were new
    patience: ClassVar[float] = 60.0  # seconds without progress before it counts as a hang
    slot: Slot | None = None

    def __init__(self) -> None:
        self.folder = Path(os.devnull)  # for the files of this worker

    def prepare(self) -> None:
        """Once before a run, in a process of its own: compile kernels, so that no worker seems to hang."""
        self.start()
        for seed in range(25):
            name = Name(self.name, (seed,))
            try:
                self.run(self.data(name), name.randomness("run"))
            except (Exception, RecursionError):
                continue
        self.stop()

    def warm(self) -> None:
        """Once before a run, in the process that workers are forked from: load kernels, start no thread."""

    def start(self) -> None:
        """Once in each worker."""
        self.folder = Path(tempfile.mkdtemp(prefix="torture-", dir=os.environ.get(SCRATCH)))

    def stop(self) -> None:
        """When a worker ends in an orderly way."""
        if self.folder.name.startswith("torture-"):
            shutil.rmtree(self.folder, ignore_errors=True)

    def data(self, name: Name) -> bytes:
        """The input of a name."""
        first, *rest = name.lineage
        data = self.make(name.randomness("making", first))
        for seed in rest:
            data = self.mutate(data, name.randomness("mutation", seed))
        return data

    def make(self, random: Random) -> bytes:
        """A new input."""
        raise NotImplementedError

    def mutate(self, data: bytes, random: Random) -> bytes:
        """An input a little different."""
        return mutation.mutate(data, random)

    def run(self, data: bytes, random: Random) -> str:
        """Send an input through; what became of it in a word, or an exception."""
        raise NotImplementedError

    def place(self, data: bytes, suffix: str) -> Path:
        """A file with this content."""
        path = self.folder / f"input{suffix}"
        path.write_bytes(data)
        return path


class ReaderTarget(Target):
    """A format of `ouzel.read`: blocks that it gives must be sound, and what it refuses is refused in one line."""

    suffixes: ClassVar[Sequence[str]]
    format: ClassVar[str]
    kinds: ClassVar[Sequence[Callable[[bytearray, Random], None]]] = mutation.TEXT

    def samples(self) -> Sequence[bytes]:
        """Sound inputs to begin with."""
        raise NotImplementedError

    def start(self) -> None:
        super().start()
        self.known = list(self.samples())

    def warm(self) -> None:
        import ouzel

        super().start()
        with reading_threads(False):
            block = next(ouzel.read(self.place(self.samples()[0], self.suffixes[0])))
        warm_learners(block)
        self.stop()

    def make(self, random: Random) -> bytes:
        data = random.choice(self.known)
        return data if random.random() < 0.02 else self.mutate(data, random)

    def mutate(self, data: bytes, random: Random) -> bytes:
        return mutation.mutate(data, random, self.known, self.kinds)

    def options(self, random: Random) -> dict[str, Any]:
        """Options of reading."""
        return {"on_error": "skip"} if random.random() < 0.3 else {}

    def run(self, data: bytes, random: Random) -> str:
        path = self.place(data, random.choice(self.suffixes))
        options = self.options(random)
        if random.random() < 0.5:
            options["format"] = self.format
        return read_and_learn(path, options, random)


def read_and_learn(path: Path, options: dict[str, Any], random: Random) -> str:
    """Read a file, check its blocks, and learn a share of them."""
    import ouzel

    serial = random.random() < 0.9
    learner = random.choice(("ogd", "hashing", "hashing", None, None))
    settings = {"budget": "4KB"} if learner == "hashing" else {}
    model, rows = None, 0
    with reading_threads(not serial), ouzel.read(path, **options) as stream:
        for block in stream:
            check_block(block)
            rows += block.rows
            if learner == "ogd" and block.nonzeros and int(block.indices.max()) > LARGEST_LEARNT:
                learner, settings = "hashing", {"budget": "4KB"}
            few = block.label_names is None or len(block.label_names) < 50
            if learner is not None and few and len(np.unique(block.labels)) < 50:
                model = model or ouzel.Model(learner, **settings)
                learnt = model.learn(block)
                check_margins("a margin of learning", learnt.margins)
                check_finite("a margin of predicting", model.margins(block))
    return f"{min(rows, 3)} rows"


def warm_learners(block: Any) -> None:
    """Load what learns in the readers' targets."""
    import ouzel

    for learner, settings in (("ogd", {}), ("hashing", {"budget": "4KB"})):
        model = ouzel.Model(learner, **settings)
        model.learn(block)
        model.margins(block)


class reading_threads:  # noqa: N801 used as a function
    """Within this, small files are parsed with threads or without: starting those takes ten times as long."""

    def __init__(self, wanted: bool) -> None:
        self.patches = (
            []
            if wanted
            else [
                mock.patch("ouzel.streams.files.prefetch_map", lambda function, items, endless: map(function, items)),
                mock.patch("ouzel.streams.files.prefetch_file", lambda source, items, most=1: items),
                mock.patch("ouzel.streams.formats.batches.prefetch_file", lambda source, items, most: items),
            ]
        )

    def __enter__(self) -> None:
        for patch in self.patches:
            patch.start()

    def __exit__(self, *_: object) -> None:
        for patch in self.patches:
            patch.stop()


def check_finite(what: str, values: Any, detail: str = "") -> None:
    """Fail unless all numbers are finite."""
    array = np.asarray(values)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        bad = array[~np.isfinite(array)].ravel()[0]
        raise Failure("nan", f"{what} is {'NaN' if np.isnan(bad) else 'infinite'}", detail or f"{what}: {bad}")


def check_margins(what: str, margins: Any, detail: str = "") -> None:
    """Fail unless margins of before learning are finite, but for -inf of classes (n, classes) that came later."""
    check_finite(what, np.where(margins == -np.inf, 0.0, margins) if np.ndim(margins) == 2 else margins, detail)


def check_block(block: Any) -> None:
    """Fail unless a block is what `ouzel.streams.block.Block` says."""
    offsets = np.asarray(block.offsets).astype(np.int64)
    size = len(block.indices)

    def sound(holds: Any, claim: str) -> None:
        if not holds:
            raise Failure("unsound", f"block: {claim}", repr(block)[:2000])

    sound(len(offsets) == block.rows + 1 and len(block.weights) == block.rows, "one offset, label and weight a row")
    sound((np.diff(offsets) >= 0).all() and offsets[0] >= 0 and offsets[-1] <= size, "offsets ascend within the arrays")
    sound(size == len(block.values), "as many values as indices")
    here = slice(int(offsets[0]), int(offsets[-1]))
    sound(np.isfinite(block.values[here]).all(), "values are finite")
    sound(np.isfinite(block.weights).all() and (block.weights >= 0).all(), "weights are finite and 0 or more")
    labels = block.labels[~np.isnan(block.labels)]
    sound(np.isfinite(labels).all(), "labels are finite or none")
    if block.label_names is not None:
        sound(((labels >= 0) & (labels < len(block.label_names))).all(), "labels are positions in their names")
    if block.names is not None:
        starts, ends = block.names.starts.astype(np.int64), block.names.ends.astype(np.int64)
        sound(((starts >= 0) & (starts <= ends) & (ends <= len(block.names.text))).all(), "names lie within their text")
