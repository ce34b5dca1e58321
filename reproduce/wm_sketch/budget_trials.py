"""The protocol of the WM-Sketch paper's section 7: one pass within a byte budget, medians over seeds.

Tai, Sharan, Bailis & Valiant (2018): online logistic regression, first step 0.1, step sizes eta_0 / (1 + l2 eta_0 t) as
in the authors' code. A trial is a random order of the examples with hash functions of its own; the weights to recover
are those of the same learner without a budget after the same order. For every method and budget the configuration is
used that is best by the median of what is shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ouzel.comparison.recovery import recovery_error
from ouzel.comparison.shuffles import join
from ouzel.errors import OuzelError
from ouzel.learners import catalogue
from ouzel.model.model import Model
from ouzel.streams.block import Block
from ouzel.streams.read import read
from reproduce.provenance import DataFolder


class File(NamedTuple):
    """A set of two classes, and how it is read."""

    name: str
    positive: tuple[int, ...] = ()  # labels; none: they are signs
    reading: dict[str, Any] = {}  # noqa: RUF012 -- nobody writes into it


TECHNICAL = (2, 3, 4, 5, 6, 12, 13, 14, 15)  # comp.* and sci.* of the twenty newsgroups, in alphabetical order
TUTOR = ("Anon Student Id", "Problem Hierarchy", "Problem Name", "Step Name", "KC(Default)")  # not what tells the label
ALGEBRA = ("user_id", "item_id", "skill_id")
SETS = {
    "RCV1": File("rcv1_binary_sample.svm.xz"),
    "20 newsgroups": File("20news.svm.xz", TECHNICAL),
    "20 newsgroups, counts": File("news20.svm.xz", TECHNICAL),
    "URL": File("url_sample.svm.xz"),
    "KDD Algebra": File(
        "kdd2010_algebra05_test.csv.xz",
        (1,),
        {"label": "correct", "keep": ALGEBRA, "categorical": ALGEBRA, "crosses": ("user_id*skill_id",), "bits": 20},
    ),
    "KDD tutor": File(
        "kdd2010_cognitive_tutor_sample.txt.xz",
        (1,),
        {
            "format": "tsv",
            "label": "Correct First Attempt",
            "keep": TUTOR,
            "categorical": TUTOR,
            "crosses": ("Anon Student Id*KC(Default)", "Anon Student Id*Problem Name"),
        },
    ),
}
LEARNERS = ("awm", "wm", "truncation", "probabilistic-truncation", "space-saving", "hashing")
REFERENCE = "unbounded"
KILOBYTES = (2, 4, 8, 16, 32)
TOPS = (8, 16, 32, 64, 128)
SEEDS = 10
SHARES = ("half", "a quarter", "an eighth", "a sixteenth")  # to the active set, in the order of `configurations`
L2 = 1e-6


class Outcome(NamedTuple):
    """What one pass led to."""

    error: float  # online error rate
    recovery: tuple[float, ...]  # one of each K asked for
    seconds: float


class Range(NamedTuple):
    """The median of some trials, and the least and greatest."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3f} ({self.low:.3f} to {self.high:.3f})"


def range_of(outcomes: Sequence[Outcome], figure: Callable[[Outcome], float]) -> Range:
    """Median and extremes of one figure."""
    values = [figure(outcome) for outcome in outcomes]
    return Range(float(np.median(values)), min(values), max(values))


def load(data: DataFolder, paths: Sequence[Path], quick: bool, names: Sequence[str] = tuple(SETS)) -> dict[str, Block]:
    """The named sets and the given files, labels -1 and +1; in the quick variant 3,000 examples of the first."""
    blocks = {}
    for name in names[:1] if quick else names:
        file, positive, reading = SETS[name]
        block = join(read(data / file, **reading))
        blocks[name] = block if not positive else block._replace(labels=_signs(np.isin(block.labels, positive)))
    for path in paths:
        block = join(read(path))
        classes = np.unique(block.labels)
        if len(classes) != 2:
            raise OuzelError(f"{path}: recovery and error are measured on two classes; it has {len(classes)}")
        blocks[path.name.split(".")[0]] = block._replace(labels=_signs(block.labels == classes[1]))
    return {name: block.select(np.arange(3000)) for name, block in blocks.items()} if quick else blocks


def _signs(positive: np.ndarray) -> np.ndarray:
    return np.where(positive, 1.0, -1.0)


def published_shape(budget: int) -> dict[str, float]:
    """The ids, rows and weights in a row that Table 2 has for the WM-Sketch."""
    middling = 4096 <= budget < 8192
    ids = min(256 if middling else 128, budget // 16)
    room = budget // 4 - 2 * ids
    width = min(256 if middling or budget >= 32768 else 128, room)
    return {"heap_size": float(ids), "width": float(width), "depth": float(max(1, room // width))}


def configurations(learner: str, budget: int) -> list[dict[str, float]]:
    """The ways tried of splitting a budget, the paper's Table 2 first; an empty one is the default."""
    if learner == "awm":
        return [{}, *({"heap_size": float(budget // share)} for share in (32, 64, 128))]
    if learner == "wm":
        squat = ({"heap_size": 128.0, "width": width} for width in (128.0, 256.0) if 8 * 128 + 4 * width < budget)
        return [published_shape(budget), *squat]
    return [{}]


def one_pass(learner: str, block: Block, **settings: Any) -> tuple[Model, float, float]:
    """A model after one pass, its online error rate, and its seconds."""
    model = Model(learner, classes=[-1, 1], standardize=False, **settings)
    begun = time.perf_counter()
    margins = model.learn(block).margins
    seconds = time.perf_counter() - begun
    return model, float(1.0 - np.where(block.labels > 0.0, margins > 0.0, margins <= 0.0).mean()), seconds


def trials(
    block: Block, learners: Sequence[str], kilobytes: int, seeds: int, l2: float = L2, tops: Sequence[int] = ()
) -> dict[str, list[list[Outcome]]]:
    """For every learner and configuration the outcomes of the seeds; `unbounded` is measured too."""
    budget = 1024 * kilobytes
    found: dict[str, list[list[Outcome]]] = {
        name: [[] for _ in configurations(name, budget)] for name in (*learners, REFERENCE)
    }
    for seed in range(seeds):
        order = block.select(np.random.default_rng(seed).permutation(block.rows))
        reference, error, seconds = one_pass(REFERENCE, order, l2=l2)
        found[REFERENCE][0].append(Outcome(error, (1.0,) * len(tops), seconds))
        for name in learners:
            fields = catalogue.find(name).settings._fields
            own = {"sketch_seed": float(seed)} if "sketch_seed" in fields else {}
            for place, configuration in enumerate(configurations(name, budget)):
                model, error, seconds = one_pass(name, order, l2=l2, budget=budget, **own, **configuration)
                recovered = tuple(recovery_error(model, reference, top) or float("nan") for top in tops)
                found[name][place].append(Outcome(error, recovered, seconds))
    return found


def best(
    found: Mapping[str, Sequence[Sequence[Outcome]]], figure: Callable[[Outcome], float]
) -> dict[str, Sequence[Outcome]]:
    """For every learner the outcomes of the configuration whose median of a figure is lowest."""
    return {name: min(entries, key=lambda entry: range_of(entry, figure).median) for name, entries in found.items()}
