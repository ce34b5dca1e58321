"""Sketched Newton beside AdaGrad, nothing set, on the data of its paper: figure 1's streams, and sets of table 3.

    python benchmarks/untuned_newton.py --data ../shared/data

Errors of figure 1's streams are means over five draws of them. The last column is the largest change of the error of
son-oja, mean of five starts, when features are numbered anew.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from ouzel.model.model import Model
from ouzel.streams.block import Block

sys.path.insert(0, str(Path(__file__).parents[1]))

from reproduce.sketched_newton.figures import source
from reproduce.sketched_newton.sets import SETS, load

LEARNERS = ("adagrad", "son-oja", "son-fd", "son-rp")
MOST = 30_000  # examples of a set
SORTED = ("20news", "magic04", "w1a")  # files in the order of classes: shuffled
DRAWS = 5  # of figure 1's streams
CONDITIONS = (50.0, 100.0, 150.0, 200.0)


def error_of(learner: str, block: Block, **settings: float) -> float:
    """Progressive error of one pass."""
    model = Model(learner, task="classification", classes=[-1, 1], standardize=False, **settings)
    return float(np.mean(~(model.learn(block).margins * block.labels > 0.0)))


def renumbered(block: Block) -> Block:
    """The same examples with features numbered in another order."""
    numbers = np.random.default_rng(1).permutation(int(block.indices.max()) + 1).astype(np.uint32)
    indices = numbers[block.indices]
    order = np.lexsort((indices, np.repeat(np.arange(block.rows), np.diff(block.offsets.astype(np.int64)))))
    return block._replace(indices=indices[order], values=block.values[order])


def row(name: str, *draws: Block) -> str:
    """Errors of all learners, means over draws of a stream, and what numbers of features do."""
    errors = [np.mean([error_of(learner, block) for block in draws]) for learner in LEARNERS]
    numberings = draws[0], renumbered(draws[0])
    means = [np.mean([error_of("son-oja", block, sketch_seed=s) for s in range(5)]) for block in numberings]
    return f"| {name} | " + " | ".join(f"{error:.4f}" for error in errors) + f" | {abs(means[1] - means[0]):.4f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data", type=Path)
    parser.add_argument("--sets", default="a9a,breast-cancer,heart,ijcnn1,magic04,mushrooms,rcv1,w1a,20news")
    given = parser.parse_args()
    print("| stream | " + " | ".join(LEARNERS) + " | numbered anew |")
    for condition in CONDITIONS:
        draws = [source(seed).block(condition) for seed in range(DRAWS)]
        print(row(f"condition number {condition:g}", *draws), flush=True)
    for name in filter(None, given.sets.split(",")):
        block = load(given.data, SETS[name])
        if name in SORTED:
            block = block.select(np.random.default_rng(0).permutation(block.rows))
        print(row(name, block.select(np.arange(min(MOST, block.rows)))), flush=True)


if __name__ == "__main__":
    main()
