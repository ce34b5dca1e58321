"""Learners of a byte budget beside the same logistic regression without one, on a stream of RCV1's shape in memory.

Every learner makes one pass with its default settings and 8 KB; the unbounded one keeps its 128 heaviest weights in a
heap, as in section 7.4 of Tai, Sharan, Bailis & Valiant (2018), who measured about 2 for feature hashing and 4 for
AWM-Sketch. `ogd` stands beside it: the same loss with neither a heap nor a ridge penalty.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from zipf_rows import zipf_block

from ouzel.learners import catalogue
from ouzel.learners.rows import Rows
from ouzel.model.settings import resolve_settings
from ouzel.streams.block import Block

ROWS, NONZEROS, FEATURES = 200_000, 76, 47_236
REFERENCE = "unbounded"
LEARNERS = ("ogd", "hashing", "awm", "truncation", "space-saving", "probabilistic-truncation", "count-min", "wm")


def kernel_pass(block: Block, name: str) -> Callable[[], float]:
    """Seconds of one learner's pass."""
    learner = catalogue.find(name)
    settings = resolve_settings(learner, {"budget": "8KB"} if learner.budgeted else {"loss": "logistic"})
    rows, margins = Rows(block.offsets, block.indices, block.values), np.empty(block.rows)

    def run() -> float:
        state = learner.module.init(FEATURES, settings)
        begun = time.perf_counter()
        learner.module.learn_rows(state, rows, block.labels, block.weights, settings, margins)
        return time.perf_counter() - begun

    return run


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--learners", default=",".join(LEARNERS))
    given = parser.parse_args()
    block = zipf_block(given.rows, NONZEROS, FEATURES)
    passes = {name: kernel_pass(block, name) for name in (REFERENCE, *given.learners.split(","))}
    for run in passes.values():
        run()  # compiles, and warms the caches
    times = dict.fromkeys(passes, float("inf"))
    for _ in range(given.rounds):  # by turns, so that a busy moment strikes all
        for name, run in passes.items():
            times[name] = min(times[name], run())
    print(f"{'one pass':28} {'seconds':>8} {'ns a non-zero':>14} {'of unbounded':>13}")
    for name, took in times.items():
        print(f"{name:28} {took:8.4f} {took / block.nonzeros * 1e9:14.2f} {took / times[REFERENCE]:13.2f}")


if __name__ == "__main__":
    main()
