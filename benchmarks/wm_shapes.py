"""The shape of `wm` within a budget: recovery, error and time by the number of rows and the part that ids have.

    python benchmarks/wm_shapes.py --data ../shared/data

One pass over at most `--rows` examples, three random orders with hash functions of their own; ridge and rate are
those of the WM-Sketch paper. Figures: relative error of the 128 heaviest weights against `unbounded` (1 is perfect),
the share of its 128 features that is named, the online error, nanoseconds a non-zero. A shape is chosen on `CHOOSING`;
the other sets are printed to judge the choice by.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bear import TOP, share_found

sys.path.insert(0, str(Path(__file__).parents[1]))

from ouzel.comparison.recovery import recovery_error
from ouzel.model.model import Model
from ouzel.streams.block import Block
from reproduce.provenance import DataFolder
from reproduce.wm_sketch.budget_trials import L2, load, one_pass, published_shape

CHOOSING, JUDGING = ("RCV1", "KDD Algebra"), ("URL", "20 newsgroups")
KILOBYTES = (2, 4, 8, 16, 32)
DEPTHS = (1, 3, 5, 7, 8, 9, 11)
USUAL = 8
SEEDS = (0, 1, 2)
PAPER = "the paper's"


class Figures(NamedTuple):
    """What a shape comes to on one set."""

    recovery: float
    share: float
    error: float
    nanoseconds: float


def shapes(budget: int) -> dict[str, dict[str, float]]:
    """Settings by title: those of the paper, those of 128 ids or a quarter of the bytes, and other shares of ids."""
    usual = min(128, budget // 32)
    found: dict[str, dict[str, float]] = {PAPER: published_shape(budget)}
    for depth, title, ids in (
        *((depth, "128 ids", usual) for depth in DEPTHS),
        (USUAL, "ids 1/4", budget // 32),
        (USUAL, "ids 1/2", budget // 16),
    ):
        width = (budget - 8 * ids) // (4 * depth)
        found[f"{depth} row{'s' if depth > 1 else ''}, {title}"] = {"heap_size": ids, "depth": depth, "width": width}
    return found


def measured(orders: list[Block], references: list[Model], budget: int, shape: dict[str, Any]) -> Figures:
    """The means over orders, and the least time."""
    rows = []
    for seed, order, reference in zip(SEEDS, orders, references, strict=True):
        model, error, seconds = one_pass("wm", order, l2=L2, budget=budget, sketch_seed=seed, **shape)
        assert model.bytes_used <= budget
        recovery = recovery_error(model, reference, TOP)
        rows.append((recovery, share_found(model, reference), error, 1e9 * seconds / order.nonzeros))
    columns = np.array(rows, np.float64)
    return Figures(*columns[:, :3].mean(axis=0).tolist(), columns[:, 3].min())


def main() -> None:
    """Print a table for each budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--budgets", nargs="+", type=int, default=KILOBYTES, help="in KB")
    given = parser.parse_args()
    sets = load(DataFolder(given.data), [], quick=False, names=(*CHOOSING, *JUDGING))
    orders = {
        name: [block.select(np.random.default_rng(seed).permutation(block.rows)[: given.rows]) for seed in SEEDS]
        for name, block in sets.items()
    }
    references = {name: [one_pass("unbounded", order, l2=L2)[0] for order in here] for name, here in orders.items()}
    for kilobytes in given.budgets:
        budget = 1024 * kilobytes
        print(f"| {kilobytes} KB | {' | '.join(orders)} | ns a non-zero |")
        print(f"|{' --- |' * (len(orders) + 2)}")
        for title, shape in shapes(budget).items():
            found = [measured(orders[name], references[name], budget, shape) for name in orders]
            cells = [f"{one.recovery:.2f}, {100 * one.share:.0f} %, {one.error:.4f}" for one in found]
            print(f"| {title} | {' | '.join(cells)} | {found[0].nanoseconds:.0f} |", flush=True)
        print()


if __name__ == "__main__":
    main()
