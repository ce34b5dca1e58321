"""Error of one pass of `sketched-adagrad` over steps, beside the learners that it is related to, on raw features.

    python benchmarks/sketched_adagrad.py --data ../shared/data

Prints for each data set and learner the error at the best of nine steps and microseconds an example at the fastest.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from sketch_extensions import read

from ouzel.evaluation.progressive import progressive_validation
from ouzel.model.model import Model
from ouzel.streams.block import Block

SETS = ("australian", "heart", "diabetes", "ijcnn1", "a9a", "mushrooms", "phishing", "w1a")
FEW = SETS[:4]  # of few features, on which the full matrix is tried
STEPS = [2.0**k for k in range(-12, 5, 2)]
MOST = 8000  # examples of a set
LEARNERS: dict[str, dict[str, Any]] = {
    "sketched-adagrad": {},
    "adagrad-full": {},
    "adagrad": {},
    "son-fd": {"diagonal": False},
}


def figures_of(blocks: list[Block], learner: str) -> tuple[float, float]:
    """Error at the best step, and microseconds an example at the fastest step."""
    errors, seconds = [], []
    for step in STEPS:
        model = Model(learner, learning_rate=step, **LEARNERS[learner])
        begin = time.perf_counter()
        errors.append(progressive_validation(model, blocks, on_progress=lambda run: None).error_rate)
        seconds.append(time.perf_counter() - begin)
    return min(errors), min(seconds) / sum(block.rows for block in blocks) * 1e6


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    data = parser.parse_args().data
    print(f"| set | {' | '.join(LEARNERS)} |\n| --- {'| --- ' * len(LEARNERS)}|")
    for name in SETS:
        blocks = read(next(data.glob(f"{name}*.svm.xz")), MOST)
        cells = []
        for learner in LEARNERS:
            if learner == "adagrad-full" and name not in FEW:
                cells.append("")
                continue
            error, micros = figures_of(blocks, learner)
            cells.append(f"{error:.4f} ({micros:.1f})")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
