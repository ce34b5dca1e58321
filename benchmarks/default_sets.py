"""The sets for defaults: bundled with scikit-learn and River, files of a folder, and streams that change."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ouzel.streams.block import Block
from ouzel.streams.memory import blocks_from
from ouzel.streams.read import read

NO_HEADER = {"adult.data.csv.xz": 15, "census-income.data.csv.xz": 42, "kddcup99_10_percent.csv.xz": 42}
SVMLIGHT = (
    "a9a australian breast-cancer_scale covtype_sample diabetes gisette_sample heart ijcnn1 mushrooms pendigits "
    "phishing satimage.scale segment.scale usps vehicle_sensit_sample vowel w1a rcv1_binary_sample 20news news20 "
    "sector.scale url_sample"
)
FILES: dict[str, dict[str, Any]] = {
    **{name: {"label": f"c{n - 1}", "columns": tuple(f"c{i}" for i in range(n))} for name, n in NO_HEADER.items()},
    "magic04.csv.xz": {"label": "c10", "columns": tuple(f"c{i}" for i in range(11))},
    "electricity.csv.xz": {"label": "class"},
    "connect-4.tsv.xz": {"label": "target"},
    "dna.tsv.xz": {"label": "target"},
    "shuttle.tsv.xz": {"label": "target"},
    "netflow_ctu.csv.xz": {"label": "capture"},
    **{f"{name}.svm.xz": {} for name in SVMLIGHT.split()},
    "mnist.t10k-images-idx3-ubyte.gz": {},
}
NUMBERS = ("nswdemand", "nswprice")  # columns of electricity.csv.xz that are predicted from the others
SCIKIT_LEARN = {
    "wine": "several",
    "breast_cancer": "two",
    "iris": "several",
    "digits": "several",
    "diabetes": "numbers",
}
RIVER = {
    "Phishing": "two",
    "Bananas": "two",
    "ImageSegments": "several",
    "TrumpApproval": "numbers",
    "ChickWeights": "numbers",
}
MORE_NUMBERS = {  # columns of files that are predicted from the others, and the sets they make
    "adult, age": ("adult.data.csv.xz", "c0"),
    "adult, hours": ("adult.data.csv.xz", "c12"),
    "census, age": ("census-income.data.csv.xz", "c0"),
    "census, wage an hour": ("census-income.data.csv.xz", "c5"),
    "census, weeks worked": ("census-income.data.csv.xz", "c39"),
    "kdd, connections": ("kddcup99_10_percent.csv.xz", "c22"),
}
PERIOD = 5_000  # examples, after which a stream changes


class Set(NamedTuple):
    """Examples in their own order; in a stream that changes it is the order that counts."""

    name: str
    task: str  # two (classes), several, numbers
    block: Block
    changes: bool = False


def sets(folder: Path, chosen: list[str]) -> Iterator[Set]:
    """Every set that is there, of those chosen if any are; each is read when its turn comes."""
    for name, make in itertools.chain(_bundled(), _streams(), _of_folder(folder)):
        if not chosen or name in chosen:
            yield make()._replace(name=name)


def number_sets(folder: Path, rows: int) -> Iterator[Set]:
    """Sets of numbers: those of `sets`, more of River and of files, and made ones of so many examples."""
    for name, make in itertools.chain(_bundled(), _of_folder(folder)):
        if name.split(" ")[0] in (*NUMBERS, "TrumpApproval", "ChickWeights") or name == "diabetes (scikit-learn)":
            yield make()._replace(name=name)
    for name in ("AirlinePassengers", "SolarFlare", "WaterFlow"):
        yield _of_river(name, "numbers")._replace(name=f"{name} (River)")
    for name, (file, label) in MORE_NUMBERS.items():
        if (folder / file).exists():
            yield _of_numbers(list(read(folder / file, label=label, columns=FILES[file]["columns"])))._replace(
                name=name
            )
    if (folder / "mq2008.test.svm.xz").exists():
        yield _of_numbers(list(read(folder / "mq2008.test.svm.xz")))._replace(name="mq2008, relevance")
    for name, (X, y) in _made(rows).items():
        yield _of_numbers(list(blocks_from(X.astype(np.float32), y.astype(float))))._replace(name=name)


def _made(rows: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Numbers of rules that are known: with even, uneven and heavy-tailed noise, and counts."""
    from sklearn.datasets import make_friedman1

    random = np.random.default_rng(0)
    X, weights = random.normal(size=(rows, 8)), random.normal(size=8)
    line, hours = X @ weights, np.arange(rows)
    time = np.column_stack([hours % 24, hours // 24 % 7, random.normal(size=rows)])
    daily = np.exp(2.5 + 1.2 * np.sin(2.0 * np.pi * (hours % 24 - 8) / 24) - 0.4 * (hours // 24 % 7 > 4))
    return {
        "Friedman": make_friedman1(rows, noise=1.0, random_state=1),
        "normal noise": (X, line + random.normal(size=rows)),
        "uneven noise": (X, line + np.exp(X[:, 0]) * random.normal(size=rows)),
        "noise of Student's t, 2 degrees": (X, line + random.standard_t(2, rows)),
        "Cauchy's noise": (X, line + random.standard_cauchy(rows)),
        "log-normal": (X, np.exp(0.3 * line + random.normal(size=rows))),
        "counts": (X, random.poisson(np.exp(0.3 * line + 0.5))),
        "rare counts": (X, random.poisson(np.exp(0.4 * line - 3.0))),
        "counts, overdispersed": (X, random.poisson(np.exp(0.3 * line + 2.0) * random.gamma(0.5, 2.0, rows))),
        "counts by hour and weekday": (time, random.poisson(daily)),
    }


def _bundled() -> Iterator[tuple[str, Callable[[], Set]]]:
    for name, task in SCIKIT_LEARN.items():
        yield f"{name} (scikit-learn)", partial(_of_scikit_learn, name, task)
    for name, task in RIVER.items():
        yield f"{name} (River)", partial(_of_river, name, task)


def _streams() -> Iterator[tuple[str, Callable[[], Set]]]:
    for name, make in STREAMS.items():
        yield name, partial(_changing, make)


def _of_folder(folder: Path) -> Iterator[tuple[str, Callable[[], Set]]]:
    for file, options in FILES.items():
        if (folder / file).exists():
            yield file.split(".")[0], partial(_of_file, folder / file, options)
    if (folder / "electricity.csv.xz").exists():
        for column in NUMBERS:
            yield column, partial(_of_column, folder / "electricity.csv.xz", column)


def _of_file(path: Path, options: dict[str, Any]) -> Set:
    return _of_classes(read(path, **options))


def _of_column(path: Path, column: str) -> Set:
    return _of_numbers(list(read(path, label=column)))


def _changing(make: Callable[[], Iterable[tuple[dict[str, float], Any]]]) -> Set:
    return _of_pairs("two", make())._replace(changes=True)


def _of_scikit_learn(name: str, task: str) -> Set:
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")(**({"scaled": False} if name == "diabetes" else {}))
    parts = list(blocks_from(found.data.astype(np.float32), found.target.astype(float)))
    return _of_numbers(parts) if task == "numbers" else _of_classes(iter(parts))


def _of_river(name: str, task: str) -> Set:
    from river import datasets

    pairs = getattr(datasets, name)()
    return _of_pairs(task, ((_numeric(x), next(iter(y.values())) if isinstance(y, dict) else y) for x, y in pairs))


def _numeric(x: dict[str, Any]) -> dict[str, float]:
    """The columns of numbers, dates as days; words are left out."""
    days = {key: value.timestamp() / 86_400.0 for key, value in x.items() if isinstance(value, dt.datetime)}
    return {str(key): float(value) for key, value in (x | days).items() if isinstance(value, (int, float))}


def _of_pairs(task: str, pairs: Iterable[tuple[dict[str, float], Any]]) -> Set:
    parts = list(blocks_from((x, y if task != "two" else int(bool(y))) for x, y in pairs))
    return _of_numbers(parts) if task == "numbers" else _of_classes(iter(parts))


def _of_classes(blocks: Iterator[Block]) -> Set:
    block = collected(blocks)
    return Set("", "two" if block.labels.max() == 1.0 else "several", block)


def _of_numbers(parts: list[Block]) -> Set:
    block = collected(iter(parts))
    return Set("", "numbers", block._replace(labels=np.concatenate([part.labels for part in parts])))


def collected(blocks: Iterator[Block]) -> Block:
    """All examples of a stream as one block, features numbered through, classes 0, 1, …"""
    offsets, indices, values, labels = [np.zeros(1, np.int64)], [], [], []
    for block in blocks:
        here = slice(int(block.offsets[0]), int(block.offsets[-1]))
        offsets.append(block.offsets[1:].astype(np.int64) - here.start + offsets[-1][-1])
        indices.append(block.indices[here])
        values.append(block.values[here])
        names = block.label_names
        labels.append(block.labels if names is None else np.array(names)[block.labels.astype(int)])
    numbered = np.unique(np.concatenate(indices), return_inverse=True)[1].astype(np.uint32)
    classes = np.unique(np.concatenate(labels), return_inverse=True)[1].astype(float)
    ones = np.ones(len(classes), np.float32)
    return Block(np.concatenate(offsets).astype(np.uint64), numbered, np.concatenate(values), classes, ones)


def in_order(block: Block, order: int, most: int) -> Block:
    """At most so many examples: the first ones of order 0, else a random choice in random order."""
    if order == 0:
        return block.select(np.arange(min(block.rows, most)))
    return block.select(np.random.default_rng(order).permutation(block.rows)[:most])


def _in_turn(concepts: list[Any], examples: int = PERIOD) -> Iterator[tuple[dict[str, float], Any]]:
    """So many examples of each concept."""
    for concept in concepts:
        for x, y in itertools.islice(iter(concept), examples):
            yield _numeric(x), y


def _sea() -> Iterator[tuple[dict[str, float], Any]]:
    from river.datasets import synth

    return _in_turn([synth.SEA(variant=variant, noise=0.1, seed=variant) for variant in range(4)])


def _agrawal() -> Iterator[tuple[dict[str, float], Any]]:
    from river.datasets import synth

    return _in_turn([synth.Agrawal(classification_function=k, seed=k) for k in (0, 3, 6, 8)])


def _hyperplane() -> Iterator[tuple[dict[str, float], Any]]:
    from river.datasets import synth

    return _in_turn([synth.Hyperplane(seed=1, n_features=10, n_drift_features=5, mag_change=0.001)], 4 * PERIOD)


def _centroids() -> Iterator[tuple[dict[str, float], Any]]:
    from river.datasets import synth

    found = synth.RandomRBFDrift(
        1, 1, n_classes=2, n_features=10, n_centroids=20, change_speed=0.01, n_drift_centroids=10
    )
    return _in_turn([found], 4 * PERIOD)


def _flips() -> Iterator[tuple[dict[str, float], Any]]:
    """A noisy linear rule of ten features that is turned to its opposite again and again."""
    random = np.random.default_rng(0)
    rule = random.normal(size=10)
    for i in range(4 * PERIOD):
        x = random.normal(size=10)
        sign = 1.0 if i // PERIOD % 2 == 0 else -1.0
        yield {str(j): float(value) for j, value in enumerate(x)}, bool(sign * (x @ rule) + random.normal() > 0.0)


def _turns() -> Iterator[tuple[dict[str, float], Any]]:
    """A rule that turns slowly, of features whose units and zeros move as well."""
    random = np.random.default_rng(1)
    first, second = random.normal(size=(2, 10))
    for i in range(4 * PERIOD):
        angle, x = 2.0 * np.pi * i / (4 * PERIOD), random.normal(size=10)
        y = x @ (np.cos(angle) * first + np.sin(angle) * second) + random.normal() > 0.0
        moved = (x + i / PERIOD) * 10.0 ** (i // PERIOD - 1)
        yield {str(j): float(value) for j, value in enumerate(moved)}, bool(y)


STREAMS: dict[str, Callable[[], Iterator[tuple[dict[str, float], Any]]]] = {
    "SEA": _sea,
    "Agrawal": _agrawal,
    "hyperplane": _hyperplane,
    "moving centroids": _centroids,
    "flips": _flips,
    "turns": _turns,
}
