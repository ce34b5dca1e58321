"""What the default makes of columns in other units and from other zeros: its errors, and their ratios to those.

Every column is multiplied by a number from 1e-6 to 1e6; before that, dense ones or all are shifted by up to 10,000
of their standard deviations.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from default_peers import ours
from default_sets import in_order, sets

import ouzel
from ouzel.streams.block import Block

SETS = (
    "wine (scikit-learn),breast_cancer (scikit-learn),iris (scikit-learn),digits (scikit-learn),"
    "diabetes (scikit-learn),Bananas (River),ImageSegments (River),magic04,electricity,shuttle,australian,"
    "covtype_sample,ijcnn1,pendigits,satimage,segment,vowel,vehicle_sensit_sample"
)
DENSE = 0.5  # of the examples


def dense_of(block: Block, width: int) -> np.ndarray:
    """Examples as a matrix."""
    X = np.zeros((block.rows, width))
    rows = np.repeat(np.arange(block.rows), (block.offsets[1:] - block.offsets[:-1]).astype(np.int64))
    X[rows, block.indices] = block.values
    return X


def error(task: str, X: np.ndarray, y: np.ndarray) -> float:
    """The default's progressive error."""
    (block,) = ouzel.blocks_from(X.astype(np.float32), y, block_rows=len(y))
    return ours("auto")(task, block)


def main() -> None:
    """Print a line a set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--shuffles", type=int, default=3)
    parser.add_argument("--rows", type=int, default=4_000, help="maximum number of examples of each set")
    given = parser.parse_args()
    print(
        "| set | error | other units | and dense ones shifted | and all shifted |\n| --- | ---: | ---: | ---: | ---: |"
    )
    for one in sets(given.data, SETS.split(",")):
        found = []
        for seed in range(1, given.shuffles + 1):
            block, random = in_order(one.block, seed, given.rows), np.random.default_rng(seed)
            X, y = dense_of(block, int(one.block.indices.max()) + 1), block.labels
            unit, shift = (
                10.0 ** random.uniform(-6, 6, X.shape[1]),
                random.uniform(-1e4, 1e4, X.shape[1]) * X.std(axis=0),
            )
            dense = (X != 0.0).mean(axis=0) >= DENSE
            changed = (X, X * unit, (X + shift * dense) * unit, (X + shift) * unit)
            found.append([error(one.task, other, y) for other in changed])
        first, *others = np.mean(found, axis=0)
        print(
            f"| {one.name} | {first:.4g} | " + " | ".join(f"{other / first:.3f}" for other in others) + " |", flush=True
        )


if __name__ == "__main__":
    main()
