"""Coin betting compared with gradient descent and AdaGrad, at the best step of each set and at the best for all sets.

    python benchmarks/coin_betting.py --data ../shared/data

One pass with the hinge, or with the absolute loss of numbers in units of their spread; up to 20,000 examples of a set.
Thirteen steps from 2^-10 to 2^14. The best default of a learner is the step whose loss, as a multiple of the least of
that learner on the set, has the smallest geometric mean over the sets. Features as they are, then rows of length 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sketch_extensions import read

import ouzel
from ouzel.evaluation.progressive import progressive_validation
from ouzel.model.model import Model
from ouzel.streams.block import Block

SETS = (
    *("a9a", "w1a", "ijcnn1", "phishing", "mushrooms", "rcv1_binary_sample", "covtype_sample", "usps", "pendigits"),
    *("australian", "heart", "diabetes", "breast-cancer_scale"),
)
STEPS = [2.0**k for k in range(-10, 15, 2)]
RIVALS = ("ogd", "adagrad")
MOST = 20_000  # examples of a set


def sets_of_numbers(data: Path) -> Iterator[tuple[str, list[Block]]]:
    """Yield streams with numbers to predict: the price and the demand of electricity, and the course of diabetes."""
    from sklearn.datasets import load_diabetes

    rows = np.loadtxt(data / "electricity.csv.xz", delimiter=",", skiprows=1, usecols=range(6), max_rows=MOST)
    for column, name in enumerate(("first", "second", "third", "fourth", "fifth", "sixth")):
        if column in (2, 3):
            others = np.delete(rows, column, axis=1)
            yield f"electricity, {name} column", list(ouzel.blocks_from(others, rows[:, column]))
    yield "diabetes of scikit-learn", list(ouzel.blocks_from(*load_diabetes(return_X_y=True)))


def of_length_1(block: Block) -> Block:
    """The examples, each divided by its length."""
    lengths = np.diff(block.offsets.astype(np.int64))
    row = np.repeat(np.arange(block.rows), lengths)
    squares = np.bincount(row, weights=block.values.astype(np.float64) ** 2, minlength=block.rows)
    scale = 1.0 / np.sqrt(np.where(squares > 0.0, squares, 1.0))
    return block._replace(values=(block.values * scale[row]).astype(np.float32))


def losses_of(blocks: list[Block], loss: str) -> dict[tuple[str, float], float]:
    """Return the mean loss of one pass, by learner and step."""
    found = {}
    for learner, steps in {"coin-betting": [1.0], **dict.fromkeys(RIVALS, STEPS)}.items():
        for step in steps:
            settings = {} if learner == "coin-betting" else {"learning_rate": step}
            report = progressive_validation(
                Model(learner, loss=loss, standardize=False, **settings), blocks, on_progress=lambda run: None
            )
            found[learner, step] = float(report.mean_loss)
    return found


def main() -> None:
    """Print a table for features as they are, and one for rows of length 1."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    data = parser.parse_args().data
    streams = {name: (read(next(data.glob(f"{name}.svm.xz")), MOST), "hinge") for name in SETS}
    streams |= {name: (blocks, "absolute") for name, blocks in sets_of_numbers(data)}
    for title in ("features as they are", "rows of length 1"):
        if title != "features as they are":
            streams = {name: ([*map(of_length_1, blocks)], loss) for name, (blocks, loss) in streams.items()}
        found = {name: losses_of(*stream) for name, stream in streams.items()}
        default = {
            rival: min(STEPS, key=lambda step: np.mean([np.log(losses[rival, step]) for losses in found.values()]))
            for rival in RIVALS
        }
        heads = [f"`{rival}`, {what}" for rival in RIVALS for what in ("best step", f"step {default[rival]:g}")]
        print(f"\n{title}\n\n| set | `coin-betting` | {' | '.join(heads)} |\n|{' --- |' * (2 + len(heads))}")
        for name, losses in found.items():
            least = {rival: min(losses[rival, step] for step in STEPS) for rival in RIVALS}
            cells = [losses["coin-betting", 1.0]]
            cells += [one for rival in RIVALS for one in (least[rival], losses[rival, default[rival]])]
            print(f"| {name} | {' | '.join(f'{cell:.4g}' for cell in cells)} |", flush=True)


if __name__ == "__main__":
    main()
