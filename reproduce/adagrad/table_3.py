"""Table 3 and figure 5 of the AdaGrad paper: MNIST with Gaussian kernels, ten classes, mixed norms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ouzel.model.model import Model
from ouzel.plotting.axes import draw_lines
from ouzel.streams.block import Block
from ouzel.streams.memory import to_block
from ouzel.streams.read import read
from ouzel.terms.penalties.norms import L2Norm, MaxNorm
from reproduce.adagrad.single_pass import TUNED
from reproduce.provenance import DataFolder
from reproduce.writing import markdown_table, signed, span, write_report

NAME = "adagrad-table-3"
TRAIN, TEST = "mnist.train-images-idx3-ubyte.gz", "mnist.t10k-images-idx3-ubyte.gz"
SUPPORT = 3000
WIDTH = 3.5  # sigma of the kernel, for pixels from 0 to 1
TUNED_ON = 5000
PIECE = 500
LINES: dict[str, tuple[str, Any, tuple[float, float] | None]] = {  # learner, penalty, published error and non-zeros
    "pa1": ("pa1", None, (0.062, 1.0)),
    "adagrad": ("adagrad-multiclass", None, (0.066, 1.0)),
    "rda": ("rda-multiclass", None, (0.108, 1.0)),
    "adagrad, l1/l2 5e-4": ("adagrad-multiclass", L2Norm(5e-4), (0.100, 0.569)),
    "rda, l1/l2 5e-4": ("rda-multiclass", L2Norm(5e-4), (0.138, 0.878)),
    "adagrad, l1/l2 1e-3": ("adagrad-multiclass", L2Norm(1e-3), (0.137, 0.144)),
    "rda, l1/l2 1e-3": ("rda-multiclass", L2Norm(1e-3), (0.192, 0.532)),
    "adagrad, l1/linf 5e-4": ("adagrad-multiclass", MaxNorm(5e-4), None),
}


class Kernel:
    """Images as their Gaussian kernels with the support images: exp(-|a - b|^2 / (2 sigma^2))."""

    def __init__(self, support: np.ndarray) -> None:
        self.support = support  # (s, pixels) float32
        self.squares = (support**2).sum(axis=1)

    def block(self, images: np.ndarray, labels: np.ndarray) -> Block:
        """Images (n, pixels) with labels (n,)."""
        distances = (images**2).sum(axis=1)[:, None] + self.squares - 2.0 * images @ self.support.T
        return to_block(np.exp(-np.maximum(distances, 0.0) / (2.0 * WIDTH**2)), labels)


def images_of(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, pixels) and labels (n,)."""
    images, labels = [], []
    for block in read(path):
        dense = np.zeros((block.rows, 784), np.float32)
        lengths = (block.offsets[1:] - block.offsets[:-1]).astype(np.int64)
        dense[np.repeat(np.arange(block.rows), lengths), block.indices] = block.values
        images.append(dense)
        labels.append(block.labels)
    return np.concatenate(images), np.concatenate(labels)


def blocks_of(kernel: Kernel, images: np.ndarray, labels: np.ndarray) -> Iterator[Block]:
    """All images, some at a time."""
    for start in range(0, len(labels), PIECE):
        yield kernel.block(images[start : start + PIECE], labels[start : start + PIECE])


def new_model(learner: str, setting: float, penalty: Any) -> Model:
    """A model of ten classes."""
    settings = {TUNED.get(learner, "learning_rate"): setting, **({} if penalty is None else {"penalty": penalty})}
    return Model(learner, classes=range(10), standardize=False, **settings)


def mistakes_in(model: Model, block: Block) -> np.ndarray:
    """Learn a block; return which predictions were wrong (n,)."""
    learnt = model.learn(block)
    return learnt.margins.argmax(axis=1) != learnt.targets


