"""Learners of a byte budget beside the same logistic regression without one, on a stream of RCV1's shape in memory.

Every learner makes one pass with its default settings and 8 KB; the unbounded one keeps its 128 heaviest weights in a
heap, as in section 7.4 of Tai, Sharan, Bailis & Valiant (2018), who measured about 2 for feature hashing and 4 for
AWM-Sketch. `ogd` stands beside it: the same loss with neither a heap nor a ridge penalty. `--parts` times what `awm`
and `space-saving` do for a non-zero, apart.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from zipf_rows import zipf_block

from ouzel.kernels.jit import kernel
from ouzel.learners import catalogue
from ouzel.learners.rows import Rows
from ouzel.model.settings import resolve_settings
from ouzel.sketches import space_saving
from ouzel.sketches.active_set import place, width_of
from ouzel.sketches.hashing import tabulate
from ouzel.sketches.top_k import locate, smallest
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


@kernel
def hash_all(state, slots):
    """The sum of hashes."""
    total = np.uint64(0)
    for k in range(len(slots)):
        total += np.uint64(tabulate(state.tables[0], slots[k]))
    return total


@kernel
def locate_all(state, slots):
    """How many slots are in the active set."""
    count = 0
    for k in range(len(slots)):
        count += locate(state, slots[k])[0]
    return count


@kernel
def place_all(state, slots):
    """The sum of cells."""
    width, total = width_of(state), np.uint64(0)
    for k in range(len(slots)):
        total += place(state, slots[k], width)[0]
    return total


@kernel
def count_all(counters, slots):
    """Count slots; return how many had no counter."""
    new = 0
    for k in range(len(slots)):
        new += space_saving.update(counters, slots[k], 1)[1]
    return new


@kernel
def find_smallest(counters, slots):
    """Find the smallest counter as often as there are slots."""
    total = 0
    for _ in range(len(slots)):
        total += smallest(counters)
    return total


def print_parts(block: Block, rounds: int) -> None:
    """Print nanoseconds of the parts, and the share of occurrences without a counter."""
    awm = catalogue.find("awm")
    settings = resolve_settings(awm, {"budget": "8KB"})
    state, margins = awm.module.init(FEATURES, settings), np.empty(block.rows)
    rows = Rows(block.offsets, block.indices, block.values)
    awm.module.learn_rows(state, rows, block.labels, block.weights, settings, margins)
    counters = space_saving.init(8192 // 12)
    share = count_all(counters, block.indices) / block.nonzeros
    for title, run, given in (
        ("awm: hash", hash_all, state),
        ("awm: in the active set?", locate_all, state),
        ("awm: cell", place_all, state),
        ("space-saving: count", count_all, counters),
        ("space-saving: smallest, each time", find_smallest, counters),
    ):
        best = float("inf")
        for _ in range(rounds + 1):
            begun = time.perf_counter()
            run(given, block.indices)
            best = min(best, time.perf_counter() - begun)
        print(f"{title:34} {best / block.nonzeros * 1e9:6.2f} ns")
    print(f"{'space-saving: without a counter':34} {100 * share:6.1f} %")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--learners", default=",".join(LEARNERS))
    parser.add_argument("--parts", action="store_true")
    given = parser.parse_args()
    block = zipf_block(given.rows, NONZEROS, FEATURES)
    if given.parts:
        print_parts(block, given.rounds)
        return
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
