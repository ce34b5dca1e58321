"""Progressive error with no setting at all, beside Vowpal Wabbit's, on the same examples in the same order.

Vowpal Wabbit's columns: its defaults with the logistic loss and with the squared one, which is its own default, and the
best of three losses at seven step sizes, chosen after the fact for each set. Several classes go to it as `--oaa`.
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from ouzel.evaluation.progressive import progressive_validation
from ouzel.model.model import Model
from ouzel.streams.block import Block
from ouzel.streams.read import read

SETS = {
    "a9a.svm.xz": {},
    "rcv1_binary_sample.svm.xz": {},
    "ijcnn1.t.svm.xz": {},
    "covtype_sample.svm.xz": {"label_positive": "2"},
    "phishing.svm.xz": {},
    "mushrooms.svm.xz": {},
    "20news.svm.xz": {},
    "mnist.train-images-idx3-ubyte.gz": {},
    "usps.svm.xz": {},
    "pendigits.svm.xz": {},
}


LOSSES = ("logistic", "squared", "hinge")
RATES = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
DEFAULT_RATE = 0.5  # Vowpal Wabbit's own


def write_vw(blocks: list[Block], path: Path) -> int:
    """Write blocks as Vowpal Wabbit text; return the number of classes."""
    classes = np.unique(np.concatenate([block.labels for block in blocks]))
    with path.open("w") as file:
        for block in blocks:
            places = np.searchsorted(classes, block.labels)
            for i, place in enumerate(places):
                here = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
                pairs = zip(block.indices[here].tolist(), block.values[here].tolist(), strict=True)
                label = 2 * place - 1 if len(classes) == 2 else place + 1
                file.write(f"{label} |" + "".join(f" {j}:{x:.8g}" for j, x in pairs) + "\n")
    return len(classes)


def vw_error(path: Path, classes: int, loss: str, rate: float = DEFAULT_RATE) -> float:
    """Average progressive 0/1 loss that Vowpal Wabbit reports."""
    kind = "--binary" if classes == 2 else f"--oaa {classes}"
    command = f"{sys.executable} -m vowpalwabbit --data {path} --cache --loss_function {loss} -l {rate} {kind}"
    done = subprocess.run(command.split(), capture_output=True, text=True, check=True)
    return float(re.findall(r"average loss = ([\d.]+)", done.stdout + done.stderr)[-1])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--no-tuning", action="store_true", help="leave out the column of the tuned peer")
    given = parser.parse_args()
    data = given.data
    print(f"{'set':34} {'ouzel':>8} {'vw logistic':>12} {'vw squared':>11} {'vw tuned':>9}  to")
    for name, options in SETS.items():
        if not (data / name).exists():
            print(f"{name:34} is not in {data}")
            continue
        blocks = list(read(data / name, **options))
        ours = progressive_validation(Model(), blocks).error_rate
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "examples.vw")
            classes = write_vw(blocks, path)
            rates = (DEFAULT_RATE,) if given.no_tuning else RATES
            found = {trial: vw_error(path, classes, *trial) for trial in itertools.product(LOSSES, rates)}
        peers = found["logistic", DEFAULT_RATE], found["squared", DEFAULT_RATE]
        line = f"{name:34} {ours:8.4f} {peers[0]:12.4f} {peers[1]:11.4f}"
        if not given.no_tuning:
            loss, rate = min(found, key=lambda trial: found[trial])
            line += f" {found[loss, rate]:9.4f}  {loss} loss, step size {rate}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
