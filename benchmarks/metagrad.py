"""Regret of MetaGrad, AdaGrad and gradient descent against the best fixed weights u, which the first three know of.

    python benchmarks/metagrad.py --data ../shared/data

The protocol of van Erven, Koolen & van der Hoeven (2021): columns scaled to [-1, 1], an intercept, one pass in random
order, weights up to 3 |u|, AdaGrad and gradient descent at the steps that their bounds on regret want: 4 |u| / sqrt(2),
with the largest absolute weight for AdaGrad, and for gradient descent with the length of u, divided by that of the
longest example (whose weights are not cut here). Full MetaGrad is told of the length of u, and predicts within three
times what u does. Then the same learners without knowledge of u: MetaGrad and AdaGrad as they come, and the diagonal
ones at the best of thirteen radii or steps, from 2^-10 to 2^14. Numbers are in units of their spread. `--times` prints
microseconds an example in place of all that.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from coin_betting import STEPS, sets_of_numbers
from sketch_extensions import read

import ouzel
from ouzel.comparison.hindsight import Fixed, best_fixed
from ouzel.comparison.regret import examples_of
from ouzel.comparison.shuffles import join
from ouzel.evaluation.progressive import progressive_validation
from ouzel.model.model import Model
from ouzel.streams.block import Block
from ouzel.terms.losses import Absolute, Hinge, Logistic, Squared

SETS = (
    *("a9a", "australian", "breast-cancer_scale", "covtype_sample", "diabetes", "heart", "ijcnn1", "phishing", "w1a"),
    *("mushrooms", "usps"),
)
MOST = 50_000  # examples of a set
HEADS = (
    *("full, 3 \\|u\\|", "`metagrad`, 3 \\|u\\|", "`adagrad`, step of u", "`ogd`, step of u"),
    *("full", "`metagrad`", "`adagrad`", "`metagrad`, best radius", "`adagrad`, best step"),
)


def prepared(blocks: list[Block], seed: int = 1) -> Block:
    """Examples in random order, each column scaled to [-1, 1]."""
    whole = join(blocks)
    offsets, indices = whole.offsets.astype(np.int64), whole.indices.astype(np.int64)
    X = np.zeros((whole.rows, int(indices.max()) + 1))
    X[np.repeat(np.arange(whole.rows), np.diff(offsets)), indices] = whole.values
    chosen = np.random.default_rng(seed).permutation(whole.rows)[:MOST]
    low, high = X.min(axis=0), X.max(axis=0)
    varied = high > low
    if (X != 0.0).mean() > 0.2:  # a sparse set stays sparse; all of them here lie in [-1, 1]
        X[:, varied] = 2.0 * (X - low)[:, varied] / (high - low)[varied] - 1.0
    return join(ouzel.blocks_from(X[chosen].astype(np.float32), whole.labels[chosen]))


def streams(data: Path) -> Iterator[tuple[str, Block, Any]]:
    """Yield names, examples and losses."""
    for name in SETS:
        block = prepared(read(next(data.glob(f"{name}.svm.xz")), 10**6))
        yield from ((name, block, loss) for loss in (Logistic(), Hinge()))
    for name, blocks in sets_of_numbers(data):
        block = prepared(blocks)
        block = block._replace(labels=(block.labels - block.labels.mean()) / block.labels.std())
        yield from ((name, block, loss) for loss in (Absolute(), Squared()))


def total_loss(block: Block, loss: Any, learner: str, **settings: Any) -> float:
    """Loss of one pass."""
    how = {"scale_targets": False} if isinstance(loss, (Absolute, Squared)) else {}
    report = progressive_validation(
        Model(learner, loss=loss, standardize=False, **how, **settings), [block], on_progress=lambda run: None
    )
    return float(report.mean_loss) * block.rows


def losses_of(block: Block, loss: Any) -> tuple[Fixed, list[float]]:
    """Return the best fixed weights, and the losses of one pass in the order of `HEADS`."""
    model = Model("adagrad", loss=loss, standardize=False)
    model.learn(block)  # it knows the classes then
    examples = examples_of(block, model, model.intercept)
    best = best_fixed(*examples, loss=loss)
    widest, length = np.abs(best.weights).max(), np.linalg.norm(best.weights)
    longest = np.sqrt(examples.matrix.power(2).sum(axis=1).max())
    ours = {"radius": 3.0 * widest}, {"penalty": f"box(low={-3.0 * widest},high={3.0 * widest})"}
    full = {"full": True, "radius": 3.0 * length, "largest": 3.0 * np.abs(examples.matrix @ best.weights).max()}
    return best, [
        total_loss(block, loss, "metagrad", **full),
        total_loss(block, loss, "metagrad", **ours[0]),
        total_loss(block, loss, "adagrad", learning_rate=4.0 * widest / np.sqrt(2.0), **ours[1]),
        total_loss(block, loss, "ogd", learning_rate=4.0 * length / (np.sqrt(2.0) * longest)),
        total_loss(block, loss, "metagrad", full=True, largest=10.0),
        total_loss(block, loss, "metagrad"),
        total_loss(block, loss, "adagrad"),
        min(total_loss(block, loss, "metagrad", radius=radius) for radius in STEPS),
        min(total_loss(block, loss, "adagrad", learning_rate=step) for step in STEPS),
    ]


def print_times(data: Path) -> None:
    """Print microseconds an example, the least of three passes over 4,000 examples."""
    kinds = {"full": ("metagrad", {"full": True}), **{name: (name, {}) for name in ("metagrad", "ons", "adagrad")}}
    print(f"| set | {' | '.join(kinds)} |\n|{' --- |' * (1 + len(kinds))}")
    for name in ("ijcnn1", "covtype_sample", "a9a", "usps"):
        block = prepared(read(next(data.glob(f"{name}.svm.xz")), 10**6)).select(np.arange(4000))
        cells = []
        for learner, settings in kinds.values():
            seconds = []
            for _ in range(3):
                model = Model(learner, loss="logistic", standardize=False, **settings)
                before = time.perf_counter()
                model.learn(block)
                seconds.append(time.perf_counter() - before)
            cells.append(f"{1e6 * min(seconds) / block.rows:.1f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print a table of regrets."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--times", action="store_true")
    given = parser.parse_args()
    if given.times:
        print_times(given.data)
        return
    print(f"| set | loss | T | u: loss, largest weight | {' | '.join(HEADS)} |\n|{' --- |' * (4 + len(HEADS))}")
    for name, block, loss in streams(given.data):
        best, losses = losses_of(block, loss)
        mark = " (ridge)" if best.ridge else ""
        cells = [f"{block.rows:,}", f"{best.loss:.4g}{mark}, {np.abs(best.weights).max():.3g}"]
        cells += [f"{loss_of_one - best.loss:.4g}" for loss_of_one in losses]
        print(f"| {name} | {type(loss).__name__.lower()} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
