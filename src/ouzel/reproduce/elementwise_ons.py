"""Tables 3 to 6 and figures 1 to 4 of the element-wise Newton paper, and the same on further sets of many classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ouzel.evaluation.grids import Candidate
from ouzel.evaluation.plots import draw_panels
from ouzel.evaluation.shuffles import Summary, compare_orders, join
from ouzel.reproduce.writing import markdown_table, signed, write_report
from ouzel.streams.block import Block
from ouzel.streams.reading import read

NAME = "elementwise-ons-tables"
ORDERS = 20
GAUSSIAN = ("cw", "arow", "scw1", "scw2")
MOST_FEATURES = 1024  # of a set on which full covariances are kept
PRIOR = 2.0  # of a margin: the variance 1 that LIBOL gives each of the two classes' weights


class DataSet(NamedTuple):
    """Where a set lies and what is done to it."""

    files: tuple[str, ...]
    rows: int | None = None  # so many examples are drawn
    scaled: bool = False  # each feature divided by its largest magnitude
    one_hot: bool = False  # numbers are codes: a feature for each


class Published(NamedTuple):
    """Rounds, and by learner the rate of mistakes and the number of updates."""

    rounds: int
    figures: dict[str, tuple[float, float]]


SETS = {
    "satimage": DataSet(("satimage.scale.svm.xz",), rows=3104),
    "mnist": DataSet(("mnist.train-images-idx3-ubyte.gz",)),
    "usps": DataSet(("usps.svm.xz",)),
    "pendigits": DataSet(("pendigits.svm.xz",), scaled=True),
    "segment": DataSet(("segment.scale.svm.xz",)),
    "shuttle": DataSet(("shuttle.tsv.xz",), scaled=True),
    "vowel": DataSet(("vowel.svm.xz",)),
    "dna": DataSet(("dna.tsv.xz",)),
    "connect-4": DataSet(("connect-4.tsv.xz",), one_hot=True),
    "covtype": DataSet(("covtype_sample.svm.xz",), scaled=True),
    "sector": DataSet(("sector.scale.svm.xz",)),
    "20 newsgroups": DataSet(("news20.svm.xz",)),
}

PUBLISHED = {
    "satimage": Published(
        3104,
        {
            "cw": (0.191, 907.2),
            "arow": (0.172, 2106.6),
            "scw1": (0.153, 795.2),
            "scw2": (0.157, 1004.8),
            "elementwise-ons": (0.171, 1321.2),
        },
    ),
    "mnist": Published(
        60000,
        {
            "cw": (0.133, 15310.4),
            "arow": (0.446, 29992.8),
            "scw1": (0.188, 13809.0),
            "scw2": (0.130, 15207.0),
            "elementwise-ons": (0.111, 21063.4),
        },
    ),
    "acoustic": Published(
        78823,
        {
            "cw": (0.413, 48342.6),
            "arow": (0.321, 77391.6),
            "scw1": (0.344, 35305.4),
            "scw2": (0.322, 69253.4),
            "elementwise-ons": (0.343, 31932.2),
        },
    ),
    "protein": Published(
        17766,
        {
            "cw": (0.432, 11742.4),
            "arow": (0.342, 17012.4),
            "scw1": (0.374, 9312.2),
            "scw2": (0.348, 11848.4),
            "elementwise-ons": (0.406, 15525.0),
        },
    ),
}


def load(data: Path, chosen: DataSet) -> Block:
    """The set as one block, its features numbered without gaps."""
    with read([str(data / file) for file in chosen.files]) as stream:
        block = join(stream)
    if chosen.rows is not None and chosen.rows < block.rows:
        block = block.select(np.random.default_rng(0).permutation(block.rows)[: chosen.rows])
    keys = block.indices.astype(np.int64)
    if chosen.one_hot:  # a code of 0 is not stored: it is the feature that the others leave out
        keys = keys * 1024 + block.values.astype(np.int64)
        block = block._replace(values=np.ones_like(block.values))
    features, indices = np.unique(keys, return_inverse=True)
    if chosen.scaled:
        largest = np.zeros(len(features), np.float32)
        np.maximum.at(largest, indices, np.abs(block.values))
        block = block._replace(values=block.values / np.where(largest > 0.0, largest, 1.0)[indices])
    return block._replace(indices=indices.astype(np.uint32))


def candidates(features: int) -> list[Candidate]:
    """The paper's learners: its own, and LIBOL's with diagonal and (on few features) full covariance."""
    names = [*GAUSSIAN, *(f"{name}-full" for name in GAUSSIAN if features <= MOST_FEATURES)]
    return [
        Candidate("elementwise-ons", None, None, None, {}),
        *(Candidate(name, None, None, None, {"prior": PRIOR}) for name in names),
    ]


def rows_of_table(name: str, found: Sequence[Summary]) -> list[list[str]]:
    """Published beside ours, a line a learner; the published learners kept full covariances."""
    lines = []
    published = PUBLISHED.get(name)
    compared = {entry.candidate.learner for entry in found if entry.candidate.learner.endswith("-full")}
    for entry in found:
        learner, row, rounds = entry.candidate.learner, entry.row(), int(entry.examples[-1])
        theirs = None
        if published is not None and f"{learner}-full" not in compared:
            theirs = published.figures.get(learner.removesuffix("-full"))
        mean, spread = row["error"]
        lines.append(
            [
                name,
                learner,
                "" if theirs is None else f"{theirs[0]:.3f}",
                f"{mean:.3f} ± {spread:.3f}",
                "" if theirs is None else signed(mean - theirs[0]),
                "" if theirs is None or published is None else f"{theirs[1] / published.rounds:.3f}",
                f"{row['updates'][0] / rounds:.3f}",
                f"{row['seconds'][0]:.3f}",
            ]
        )
    return lines


def draw(found: Sequence[Summary], path: Path) -> None:
    """The paper's three figures of a set: rate of mistakes, updates and seconds so far."""
    panels = {}
    for title, lines in {
        "cumulative rate of mistakes": lambda entry: entry.mistakes / entry.examples,
        "updates": lambda entry: entry.updates,
        "seconds": lambda entry: entry.seconds,
    }.items():
        panels[title] = {
            entry.candidate.learner: (entry.examples.tolist(), lines(entry).mean(axis=0).tolist())
            for entry in found
            if entry.candidate.learner.endswith("-full") or entry.candidate.learner == "elementwise-ons"
        }
    draw_panels(panels, str(path), x="examples")


def run(data: Path, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """Write and print the table; draw the figures of the paper's own sets."""
    sets = {"satimage": SETS["satimage"]} if quick else dict(SETS)
    sets |= {path.name.split(".")[0]: DataSet((str(path.resolve()),)) for path in paths}
    orders = 2 if quick else ORDERS
    lines = []
    for name, chosen in sets.items():
        block = load(data, chosen)
        features = 1 + int(block.indices.max())
        found = compare_orders(candidates(features), block, orders, intercept=False)
        lines += rows_of_table(name, found)
        if name in PUBLISHED:
            draw(found, output / (f"{NAME}.png" if name == "satimage" else f"{NAME}-{name}.png"))
        print(f"{name}: {block.rows} examples, {features} features, {orders} orders", flush=True)
    head = ["set", "learner", "published", "mistakes", "difference", "updates, published", "updates", "seconds"]
    title = "Element-wise Newton paper, tables 3 to 6: second-order learners of several classes"
    write_report(output, NAME, title, markdown_table(head, lines), REMARKS, f"ouzel reproduce {NAME}")


REMARKS = """
Progressive mistakes of one pass, mean and standard deviation over 20 random orders (the last column is the mean time);
updates are a share of the examples.
"""
