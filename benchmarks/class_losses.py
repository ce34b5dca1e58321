"""Compare the default with single learners, by the hinge losses of classes and as a ranker.

Mistakes and mean losses are of predictions before learning, on the blocks of a set that have its first 6,000 examples,
each shuffled. The default's mistakes are the same by every loss. Losses of more than two classes cannot be compared:
`adagrad` adds up those of each class against the rest. Rankings are measured by average precision, of scores from
before a group is learnt.
"""

from __future__ import annotations

import argparse
import lzma
from pathlib import Path

import numpy as np

import ouzel
from ouzel.model.model import Model
from ouzel.streams.block import Block
from ouzel.streams.concatenation import concatenate

LOSSES = "hinge", "squared-hinge"
LEARNERS = "auto", "adagrad"
SETS = (
    "a9a.svm.xz", "phishing.svm.xz", "heart.svm.xz", "australian.svm.xz", "diabetes.svm.xz", "ijcnn1.svm.xz",
    "rcv1_binary_sample.svm.xz", "mushrooms.svm.xz", "vowel.svm.xz", "segment.scale.svm.xz", "satimage.scale.t.svm.xz",
    "pendigits.t.svm.xz", "usps.t.svm.xz",
)  # fmt: skip
RANKERS = "auto", "arow", "adagrad-rda"
RANKINGS = "mq2008.test", "mq2008.vali", "rank_lgb.train", "rank_lgb.test"
MOST = 6_000


def shuffled(path: Path) -> list[Block]:
    """The first blocks of a set, each shuffled."""
    random, blocks, rows = np.random.default_rng(1), list[Block](), 0
    for block in ouzel.read(path):
        blocks.append(block)
        rows += block.rows
        if rows >= MOST:
            break
    return [block.select(random.permutation(block.rows)) for block in blocks]


def precision_of(learner: str, folder: Path, name: str) -> float:
    """The average precision of a learner on a set of groups."""
    path, sizes = folder / f"{name}.svm.xz", folder / f"{name}.query.txt.xz"
    found: list[Block] = list(ouzel.read(path))
    block = concatenate(found)
    if sizes.exists():
        counts = [int(line) for line in lzma.decompress(sizes.read_bytes()).split()]
        block = block._replace(groups=np.repeat(np.arange(len(counts)), counts))
    report = ouzel.progressive_validation(Model(learner, task="ranking"), [block])
    return float(report.average_precision or 0.0)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    folder = parser.parse_args().data
    print("| set | mistakes: " + " | ".join(["`auto`", *(f"`adagrad`, {loss}" for loss in LOSSES)]), end=" | ")
    print(" | ".join(f"{loss}: `auto` | `adagrad`" for loss in LOSSES), "|")
    print("| --- |" + " ---: |" * 7)
    for name in SETS:
        blocks, mistakes, losses = shuffled(folder / name), [], []
        for loss in LOSSES:
            reports = [ouzel.progressive_validation(Model(learner, loss=loss), blocks) for learner in LEARNERS]
            mistakes += [report.error_rate for report in reports]
            several = len(reports[0].classes) > 2
            losses += ["–" if several else f"{report.mean_loss:.4f}" for report in reports]
        kept = [f"{error:.4f}" for error in (mistakes[0], mistakes[1], mistakes[3])]
        print(f"| {name.split('.')[0]} | {' | '.join([*kept, *losses])} |", flush=True)
    print(f"\n| set | {' | '.join(RANKERS)} |", "| --- |" + " ---: |" * len(RANKERS), sep="\n")
    for name in RANKINGS:
        print(f"| {name} | {' | '.join(f'{precision_of(one, folder, name):.3f}' for one in RANKERS)} |", flush=True)


if __name__ == "__main__":
    main()
