"""Tables as they are: numbers in unlike units, words, and rare classes, each some thousands of rows of its file."""

import functools
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from ouzel.cli import simulated

DATA = Path(__file__).parents[3] / "shared" / "data"
ROWS = 2_000
BUNDLED = ("breast_cancer", "wine", "iris")
FILES = {
    "adult": "adult.data.csv.xz",
    "census-income": "census-income.data.csv.xz",
    "magic04": "magic04.csv.xz",
    "electricity": "electricity.csv.xz",
    "shuttle": "shuttle.tsv.xz",
    "kddcup99": "kddcup99_10_percent.csv.xz",
}
LABELS = {"electricity": "class", "shuttle": "target"}  # of files with a header; elsewhere it is the last column
SIMULATED = {
    "simulated payments": (simulated.payments, 2, "fraud"),
    "simulated clicks": (simulated.clicks, 0, "clicked"),
}
NAMES = (*BUNDLED, *FILES, "covtype", *SIMULATED)
BALANCED = ("breast_cancer", "wine", "iris", "magic04", "electricity", "kddcup99", "covtype")  # largest share below .7


class RawTable(NamedTuple):
    """Rows as dictionaries, and their labels."""

    rows: list[dict[str, Any]]
    labels: list[Any]


@functools.cache
def raw_table(name: str, rows: int = ROWS) -> RawTable:
    """So many rows of a table: the first of a stream, and an even sample of other files, in random order."""
    if name in BUNDLED:
        return _bundled(name, rows)
    if name in SIMULATED:
        make, seed, label = SIMULATED[name]
        return _of_columns(make(np.random.default_rng(seed)), label, rows)
    path = DATA / FILES.get(name, "covtype_sample.svm.xz")
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    with lzma.open(path, "rt") as file:
        lines = file.read().splitlines()
    return _of_svmlight(lines[:rows]) if name == "covtype" else _of_lines(name, lines, rows)


def _bundled(name: str, rows: int) -> RawTable:
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    order = np.random.default_rng(7).permutation(len(found.target))[:rows]
    columns = [f"x{k}" for k in range(found.data.shape[1])]
    return RawTable(
        [dict(zip(columns, row, strict=True)) for row in found.data[order].tolist()],
        [f"class {label}" for label in found.target[order]],
    )


def _of_columns(columns: dict[str, list[Any]], label: str, rows: int) -> RawTable:
    names = list(columns)
    dictionaries = [dict(zip(names, row, strict=True)) for row in zip(*(columns[n][:rows] for n in names), strict=True)]
    return RawTable(dictionaries, [row.pop(label) for row in dictionaries])


def _of_svmlight(lines: list[str]) -> RawTable:
    parts = [line.split() for line in lines]
    pairs = [[pair.split(":") for pair in part[1:]] for part in parts]
    return RawTable([{f"x{k}": float(x) for k, x in row} for row in pairs], [part[0] for part in parts])


def _of_lines(name: str, lines: list[str], rows: int) -> RawTable:
    between = "\t" if ".tsv" in FILES[name] else ","
    names = lines.pop(0).split(between) if name in LABELS else [f"x{k}" for k in range(lines[0].count(between) + 1)]
    label = LABELS.get(name, names[-1])
    if name != "electricity":
        lines = [lines[k] for k in np.random.default_rng(7).permutation(len(lines))[:rows]]
    found = [dict(zip(names, _cells(line, between), strict=True)) for line in lines[:rows]]
    return RawTable(found, [str(row.pop(label)) for row in found])


def _cells(line: str, between: str) -> Iterator[Any]:
    for cell in line.split(between):
        try:
            yield float(cell)
        except ValueError:
            yield cell.strip()
