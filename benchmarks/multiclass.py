"""Learners of several classes on 60,000 examples of 780 features, a fifth of them non-zero, and 10 classes.

Millions of class-non-zeros (classes times stored values) a second of processor time on one core, learning in memory,
the best of several passes (of one with a full covariance); then how the time of the element-wise Newton step grows with
classes and non-zeros.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from ouzel.comparison.grid import learner_names
from ouzel.learners import catalogue
from ouzel.learners.rows import Rows
from ouzel.model.settings import resolve_settings

ROWS, FEATURES, SHARE, CLASSES = 60_000, 780, 0.2, 10
GROWING_CLASSES, GROWING_SHARES = (5, 10, 20, 40), (0.05, 0.1, 0.2, 0.4)


def make(rows: int, share: float, classes: int) -> tuple[Rows, np.ndarray]:
    """Images of a sort: features of a row lie together, labels follow a noisy linear rule."""
    generator = np.random.default_rng(0)
    width = int(FEATURES * share)
    starts = generator.integers(0, FEATURES - width + 1, rows)
    indices = (starts[:, None] + np.arange(width)).astype(np.uint32)
    values = generator.random((rows, width), np.float32)
    rule = generator.normal(size=(FEATURES, classes)).astype(np.float32)
    scores = np.stack([np.einsum("ij,ij->i", values, rule[indices, c]) for c in range(classes)], axis=1)
    targets = (scores + generator.normal(size=scores.shape)).argmax(axis=1)
    offsets = np.arange(0, rows * width + 1, width).astype(np.uint64)
    return Rows(offsets, indices.ravel(), values.ravel()), targets


def time_pass(name: str, rows: Rows, targets: np.ndarray, classes: int, passes: int) -> tuple[float, float]:
    """The best time of a pass, and the share of examples that were updates."""
    learner = catalogue.find(name)
    module, settings = learner.module, resolve_settings(learner, {})
    scores, importances = np.empty((len(targets), classes)), np.ones(len(targets), np.float32)
    best, state = np.inf, module.init(FEATURES, classes, settings)
    few = Rows(rows.offsets[:3], rows.indices, rows.values)
    module.learn_rows(state, few, targets[:2], importances[:2], settings, scores[:2])  # compiles
    for _ in range(passes):
        state = module.init(FEATURES, classes, settings)
        begun = time.thread_time()
        module.learn_rows(state, rows, targets, importances, settings, scores)
        best = min(best, time.thread_time() - begun)
    return best, float(state.updates[0]) / len(targets)


def counts_updates(name: str) -> bool:
    """Whether a learner is one of those that part two classes."""
    learner = catalogue.find(name)
    return "updates" in learner.module.init(2, 2, resolve_settings(learner, {}))._fields


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--learners", default="all-multiclass")
    given = parser.parse_args()
    names = [name for name in learner_names(given.learners) if counts_updates(name)]
    rows, targets = make(given.rows, SHARE, CLASSES)
    work = len(rows.values) * CLASSES / 1e6
    times = {}
    print(f"{'learner':20} {'seconds':>8} {'M class-non-zeros/s':>20} {'updates':>8}")
    for name in names:
        passes = 1 if name.endswith("-full") else given.passes
        times[name], updates = time_pass(name, rows, targets, CLASSES, passes)
        print(f"{name:20} {times[name]:8.3f} {work / times[name]:20.0f} {updates:8.3f}", flush=True)
    if {"arow-full", "elementwise-ons"} <= times.keys():
        print(f"\narow-full takes {times['arow-full'] / times['elementwise-ons']:.0f} times as long as elementwise-ons")
    print("\nelementwise-ons: nanoseconds a class and non-zero, classes across, share of non-zeros down")
    print(" " * 6 + "".join(f"{classes:8}" for classes in GROWING_CLASSES))
    for share in GROWING_SHARES:
        line = f"{share:6}"
        for classes in GROWING_CLASSES:
            rows, targets = make(given.rows // 4, share, classes)
            taken, _ = time_pass("elementwise-ons", rows, targets, classes, given.passes)
            line += f"{taken / (len(rows.values) * classes) * 1e9:8.2f}"
        print(line)


if __name__ == "__main__":
    main()
