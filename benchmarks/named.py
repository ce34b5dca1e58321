"""`ouzel train` on named features in every format, with crosses and without, beside Vowpal Wabbit on the text.

Two tables are made: "eat-rate", an animal, a food and ten features by chance in namespaces of their own, after the
description of Outbrain's benchmark of Fwumious Wabbit (github.com/outbrain/fwumious_wabbit), and "clicks", 13 numbers
and 26 categories of a long-tailed vocabulary, as in the Criteo data.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet
from streaming import BIN

ANIMALS, FOODS = ("herbivore", "carnivore"), ("plant", "meat", "seeds", "fish")
BATCH = 10_000
BITS = ["--bits", "22"]
ROWS_A_MEGABYTE = {"eat-rate": 9_200, "clicks": 2_400}  # of Vowpal Wabbit text
RUNS = [
    *((name, format, "", "") for name in ROWS_A_MEGABYTE for format in ("vw", "csv", "parquet", "jsonl", "arrow")),
    ("eat-rate", "vw", "A*B", "-q AB"),
    ("eat-rate", "jsonl", "A*B", "-q AB"),
    ("eat-rate", "arrow", "A*B", "-q AB"),
]
"""Data, formats, crosses, and what Vowpal Wabbit calls those."""
PAIRS_ROWS = 50_000
"""Rows whose time for all pairs of 26 categories is told by twice as many rows taking longer."""


class Taken(NamedTuple):
    """What a whole process took."""

    seconds: float
    megabytes: float  # of memory, at most


LAUNCHER = """
import os, sys, time
begun = time.perf_counter()
_, status, usage = os.wait4(os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ), 0)
print(time.perf_counter() - begun, usage.ru_maxrss / 1024, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Small, since what a process takes of memory at most is never told to be less than what began it has."""


def on_cores(cores: int, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a process on the first so many cores."""
    allowed = set(sorted(os.sched_getaffinity(0))[:cores])
    limit = partial(os.sched_setaffinity, 0, allowed)
    return subprocess.run(command, capture_output=True, text=True, check=True, preexec_fn=limit)


def taken(command: list[str], cores: int) -> Taken:
    """What a process takes on the first so many cores."""
    run = on_cores(cores, [sys.executable, "-S", "-c", LAUNCHER, *command])
    return Taken(*map(float, run.stderr.split()[-2:]))


def median(runs: list[Taken]) -> Taken:
    """The medians of some runs."""
    return Taken(*(float(np.median(column)) for column in zip(*runs, strict=True)))


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
        table = pyarrow.json.read_json(made(name, rows, "jsonl"))
        pyarrow.csv.write_csv(table, path) if format == "csv" else pyarrow.parquet.write_table(table, path)
    return path


READER = """
import sys, time
from ouzel.streams.read import read
best = float("inf")
for _ in range(3):
    stream = read(sys.argv[1], bits=int(sys.argv[2]))
    stream.emit_names_once()
    begun = time.process_time()
    features = sum(block.nonzeros for block in stream)
    best = min(best, 1e9 * (time.process_time() - begun) / features)
print(best)
"""
"""A process of its own, for how many threads read is decided when it starts."""


def reading(path: Path) -> float:
    """The nanoseconds that a feature of a file takes to read on one core, as for a training: best of three."""
    bits = BITS[1] if "-crossed" in path.name else "18"
    return float(on_cores(1, [sys.executable, "-c", READER, str(path), bits]).stdout)


def commands(path: Path, text: Path, cross: str, pairs: str) -> tuple[list[str], list[str]]:
    """How Ouzel learns a file, and Vowpal Wabbit the same examples as its text, or from its cache if it is finished."""
    ours = [str(BIN / "ouzel"), "train", str(path), "--learner", "adagrad", "--json"]
    peer = f"{sys.executable} -m vowpalwabbit --data {text} --adaptive --loss_function logistic --quiet".split()
    if cross:
        ours += BITS if path.suffix == ".arrow" else ["--cross", cross, *BITS]
        peer += [*pairs.split(), "-b", BITS[1]]
    if path.suffix == ".arrow":
        peer += ["--cache_file", f"{text}.cache"]
    return ours, peer


def side_by_side(megabytes: int, rounds: int) -> None:
    """Print a line for each table, format and number of cores."""
    columns = f"{'data':<9}{'format':<8}{'cross':<6}{'MB':>5} {'read ns':>8} {'cores':>5} {'ouzel s':>8} {'vw s':>6}"
    print(f"{columns} {'ratio':>6} {'M names/s':>10} {'ouzel MB':>9} {'vw MB':>6}")
    for name, format, cross, pairs in RUNS:
        rows = megabytes * ROWS_A_MEGABYTE[name]
        path, text = made(name, rows, format, cross), made(name, rows, "vw")
        nanoseconds = reading(path)
        ours, peer = commands(path, text, cross, pairs)
        if format == "arrow":
            taken(peer, 2)  # which fills the cache
        taken(ours, 2)  # which compiles
        features = rows * (12 if name == "eat-rate" else 39) / 1e6
        for cores in (1, 2):
            runs = [(taken(ours, cores), taken(peer, cores)) for _ in range(rounds)]
            mine, theirs = (median(list(column)) for column in zip(*runs, strict=True))
            line = f"{name:<9}{format:<8}{cross:<6}{path.stat().st_size / 1e6:>5.0f} {nanoseconds:>8.1f} {cores:>5}"
            speed = f"{mine.seconds:>8.2f} {theirs.seconds:>6.2f} {theirs.seconds / mine.seconds:>6.2f}"
            memory = f"{features / mine.seconds:>10.1f} {mine.megabytes:>9.0f} {theirs.megabytes:>6.0f}"
            print(f"{line} {speed} {memory}", flush=True)


LEARNER = """
import sys, time
import numpy as np
from ouzel.evaluation.progressive import Run
from ouzel.model.model import Model
from ouzel.streams.read import read
path, bits, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def seconds(stream):
    run = Run(Model("adagrad", bits=bits))
    begun = time.perf_counter()
    run.over(stream)
    return time.perf_counter() - begun
def opened():
    return read(path, bits=bits)
kept = list(opened())
ratios = [seconds(opened) / seconds(kept) for _ in range(rounds + 1)]
print(np.median(ratios[1:]))
"""
"""A file learnt, to its blocks learnt from memory; the first time compiles."""


def from_memory(megabytes: int, rounds: int) -> None:
    """Print how much longer learning a converted file takes than learning its blocks from memory."""
    print(f"\nconverted file to memory\n{'data':<9}{'cross':<6} {'1 core':>6} {'2 cores':>8}")
    for name, cross, bits in (("eat-rate", "A*B", BITS[1]), ("clicks", "", "18")):
        path = str(made(name, megabytes * ROWS_A_MEGABYTE[name], "arrow", cross))
        command = [sys.executable, "-c", LEARNER, path, bits, str(rounds)]
        one, two = (float(on_cores(cores, command).stdout) for cores in (1, 2))
        print(f"{name:<9}{cross:<6} {one:>6.2f} {two:>8.2f}", flush=True)


def all_pairs(rounds: int) -> None:
    """Print what a cross costs, of all pairs of 26 categories: read, made, learnt."""
    print(f"\nall pairs of 26 categories\n{'bits':>4} {'ouzel ns a cross':>17} {'vw ns a cross':>14} {'ratio':>6}")
    folder = Path(tempfile.gettempdir(), "ouzel-bench")
    texts = [folder / f"pairs-{rows}.vw" for rows in (PAIRS_ROWS, 2 * PAIRS_ROWS)]
    for text, rows in zip(texts, (PAIRS_ROWS, 2 * PAIRS_ROWS), strict=True):
        with text.open("w") as file:
            lines = (line.replace(line[line.index("|i") : line.index("|c")], "") for line in clicks(rows))
            file.writelines(itertools.islice(lines, rows))
    crosses = PAIRS_ROWS * 26 * 27 / 2  # those of a category with itself are made, too
    for bits in ("18", "22"):
        taken(_of_pairs(texts[0], bits)[0], 1)  # which compiles
        costs = []
        for which in range(2):
            runs = [[taken(_of_pairs(text, bits)[which], 1).seconds for text in texts] for _ in range(rounds)]
            costs.append(1e9 * float(np.median([more - less for less, more in runs])) / crosses)
        print(f"{bits:>4} {costs[0]:>17.1f} {costs[1]:>14.1f} {costs[1] / costs[0]:>6.2f}", flush=True)


def _of_pairs(text: Path, bits: str) -> tuple[list[str], list[str]]:
    ours, peer = commands(text, text, "", "")
    return [*ours, "--cross", "c*c", "--bits", bits], [*peer, "-q", "cc", "-b", bits]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=220)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data")
    given = parser.parse_args()
    side_by_side(given.megabytes, given.rounds)
    from_memory(given.megabytes, given.rounds)
    all_pairs(given.rounds)


if __name__ == "__main__":
    main()
