"""Learning in rounds by workers of this machine beside one process: `python benchmarks/rounds.py --rows 12000000`.

Rows of 20 numbers in four Parquet files, labels by a rule of them with noise. Seconds are those of the whole command,
the processor's those of all its processes: no number of workers is faster than these divided by the processors.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

COLUMNS, FILES, GROUP = 20, 4, 250_000


def made(folder: Path, rows: int) -> list[Path]:
    """The files, made if they are not there."""
    folder.mkdir(exist_ok=True)
    rule = np.random.default_rng(0).normal(size=COLUMNS)
    paths = [folder / f"rounds-{rows}-{number}.parquet" for number in range(FILES)]
    names = [f"x{k}" for k in range(COLUMNS)]
    schema = pyarrow.schema([("label", pyarrow.int8()), *((name, pyarrow.float64()) for name in names)])
    for number, path in enumerate(paths):
        if path.exists():
            continue
        rng = np.random.default_rng(number + 1)
        with pyarrow.parquet.ParquetWriter(path, schema) as writer:
            for start in range(0, rows // FILES, GROUP):
                X = rng.normal(size=(min(GROUP, rows // FILES - start), COLUMNS))
                labels = X @ rule / 2.0 + rng.logistic(size=len(X)) > 0.0
                writer.write_table(pyarrow.table([labels.astype(np.int8), *X.T], schema=schema))
    return paths


def run(learner: str, paths: list[Path], options: list[str]) -> tuple[float, float, float]:
    """Seconds of a training, seconds of processors, and its log loss."""
    command = [sys.executable, "-m", "ouzel", "train", *map(str, paths), "--learner", learner, "--json", *options]
    begun, before = time.perf_counter(), os.times()
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - begun, used, answer["log_loss"] or answer["mean_loss"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--merge-every", default="10000")
    parser.add_argument("--learners", default="adagrad,awm")
    given = parser.parse_args()
    paths = made(Path(tempfile.gettempdir(), "ouzel-bench"), given.rows)
    print(f"{'learner':<10}{'how':<12}{'seconds':>9}{'of processors':>15}{'log loss':>10}{'times as fast':>15}")
    for learner in given.learners.split(","):
        alone = 0.0
        for how, options in (
            ("one process", []),
            (f"{given.workers} workers", ["--workers", str(given.workers), "--merge-every", given.merge_every]),
        ):
            seconds, used, loss = min(run(learner, paths, options) for _ in range(2))
            alone = alone or seconds
            print(
                f"{learner:<10}{how:<12}{seconds:>9.1f}{used:>15.1f}{loss:>10.5f}{alone / seconds:>15.2f}", flush=True
            )


if __name__ == "__main__":
    main()
