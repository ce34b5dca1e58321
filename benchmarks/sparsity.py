"""How few non-zero weights each method needs for an error: l1 by AdaGrad, plain learners and Vowpal Wabbit, on RCV1.

A quarter is held out; one pass, logistic loss, no constant feature, every l1 strength with every step size. The table
gives, for several errors on the held-out quarter, the fewest non-zeros with which a method got there. Vowpal Wabbit
truncates the weights it saves only with --predict_only_model.
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
from default_peers import write_vw

from ouzel.comparison.shuffles import join
from ouzel.plotting.axes import draw_lines
from ouzel.streams.block import Block
from ouzel.streams.read import read

sys.path.insert(0, str(Path(__file__).parents[1]))

from reproduce.adagrad.single_pass import grid, hold_out, one_pass

LEARNERS = ("adagrad-rda", "adagrad", "rda", "fobos")
STRENGTHS = [10.0 ** (k / 3) for k in range(-21, -7)]
VW_STRENGTHS = [10.0 ** (k / 3) for k in range(-18, -7)]
VW_RATES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
TARGETS = (0.045, 0.05, 0.06, 0.08, 0.10)

Point = tuple[int, float]  # non-zeros, error on the held-out part


def our_points(learner: str, train: Block, test: Block) -> list[Point]:
    """A point for each strength and step size."""
    passes = (
        one_pass(learner, step, train, test, loss="logistic", intercept=False, l1=l1)
        for l1 in STRENGTHS
        for step in grid(learner)
    )
    return [(int(np.count_nonzero(found.model.weights()[0])), found.test_error) for found in passes]


def vw_points(train: Block, test: Block) -> list[Point]:
    """The same by Vowpal Wabbit's --l1."""
    points = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part, file in ((train, "train.vw"), (test, "test.vw")):
            write_vw(part, np.where(part.labels == part.labels.max(), 1.0, -1.0), folder / file)
        vw = [sys.executable, "-m", "vowpalwabbit", "--loss_function", "logistic", "--binary"]
        model, weights = folder / "model", folder / "weights"
        for l1, rate in itertools.product(VW_STRENGTHS, VW_RATES):
            learn = ["--data", str(folder / "train.vw"), "--cache", "--noconstant", "--l1", repr(l1), "-l", str(rate)]
            learn += ["--predict_only_model", "-f", str(model), "--readable_model", str(weights)]
            subprocess.run([*vw, *learn], capture_output=True, check=True)
            judge = [*vw, "--testonly", "-i", str(model), "--data", str(folder / "test.vw")]
            judged = subprocess.run(judge, capture_output=True, text=True, check=True)
            error = float(re.findall(r"average loss = ([\d.]+)", judged.stdout + judged.stderr)[-1])
            points.append((len(re.findall(r"^\d+:", weights.read_text(), re.MULTILINE)), error))
    return points


def fewest(points: list[Point], target: float) -> str:
    """The fewest non-zeros of any point at or below an error."""
    enough = [nonzeros for nonzeros, error in points if error <= target]
    return str(min(enough)) if enough else "-"


def frontier(points: list[Point]) -> tuple[list[float], list[float | None]]:
    """The points that no other beats in both, as a line."""
    kept: list[Point] = []
    for nonzeros, error in sorted(points):
        if nonzeros and (not kept or error < kept[-1][1]):
            kept.append((nonzeros, error))
    return [nonzeros for nonzeros, _ in kept], [error for _, error in kept]


def main() -> None:
    """Print the table; draw the trade-off if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--plot", help="draw error against non-zeros to this file")
    given = parser.parse_args()
    train, test = hold_out(join(read(given.data / "rcv1_binary_sample.svm.xz")), 0.25, seed=0)
    lines = {learner: our_points(learner, train, test) for learner in LEARNERS}
    lines["Vowpal Wabbit --l1"] = vw_points(train, test)
    print("non-zeros to reach an error of     " + "".join(f"{target:>9}" for target in TARGETS) + "   best")
    for name, points in lines.items():
        reached = "".join(f"{fewest(points, target):>9}" for target in TARGETS)
        print(f"{name:35}{reached}{min(error for _, error in points):7.4f}")
    if given.plot:
        curves = {name: frontier(points) for name, points in lines.items()}
        draw_lines(curves, given.plot, x="non-zero weights", y="error on the held-out quarter", log_x=True)


if __name__ == "__main__":
    main()
