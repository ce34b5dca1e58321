"""Why `elementwise-ons` reads its paper as it does: other readings of the formulas (4) to (7) beside it.

The paper calls f the loss, uses f (1 - f) as if f were a sigmoid, divides by A = x^2 b + lambda, which can be
negative, and does not say which classes a round updates. Each reading here is a pair (b, A) for a class k of sign y
(+1 for the true class, -1 for a wrong one), of score s; then w_k <- w_k - b / (2 sqrt(t) A). All of it is slow and
plain NumPy: readings that lost do not become settings of the learner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ouzel.plotting.axes import Line, draw_panels
from ouzel.streams.block import Block
from reproduce.elementwise.tables import PUBLISHED, SETS, load
from reproduce.provenance import DataFolder
from reproduce.writing import markdown_table, span, write_report

NAME = "elementwise-ons-readings"
SHOWN = ("satimage", "mnist", "usps", "segment", "pendigits", "dna")
ORDERS = 3
MANY = 20_000  # examples of a set of which one order is enough
REGULARIZATION = 0.001  # lambda
DRAWN = 60  # points of a line

Step = Callable[[float, float, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray | float]]


class Reading(NamedTuple):
    """A step, and which classes take it when."""

    step: Step
    classes: str = "pair"  # "pair": true and best wrong; "all"; "each": those whose own hinge y s < 1
    least: float = 1.0  # the margin below which a round updates; 0: mistakes alone


def sigmoid(z: float) -> float:
    """1 / (1 + exp(-z))"""
    return float(1.0 / (1.0 + np.exp(-z)))


def kept(y: float, s: float, x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, float]:
    """(5) with f the sigmoid; (6) with ones in the place of x^2 and f (1 - f) in the place of b."""
    bend = sigmoid(y * s) * (1.0 - sigmoid(y * s))
    return -y * bend * x + REGULARIZATION * w, bend + REGULARIZATION


def with_l1(y: float, s: float, x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, float]:
    """The l1 norm of (4) in the place of lambda w."""
    bend = sigmoid(y * s) * (1.0 - sigmoid(y * s))
    return -y * bend * x + REGULARIZATION * np.sign(w), bend + REGULARIZATION


def of_loss(y: float, s: float, x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, float]:
    """f the loss, as (4) says: f (1 - f) is negative where f > 1, and A can be."""
    f = float(np.logaddexp(0.0, -y * s))
    return -y * f * (1.0 - f) * x + REGULARIZATION * w, f * (1.0 - f) + REGULARIZATION


def with_squares(y: float, s: float, x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x^2 f (1 - f) in A: a step then grows as a feature's value falls."""
    bend = sigmoid(y * s) * (1.0 - sigmoid(y * s))
    return -y * bend * x + REGULARIZATION * w, bend * x * x + REGULARIZATION


