"""MISSION, BEAR and a second-order step within a byte budget, as rivals of the sketches, at equal bytes.

    python benchmarks/bear.py --data ../shared/data

Sets of the WM-Sketch paper, two classes, at most `--rows` examples in random orders. First table of a set: online
error of one pass, the mean of three orders. Rate, constant feature or none, and a learner's own settings below are
chosen by the error on a fourth order. Second table: recovery of the 128 heaviest weights as in that paper, at its
rate of 0.1, with the constant feature: relative error against `unbounded` (1 is perfect), and the share of its 128
features in the list.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product
from pathlib import Path
from typing import Any

import active_directions
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))


from ouzel.comparison.recovery import recovery_error
from ouzel.model.model import Model
from ouzel.streams.block import Block
from reproduce.provenance import DataFolder
from reproduce.wm_sketch.budget_trials import KILOBYTES, L2, load, one_pass

SETS = ("RCV1", "URL", "KDD Algebra")
RATES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
TOP = 128
ORDERS = (1, 2, 3)  # to measure on
CHOOSING = 0
CANDIDATES: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "`awm`": ("awm", [{}]),
    "`awm`, rates per feature": ("awm", [{"per_feature": True}]),
    "`wm`": ("wm", [{}]),
    "`mission`": ("mission", [{}]),
    "`bear`": ("bear", [{"damping": 1.0}, {"damping": 10.0}]),
    "`awm` with directions": (active_directions.NAME, [{"directions": 1.0}, {"directions": 2.0}]),
}


def share_found(model: Model, reference: Model) -> float:
    """The part of the reference's heaviest features that are among the model's heaviest."""
    true = np.argsort(-np.abs(reference.weights()[0]), kind="stable")[:TOP] - 1
    return len({feature for feature, _ in model.top(TOP)[0]} & set(true.tolist())) / TOP


def size_of(learner: str, kilobytes: int, uncounted: bool) -> dict[str, Any]:
    """The settings of a budget; uncounted directions come on top of the active set and the sketch that `awm` has."""
    budget = 1024 * kilobytes
    sizes = {"heap_size": budget // 16, "width": budget // 8} if uncounted and learner == active_directions.NAME else {}
    return {"budget": budget, "l2": L2, **sizes}


def compare(name: str, orders: dict[int, Block], uncounted: bool) -> None:
    """Print both tables of a set."""
    references = {k: one_pass("unbounded", orders[k], l2=L2)[0] for k in ORDERS}
    errors, recoveries = [], []
    for title, (learner, variants) in CANDIDATES.items():
        if uncounted and title not in ("`awm`", "`awm` with directions"):
            continue
        error_cells, recovery_cells = [], []
        for kilobytes in KILOBYTES:
            size = size_of(learner, kilobytes, uncounted)
            grid = [
                {**size, **variant, "learning_rate": rate, "intercept": intercept}
                for variant, rate, intercept in product(variants, RATES, (True, False))
            ]
            best = min(grid, key=lambda given: one_pass(learner, orders[CHOOSING], **given)[1])
            error_cells.append(f"{np.mean([one_pass(learner, orders[k], **best)[1] for k in ORDERS]):.4f}")
            models = {k: one_pass(learner, orders[k], **size, **variants[0])[0] for k in ORDERS}
            assert uncounted or all(model.bytes_used <= size["budget"] for model in models.values())
            relative = np.mean([recovery_error(models[k], references[k], TOP) for k in ORDERS])
            found = np.mean([share_found(models[k], references[k]) for k in ORDERS])
            recovery_cells.append(f"{relative:.2f}, {100 * found:.0f} %")
            print(title, kilobytes, best, file=sys.stderr, flush=True)
        errors.append(f"| {title} | {' | '.join(error_cells)} |")
        recoveries.append(f"| {title} | {' | '.join(recovery_cells)} |")
    sizes = " | ".join(f"{kilobytes} KB" for kilobytes in KILOBYTES)
    for what, rows in (("error", errors), ("recovery", recoveries)):
        rule = f"|{' --- |' * (len(KILOBYTES) + 1)}"
        print(f"| {name}: {what} | {sizes} |", rule, *rows, sep="\n", end="\n\n", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--uncounted", action="store_true", help="awm alone, and with directions that cost no bytes")
    given = parser.parse_args()
    for name, block in load(DataFolder(given.data), [], quick=False, names=given.sets).items():
        orders = {}
        for k in (CHOOSING, *ORDERS):
            orders[k] = block.select(np.random.default_rng(k).permutation(block.rows)[: given.rows])
        compare(name, orders, given.uncounted)


if __name__ == "__main__":
    main()
