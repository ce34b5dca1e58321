"""`ouzel train` on named features in every format, with crosses and without, beside Vowpal Wabbit on the text.

Two tables are made: "eat-rate", an animal, a food and ten features by chance in namespaces of their own, after the
description of Outbrain's benchmark of Fwumious Wabbit (github.com/outbrain/fwumious_wabbit), and "clicks", 13 numbers
and 26 categories of a long-tailed vocabulary, as in the Criteo data.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
from streaming import BIN, seconds

from ouzel.streams.options import Options
from ouzel.streams.read import read
from ouzel.streams.sources.chunks import chunks_of
from ouzel.streams.sources.source import Source
from ouzel.streams.text.vw import parse_vw

ANIMALS, FOODS = ("herbivore", "carnivore"), ("plant", "meat", "seeds", "fish")
BATCH = 10_000
BITS = ["--bits", "22"]
RUNS = [
    ("eat-rate", "vw", "", ""),
    ("eat-rate", "vw", "A*B", "-q AB"),
    ("eat-rate", "jsonl", "", ""),
    ("eat-rate", "jsonl", "A*B", "-q AB"),
    ("clicks", "vw", "", ""),
    ("clicks", "jsonl", "", ""),
    *((name, format, "", "") for name in ("eat-rate", "clicks") for format in ("csv", "parquet", "arrow")),
    ("eat-rate", "arrow", "A*B", "-q AB"),
]
"""Data, formats, crosses, and what Vowpal Wabbit calls those."""


def eat_rate(rows: int) -> Iterator[str]:
    """Lines whose label is whether this kind of animal eats this kind of food."""
    rng = np.random.default_rng(0)
    for _ in range(0, rows, BATCH):
        kinds, foods = rng.integers(0, len(ANIMALS), BATCH), rng.integers(0, len(FOODS), BATCH)
        numbers, others = rng.integers(0, 100, (BATCH, 2)), rng.integers(0, 1000, (BATCH, 10))
        for kind, food, (first, second), rest in zip(kinds, foods, numbers.tolist(), others.tolist(), strict=True):
            label = 1 if food % 2 == kind else -1
            more = " ".join(f"|{chr(67 + k)} {chr(97 + k)}{number}" for k, number in enumerate(rest))
            yield f"{label} |A {ANIMALS[kind]}-{first} |B {FOODS[food]}-{second} {more}\n"


def clicks(rows: int) -> Iterator[str]:
    """Lines of 13 numbers and 26 categories, whose first few decide the label, but for noise."""
    rng = np.random.default_rng(1)
    for _ in range(0, rows, BATCH):
        numbers = rng.geometric(0.02, (BATCH, 13))
        ranks = np.minimum(rng.zipf(1.3, (BATCH, 26)), 1 << 40)
        codes = (ranks * 2654435761 + np.arange(26) * 40503) & 0xFFFFFFFF
        scores = np.log(numbers[:, 0]) - 3.5 + np.where(ranks[:, :3] % 3 == 0, 1.0, -0.5).sum(axis=1)
        labels = np.where(rng.random(BATCH) < 1.0 / (1.0 + np.exp(-scores)), 1, -1)
        for label, row, words in zip(labels, numbers.tolist(), codes.tolist(), strict=True):
            counts = " ".join(f"I{k}:{number}" for k, number in enumerate(row))
            yield f"{label} |i {counts} |c " + " ".join(f"C{k}={word:08x}" for k, word in enumerate(words)) + "\n"


def as_object(line: str) -> str:
    """The same example as an object of JSON."""
    label, *spaces = line.split("|")
    members: dict[str, object] = {"label": int(label)}
    for space, *features in map(str.split, spaces):
        for feature in features:
            name, colon, value = feature.partition(":")
            column, equals, word = feature.partition("=")
            members[name if colon else column if equals else space] = int(value) if colon else word or feature
    return json.dumps(members) + "\n"


def made(name: str, rows: int, format: str, cross: str = "") -> Path:
    """The file of a table, made if it is not there."""
    folder = Path(tempfile.gettempdir(), "ouzel-bench")
    folder.mkdir(exist_ok=True)
    crossed = "-crossed" if cross and format == "arrow" else ""
    path = folder / f"{name}-{rows}{crossed}.{format}"
    if path.exists():
        return path
    if format in ("vw", "jsonl"):
        lines = {"eat-rate": eat_rate, "clicks": clicks}[name](rows)
        with path.open("w") as file:
            file.writelines(lines if format == "vw" else map(as_object, lines))
    elif format == "arrow":
        options = ["--cross", cross, *BITS] if cross else []
        subprocess.run([BIN / "ouzel", "convert", made(name, rows, "csv"), path, *options], check=True)
    else:
        objects = map(json.loads, made(name, rows, "jsonl").open())
        table = pyarrow.Table.from_pylist([*objects])
        pyarrow.csv.write_csv(table, path) if format == "csv" else pyarrow.parquet.write_table(table, path)
    return path


def reading(path: Path) -> float:
    """The nanoseconds that a feature of a file takes to read on one core, best of three."""
    best = np.inf
    for _ in range(3):
        begun = time.perf_counter()
        if path.suffix == ".vw":
            features = sum(parse_vw(*chunk, Options()).block.nonzeros for chunk in chunks_of(Source(path)))
        else:
            bits = {"bits": int(BITS[1])} if "-crossed" in path.name else {}
            features = sum(block.nonzeros for block in read(path, **bits))
        best = min(best, 1e9 * (time.perf_counter() - begun) / features)
    return best


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data")
    given = parser.parse_args()
    columns = f"{'data':<9} {'format':<6} {'cross':<7} {'MB':>5} {'read ns':>8} {'cores':>5}"
    print(f"{columns} {'ouzel s':>8} {'vw s':>6} {'ratio':>6}")
    for name, format, cross, pairs in RUNS:
        path, text = made(name, given.rows, format, cross), made(name, given.rows, "vw")
        nanoseconds = reading(path)
        ours = [str(BIN / "ouzel"), "train", str(path), "--learner", "adagrad", "--json"]
        peer = f"{sys.executable} -m vowpalwabbit --data {text} --adaptive --loss_function logistic --quiet".split()
        if cross:
            ours += BITS if format == "arrow" else ["--cross", cross, *BITS]
            peer += [*pairs.split(), "-b", BITS[1]]
        if format == "arrow":
            peer += ["--cache_file", f"{text}.cache"]
            seconds(peer, 2)  # which fills it
        for cores in (1, 2):
            times = [(seconds(ours, cores), seconds(peer, cores)) for _ in range(given.rounds)]
            mine, theirs = (float(np.median(column)) for column in zip(*times, strict=True))
            size = f"{name:<9} {format:<6} {cross:<7} {path.stat().st_size / 1e6:>5.0f} {nanoseconds:>8.1f}"
            print(f"{size} {cores:>5} {mine:>8.2f} {theirs:>6.2f} {theirs / mine:>6.2f}")


if __name__ == "__main__":
    main()