def tune(first: list[Block]) -> dict[str, float]:
    """For each learner the setting that makes the fewest mistakes on the first images, without penalty."""
    chosen = {}
    for learner in dict.fromkeys(learner for learner, _, _ in LINES.values()):
        mistakes = {}
        for setting in (2.0**k for k in (range(-6, 3, 2) if learner in TUNED else range(-6, 5, 2))):
            model = new_model(learner, setting, None)
            mistakes[setting] = sum(int(mistakes_in(model, block).sum()) for block in first)
        chosen[learner] = min(mistakes, key=lambda setting: mistakes[setting])
    return chosen


def run(data: DataFolder, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """Write the table and draw the learning curves."""
    (images, labels), (test_images, test_labels) = images_of(data / TRAIN), images_of(data / TEST)
    support, tuned_on = SUPPORT, TUNED_ON
    if quick:
        images, labels, test_images, test_labels = images[:1500], labels[:1500], test_images[:500], test_labels[:500]
        support, tuned_on = 100, 500
    kernel = Kernel(images[np.random.default_rng(0).choice(len(images), support, replace=False)])
    chosen = tune(list(blocks_of(kernel, images[:tuned_on], labels[:tuned_on])))
    models = {line: new_model(learner, chosen[learner], penalty) for line, (learner, penalty, _) in LINES.items()}
    wrong: dict[str, list[np.ndarray]] = {line: [] for line in models}
    for block in blocks_of(kernel, images, labels):
        for line, model in models.items():
            wrong[line].append(mistakes_in(model, block))
    errors = dict.fromkeys(models, 0.0)
    for block in blocks_of(kernel, test_images, test_labels):
        for line, model in models.items():
            known = np.array(model.classes.known)
            errors[line] += float((known[model.margins(block).argmax(axis=1)] != block.labels).sum() / len(test_labels))
    rows = []
    for line, model in models.items():
        nonzero = float((model.weights()[:, 1:] != 0.0).any(axis=0).mean())
        published, difference = LINES[line][2], ""
        if published is not None:
            difference = signed(errors[line] - published[0])
        shown = "" if published is None else "{:.3f} ({:.3f})".format(*published)
        rows.append([line, shown, f"{errors[line]:.3f} ({nonzero:.3f})", difference])
    table = markdown_table(["learner", "published", "ours", "difference of error"], rows)
    title = "AdaGrad, table 3: test error (share of non-zero rows) on MNIST"
    off = {line: errors[line] - published[0] for line, (_, _, published) in LINES.items() if published}
    rda = [difference for line, difference in off.items() if line.startswith("rda")]
    others = [difference for line, difference in off.items() if not line.startswith("rda")]
    ours = f"""
Less what was published, errors of AdaGrad and PA are {span(others)}, those of plain RDA {span(rda)}: AdaGrad's lead
over it without a penalty is {errors["rda"] - errors["adagrad"]:.3f} here, and {0.108 - 0.066:.3f} there.
"""
    write_report(output, NAME, title, table, REMARKS + ours, f"ouzel reproduce {NAME}")
    points = np.linspace(1, len(labels), 60).astype(int)
    curves = {
        line: (points.tolist(), np.cumsum(np.concatenate(parts))[points - 1].tolist()) for line, parts in wrong.items()
    }
    draw_lines(curves, str(output / f"{NAME}.png"), x="examples", y="mistakes so far")


REMARKS = """
Ten weight vectors over Gaussian kernels with 3,000 of the training images drawn at random, 30,000 weights as in the
paper, the multiclass hinge loss, all 60,000 training images in one pass in the file's order, step sizes by the fewest
mistakes on the first 5,000 (chosen without penalty, and kept with it). The paper does not state the width of its kernel
(here sigma = 3.5 for pixels from 0 to 1) nor its support images; a scanned exponent leaves it open, too, whether its
smaller strength of the mixed norm is 5e-4, as is taken here because it lies below its other one, 1e-3. A strength of
the norm means something only beside the size of the gradients, that is of the kernel's values, so shares of non-zero
rows are comparable within a column only. Passive-aggressive is PA-I. RDA's step size is tuned over a wide range here.
The figure is the paper's figure 5, the mistakes made while learning.
"""