def as_printed(y: float, s: float, x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A = x^2 b + lambda, b being (5)."""
    b, _ = kept(y, s, x, w)
    return b, x * x * b + REGULARIZATION


def true_slope(y: float, s: float, x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, float]:
    """The logistic loss's own derivative, 1 - f in the place of f (1 - f) in b."""
    f = sigmoid(y * s)
    return -y * (1.0 - f) * x + REGULARIZATION * w, f * (1.0 - f) + REGULARIZATION


def true_newton(y: float, s: float, x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The logistic loss's derivative and the diagonal of its Hessian."""
    f = sigmoid(y * s)
    return -y * (1.0 - f) * x + REGULARIZATION * w, f * (1.0 - f) * x * x + REGULARIZATION


def gradient(y: float, s: float, x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, float]:
    """No second order at all: the hinge of several classes by gradient descent."""
    return -y * x, 1.0


READINGS = {
    "kept: b with f (1 - f), A = f (1 - f) + lambda": Reading(kept),
    "the same, lambda sign(w) for lambda w": Reading(with_l1),
    "the same, f the loss": Reading(of_loss),
    "the same, on mistakes alone": Reading(kept, least=0.0),
    "the same, all classes in every update": Reading(kept, classes="all"),
    "the same, each class by its own hinge": Reading(kept, classes="each"),
    "A = x² f (1 - f) + lambda": Reading(with_squares),
    "A = x² b + lambda, as printed": Reading(as_printed),
    "b with 1 - f, A = f (1 - f) + lambda": Reading(true_slope),
    "b with 1 - f, A = x² f (1 - f) + lambda": Reading(true_newton),
    "gradient descent on the hinge": Reading(gradient),
}


def dense(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Examples (n, d) and the numbers of their classes (n,)."""
    X = np.zeros((block.rows, 1 + int(block.indices.max())), np.float32)
    offsets = block.offsets.astype(np.int64)
    X[np.repeat(np.arange(block.rows), offsets[1:] - offsets[:-1]), block.indices] = block.values
    return X, np.unique(block.labels, return_inverse=True)[1]


def learn(reading: Reading, X: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, int]:
    """Mistakes (n,) in the order given, and the number of updates; a score that is not a number is a mistake."""
    W = np.zeros((1 + int(targets.max()), X.shape[1]))
    mistakes, updates = np.ones(len(X), bool), 0
    for t, (x, target) in enumerate(zip(X.astype(np.float64), targets, strict=True), start=1):
        scores = W @ x
        if not np.isfinite(scores).all():
            break  # all further examples are mistakes
        wrong = max((k for k in range(len(W)) if k != target), key=scores.__getitem__)
        margin = scores[target] - scores[wrong]
        mistakes[t - 1] = not margin > 0.0
        signs = np.where(np.arange(len(W)) == target, 1.0, -1.0)
        if reading.classes == "each":
            chosen = np.flatnonzero(signs * scores < 1.0).tolist()
        elif margin < reading.least or not (margin > 0.0 or reading.least):
            chosen = [target, wrong] if reading.classes == "pair" else list(range(len(W)))
        else:
            continue
        updates += bool(chosen)
        for k in chosen:
            b, A = reading.step(signs[k], scores[k], x, W[k])
            W[k] -= 0.5 / np.sqrt(t) * b / A
    return mistakes, updates


def run(data: DataFolder, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """Write and print the table; draw the rate of mistakes so far of every reading on the paper's two sets at hand."""
    shown = SHOWN[:1] if quick else SHOWN
    away: list[float] = []
    rates_of: dict[str, list[float]] = {title: [] for title in READINGS}
    cells: dict[str, list[str]] = {title: [] for title in ("published", *READINGS)}
    panels: dict[str, dict[str, Line]] = {}
    for name in shown:
        X, targets = dense(load(data, SETS[name]))
        orders = 1 if quick or len(X) > MANY else ORDERS
        published = PUBLISHED.get(name)
        cells["published"].append("")
        if published is not None:
            error, updates, _ = published.figures["elementwise-ons"]
            cells["published"][-1] = f"{error:.3f} / {updates / published.rounds:.3f}"
        for title, reading in READINGS.items():
            with np.errstate(all="ignore"):
                found = [learn(reading, X[order], targets[order]) for order in permutations(len(X), orders)]
            mistakes = np.mean([mistakes for mistakes, _ in found], axis=0)
            updates = float(np.mean([updates for _, updates in found])) / len(X)
            rates_of[title].append(float(mistakes.mean()))
            if published is not None and title == next(iter(READINGS)):
                away.append(rates_of[title][-1] - error)
            cells[title].append(f"{mistakes.mean():.3f} / {updates:.3f}")
            if published is not None:
                ends = np.linspace(0, len(X), DRAWN + 1).astype(int)[1:]
                rates = np.cumsum(mistakes)[ends - 1] / ends
                panels.setdefault(name, {})[title] = (ends.tolist(), rates.tolist())
            print(f"{name}: {title}: {cells[title][-1]}", flush=True)
    draw_panels(panels, str(output / f"{NAME}.png"), x="examples", y="cumulative rate of mistakes")
    table = markdown_table(["reading", *shown], [[title, *row] for title, row in cells.items()])
    first, *others = READINGS
    worse = [sum(a > b for a, b in zip(rates_of[title], rates_of[first], strict=True)) for title in others]
    counted = "; ".join(f"{title}: {count}" for title, count in zip(others, worse, strict=True))
    ours = f"""
It is off the published mistakes by {span(away)}. Sets of the {len(shown)} on which other readings make more mistakes
than it: {counted}.
"""
    title = "Readings of the element-wise Newton step"
    write_report(output, NAME, title, table, REMARKS + ours, f"ouzel reproduce {NAME}")


def permutations(count: int, orders: int) -> list[np.ndarray]:
    """Random orders, those of `compare_orders`."""
    return [np.random.default_rng([0, order]).permutation(count) for order in range(orders)]


REMARKS = """
Rate of mistakes and of updates a round, one pass, mean over three random orders (MNIST: one). The first reading is the
learner elementwise-ons. The l1 norm is that of the paper's (4); (5) and Algorithm 1 print lambda w. While scores are
small its step is that of gradient descent on the hinge of several classes (last row). With the logistic loss's own
derivatives, or with x^2 in A, 1 / A grows without a bound.
"""
