"""Rare classes: the rarest class of each set against all others, subsampled to a fraction of them.

Sets have 1,500 rows or more, and at most 200 non-zeros a row. Each example is predicted before it is learnt, in one
shuffled order. Figures are means over the sets; those of the log loss are geometric means.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from default_sets import sets

import ouzel
from ouzel.model.model import Model
from ouzel.streams.block import Block

LEARNERS = "auto", "adagrad", "arow"
LEAST, MOST, MOST_NONZEROS, FEWEST = 1500, 20_000, 200, 15


def subsampled(block: Block, part: float) -> Block:
    """Keep all other examples, labelled 0, and `part` times as many of the rarest class, labelled 1."""
    classes, counts = np.unique(block.labels, return_counts=True)
    rare = block.labels == classes[np.argmin(counts)]
    others = np.random.default_rng(5).permutation(np.flatnonzero(~rare))[:MOST]
    few = np.random.default_rng(6).permutation(np.flatnonzero(rare))[: max(FEWEST, int(part * len(others)))]
    chosen = block.select(np.random.default_rng(7).permutation(np.concatenate([few, others])))
    labels = (chosen.labels == classes[np.argmin(counts)]).astype(float)
    return chosen._replace(labels=labels, label_names=None)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--parts", default="0.004,0.04")
    given = parser.parse_args()
    known = [found for found in sets(given.data, []) if found.task != "numbers" and not found.changes]
    blocks = [found.block for found in known]
    blocks = [block for block in blocks if block.rows >= LEAST and block.nonzeros <= MOST_NONZEROS * block.rows]
    print("| rare class | learner | log loss | average precision | F1 | precision | recall |")
    print("| ---: | --- |" + " ---: |" * 5)
    for part in map(float, given.parts.split(",")):
        chosen = [subsampled(block, part) for block in blocks]
        for learner in LEARNERS:
            figures = []
            for block in chosen:
                model = Model(learner, standardize=learner != "auto", classes=[0, 1], loss="logistic")
                found = ouzel.progressive_validation(model, [block])
                shown = found.average_precision, found.f1, found.precision, found.recall
                figures.append([np.log(max(found.log_loss or 1e-9, 1e-9)), *(value or 0.0 for value in shown)])
            loss, *means = np.mean(figures, axis=0).tolist()
            said = " | ".join(f"{value:.3f}" for value in means)
            print(f"| {part:.1%} of the other | {learner} | {np.exp(loss):.4f} | {said} |", flush=True)


if __name__ == "__main__":
    main()
