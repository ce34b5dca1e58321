"""Improper logistic regression and online Newton: errors and mean logistic loss of one pass, each at its best step.

    python benchmarks/aioli.py --data ../shared/data

Features as they are, some 4,000 examples of each set, nine steps from 2^-12 to 2^4, B R of 0, 1 and 10.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sketch_extensions import read

from ouzel.evaluation.progressive import progressive_validation
from ouzel.model.model import Model
from ouzel.streams.block import Block

SETS = ("australian", "heart", "diabetes", "breast-cancer_scale", "ijcnn1")
STEPS = [2.0**k for k in range(-12, 5, 2)]
MOST = 4000  # examples of a set


def best(blocks: list[Block], learner: str, **settings: Any) -> str:
    """Return the least error and the least loss, as a cell."""
    reports = [
        progressive_validation(Model(learner, learning_rate=step, **settings), blocks, on_progress=lambda run: None)
        for step in STEPS
    ]
    loss = min(report.mean_loss for report in reports)
    return f"{min(report.error_rate or 0.0 for report in reports):.4f}, {loss:.4f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    data = parser.parse_args().data
    print("| set | `aioli`, B R = 0 | B R = 1 | B R = 10 | `ons` |\n| --- | --- | --- | --- | --- |")
    for name in SETS:
        blocks = read(next(data.glob(f"{name}*.svm.xz")), MOST)
        cells = [best(blocks, "aioli", largest=largest) for largest in (0.0, 1.0, 10.0)]
        print(f"| {name} | {' | '.join([*cells, best(blocks, 'ons')])} |", flush=True)


if __name__ == "__main__":
    main()
