"""Stray values in tables: learners that scale by what they have seen recover, and states stay finite."""

from __future__ import annotations

import json
from contextlib import suppress
from random import Random
from typing import Any

import numpy as np

from torture.targets.base import Target, check_margins
from torture.verdicts import Failure

LEARNERS = ("auto", "auto", "arow", "scw1", "son-oja", "adagrad")
SIZES = (1e3, 1e4, 1e6, 1e15, 1e30, 3e38)
PLACES = ("first", "middle", "late", "anywhere")
ROWS = 1200
RECOVERED = 100  # rows behind the last stray, or the first rows, from which on errors are compared
SLACK = 0.08  # of the rows that are compared


class Strays(Target):
    name = "strays"
    weight = 0.1
    share = 3.0
    about = "stray values in tables through learners that scale"
    breeding = 0.0
    patience = 300.0  # kernels compile

    def prepare(self) -> None:
        self.warm()

    def warm(self) -> None:
        for learner in set(LEARNERS):
            for numbers in (False, True):
                with suppress(Failure):
                    self.run(json.dumps(_spec(learner, numbers, Random(0))).encode(), Random(0))

    def make(self, random: Random) -> bytes:
        return json.dumps(_spec(random.choice(LEARNERS), random.random() < 0.3, random)).encode()

    def mutate(self, data: bytes, random: Random) -> bytes:
        return self.make(random)

    def run(self, data: bytes, random: Random) -> str:
        spec = json.loads(data)
        X, y = _table(spec)
        stray, labels = X.copy(), y.copy()
        for row, size in spec["strays"]:
            if spec["in_labels"]:
                labels[row] = size
            else:
                stray[row, spec["column"]] = size
        last = max((row for row, _ in spec["strays"] if row > 20), default=0)
        counted = np.arange(ROWS) >= last + RECOVERED
        if counted.sum() < RECOVERED:
            counted = np.arange(ROWS) < min(row for row, _ in spec["strays"] if row > 20)
            counted &= np.arange(ROWS) >= RECOVERED
        before, after = (_error(spec, *table, y, counted, data) for table in ((X, y), (stray, labels)))
        if after > before * 1.2 + SLACK:
            raise Failure("spoilt", f"{spec['learner']}: an error of {before:.3g} becomes {after:.3g}", data.decode())
        return f"{spec['learner']} {spec['numbers']} {spec['in_labels']}"


def _spec(learner: str, numbers: bool, random: Random) -> dict[str, Any]:
    """What an input says."""
    count, place = random.choice((1, 1, 3, 10)), random.choice(PLACES)
    begin, end = {"first": (0, 12), "middle": (500, 560), "late": (900, 980), "anywhere": (0, 1000)}[place]
    rows, sign = random.sample(range(begin, end), count), random.choice((1.0, -1.0))
    size = random.choice(SIZES)
    return {
        "learner": learner,
        "numbers": numbers and learner != "arow" and learner != "scw1",
        "in_labels": numbers and learner not in ("arow", "scw1") and random.random() < 0.5,
        "column": random.randrange(4),
        "strays": [(row, sign * size) for row in rows],
        "seed": random.getrandbits(32),
    }


def _table(spec: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Three columns of numbers, in units and from zeros of their own, and a rare one; classes or numbers."""
    rng = np.random.default_rng(spec["seed"])
    X = rng.normal(size=(ROWS, 4))
    X[:, 3] = (rng.random(ROWS) < 0.2) * rng.uniform(0.5, 1.0, ROWS)
    y = X @ np.array([1.0, -1.0, 0.5, 2.0]) + 0.3 * rng.normal(size=ROWS)
    X[:, :3] = X[:, :3] * 10.0 ** rng.uniform(-2.0, 2.0, 3) + rng.uniform(-5.0, 5.0, 3)
    return X.astype(np.float32), y if spec["numbers"] else (y > y.mean()).astype(float)


def _error(
    spec: dict[str, Any], X: np.ndarray, labels: np.ndarray, y: np.ndarray, counted: np.ndarray, data: bytes
) -> float:
    """The error of some rows, each predicted before it is learnt; of numbers in units of their spread."""
    import ouzel

    how: dict[str, Any] = {"loss": "squared"} if spec["numbers"] else {"classes": [0, 1]}
    model = ouzel.Model(spec["learner"], **how, **({} if spec["learner"] == "auto" else {"standardize": True}))
    margins = np.concatenate([model.learn(block).margins for block in ouzel.blocks_from(X, labels, block_rows=256)])
    check_margins("a margin of learning", margins, data.decode())
    if spec["numbers"]:
        return float(np.sqrt(np.mean((margins - y)[counted] ** 2)) / np.std(y))
    return float(np.mean(((margins > 0.0) != y)[counted]))
