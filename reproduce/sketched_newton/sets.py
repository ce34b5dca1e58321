"""The sets of the sketched Newton paper that are at hand, with labels -1 and +1, in the order of their files."""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ouzel.comparison.shuffles import join
from ouzel.errors import OuzelError
from ouzel.streams.block import Block
from ouzel.streams.read import read
from reproduce.provenance import DataFolder


class DataSet(NamedTuple):
    """Where a set lies and how it becomes one of two classes."""

    files: tuple[str, ...]
    positive: tuple[float, ...]  # the labels that are +1
    options: dict[str, Any] = {}  # noqa: RUF012 - of reading; never written to
    last: dict[str, Any] = {}  # noqa: RUF012 - options of the last file alone
    labels: tuple[float, ...] = ()  # all that are kept, if not all
    note: str = ""


def _columns(count: int, **rest: Any) -> dict[str, Any]:
    return {"columns": [f"c{k}" for k in range(count)], "label": f"c{count - 1}", "bits": 24, **rest}


SETS = {
    "20news": DataSet(("20news.svm.xz", "20news.t.svm.xz"), tuple(range(1, 11)), note="classes 1-10 against 11-20"),
    "a9a": DataSet(("a9a.svm.xz", "a9a.t.svm.xz"), (1,)),
    "adult": DataSet(
        ("adult.data.csv.xz", "adult.test.csv.xz"),
        (1,),
        _columns(15, label_positive=">50K"),
        {"label_positive": ">50K.", "on_error": "skip"},  # a remark before the first row
        note="numbers as they are, a feature a word",
    ),
    "australian": DataSet(("australian.svm.xz",), (1,)),
    "breast-cancer": DataSet(("breast-cancer_scale.svm.xz",), (4,)),
    "census": DataSet(
        ("census-income.data.csv.xz", "census-income.test.csv.xz"),
        (1,),
        _columns(42, label_positive="50000+.", ignore=("c24",)),
        note="as adult, without the weights of rows",
    ),
    "covtype": DataSet(("covtype_sample.svm.xz",), (2,), note="a sample, class 2 against the rest"),
    "diabetes": DataSet(("diabetes.svm.xz",), (1,)),
    "heart": DataSet(("heart.svm.xz",), (1,)),
    "ijcnn1": DataSet(("ijcnn1.t.svm.xz",), (1,)),
    "magic04": DataSet(("magic04.csv.xz",), (1,), _columns(11)),
    "mnist": DataSet(
        ("mnist.train-images-idx3-ubyte.gz",), (9,), labels=(4, 9), note="4 against 9; pixels from 0 to 255"
    ),
    "mushrooms": DataSet(("mushrooms.svm.xz",), (1,)),
    "rcv1": DataSet(("rcv1_binary_sample.svm.xz",), (1,), note="a sample"),
    "splice": DataSet(("dna.tsv.xz",), (1, 2), note="a thousand of Statlog's DNA, bases numbered: a stand-in"),
    "w1a": DataSet(("w1a.svm.xz",), (1,)),
}
"""By the names of the paper. The unscaled files are taken as they are."""


def load(data: DataFolder, chosen: DataSet) -> Block:
    """A set as one block, its features numbered without gaps, values of 0 left out."""
    if chosen is SETS["splice"]:
        block = splice(data / chosen.files[0])
    else:
        own = [chosen.options] * (len(chosen.files) - 1) + [{**chosen.options, **chosen.last}]
        parts = [join(read(data / file, **options)) for file, options in zip(chosen.files, own, strict=True)]
        block = join(parts)
    if chosen.labels:
        block = block.select(np.flatnonzero(np.isin(block.labels, chosen.labels)))
    return numbered(
        block._replace(labels=np.where(np.isin(block.labels, chosen.positive), 1.0, -1.0), label_names=None)
    )


def load_given(path: Path) -> Block:
    """A file of the user's, which must have two classes."""
    with read(str(path)) as stream:
        block = join(stream)
    found = np.unique(block.labels)
    if len(found) != 2:
        raise OuzelError(f"{path}: the experiment is for two classes; there are {len(found)}")
    return numbered(block._replace(labels=np.where(block.labels == found[1], 1.0, -1.0), label_names=None))


def numbered(block: Block) -> Block:
    """Features numbered from 0 in the order of their ids; zeros left out."""
    offsets = block.offsets.astype(np.int64)
    lengths = offsets[1:] - offsets[:-1]
    kept = block.values != 0.0
    rows = np.repeat(np.arange(block.rows), lengths)[kept]
    _, indices = np.unique(block.indices[kept], return_inverse=True)
    kept_offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=block.rows))]).astype(np.uint64)
    return block._replace(offsets=kept_offsets, indices=indices.astype(np.uint32), values=block.values[kept])


def splice(path: Path) -> Block:
    """A thousand splice junctions drawn from Statlog's DNA: its three indicators a base become the numbers 1 to 4."""
    with lzma.open(path, "rt") as file:
        table = np.loadtxt(file, skiprows=1)
    table = table[np.random.default_rng(0).permutation(len(table))[:1000]]
    indicators = table[:, :-1].reshape(len(table), -1, 3)
    bases = np.where(indicators.any(axis=2), 1 + indicators.argmax(axis=2), 4)
    rows, width = bases.shape
    offsets = np.arange(0, rows * width + 1, width).astype(np.uint64)
    indices = np.tile(np.arange(width, dtype=np.uint32), rows)
    return Block(offsets, indices, bases.ravel().astype(np.float32), table[:, -1], np.ones(rows, np.float32))


def names_and_blocks(data: DataFolder, names: Sequence[str], paths: Sequence[Path]) -> list[tuple[str, Block]]:
    """The sets of those names, and the user's files."""
    found = [(name, load(data, SETS[name])) for name in names]
    return found + [(path.name.split(".")[0], load_given(path)) for path in paths]
