"""Error of one pass of `son-fd` with and without `robust`, over eleven steps, on features as they are.

    python benchmarks/robust_directions.py --data ../shared/data

Prints for each data set the error at the best step, the mean of the best five and of all, and microseconds an example.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from sketch_extensions import read

from ouzel.evaluation.progressive import progressive_validation
from ouzel.model.model import Model
from ouzel.streams.block import Block

SETS = ("australian", "heart", "diabetes", "a9a", "mushrooms", "phishing", "ijcnn1", "w1a")
STEPS = [2.0**k for k in range(-14, 7, 2)]
MOST = 8000  # examples of a set


def figures_of(blocks: list[Block], robust: bool) -> tuple[float, float, float, float]:
    """Error at the best step, mean of the best five and of all; microseconds an example at the fastest step."""
    errors, seconds = [], []
    for step in STEPS:
        model = Model("son-fd", robust=robust, learning_rate=step, diagonal=False)
        begin = time.perf_counter()
        errors.append(progressive_validation(model, blocks, on_progress=lambda run: None).error_rate)
        seconds.append(time.perf_counter() - begin)
    errors.sort()
    rows = sum(block.rows for block in blocks)
    return errors[0], float(np.mean(errors[:5])), float(np.mean(errors)), min(seconds) / rows * 1e6


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    data = parser.parse_args().data
    print("| set | FD: best | best five | all | us | robust: best | best five | all | us |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in SETS:
        path = next(data.glob(f"{name}*.svm.xz"))
        blocks = read(path, MOST)
        both = [figures_of(blocks, robust) for robust in (False, True)]
        cells = [f"{best:.4f} | {five:.4f} | {every:.4f} | {micros:.1f}" for best, five, every, micros in both]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
