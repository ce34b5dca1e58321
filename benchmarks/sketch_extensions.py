"""What sections 6.1 and 9 of the WM-Sketch paper bring at equal bytes, and what threads on one sketch would bring.

    python benchmarks/sketch_extensions.py --data ../shared/data

First table: error of one pass, by learner, budget and settings; rates as given. Second: `wm` learnt by threads that
share the counters and nothing else (Recht et al. 2011, "Hogwild"), each taking the next 500 examples: seconds and
error, beside one thread and beside workers whose sketches are merged at the end. Shortest of `--rounds` runs.
"""

from __future__ import annotations

import argparse
import itertools
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import ouzel
from ouzel.learners.budget import wm
from ouzel.learners.gains.parts import sum_of
from ouzel.learners.rows import Rows
from ouzel.model.model import Model
from ouzel.streams.block import Block

SETS = ("rcv1_binary_sample", "url_sample", "a9a")
RATES = (0.1, 0.25, 0.5, 1.0)
VARIANTS: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "16 bits": {"cell_bits": 16.0},
    "8 bits": {"cell_bits": 8.0},
    "rates per feature": {"per_feature": True},
    "rates per feature, 8 bits": {"per_feature": True, "cell_bits": 8.0},
    "l1 = 1e-5": {"l1": 1e-5},
    "l1 = 1e-4": {"l1": 1e-4},
}
PIECE = 500  # examples that a thread takes at a time


def read(path: Path, most: int) -> list[Block]:
    """The first examples of a file, of two classes: the first met against all others."""
    blocks: list[Block] = []
    with ouzel.read(path) as stream:
        for block in stream:
            first = blocks[0].labels[0] if blocks else block.labels[0]
            labels = block.labels if len(np.unique(block.labels)) == 2 else np.where(block.labels == first, 1.0, -1.0)
            blocks.append(block._replace(labels=labels))
            if sum(block.rows for block in blocks) >= most:
                break
    return blocks


def error_of(blocks: list[Block], learner: str, **settings: Any) -> float:
    """Error of one pass."""
    model, wrong = Model(learner, standardize=False, **settings), 0
    for block in blocks:
        learnt = model.learn(block)
        wrong += int(np.sum(~(learnt.margins.ravel() * np.sign(2.0 * learnt.targets - 1.0) > 0.0)))
    return wrong / model.examples


def compare_variants(data: Path, rows: int) -> None:
    """Print the first table: of each variant the best of some rates."""
    for name in SETS:
        path = data / f"{name}.svm.xz"
        if not path.exists():
            continue
        blocks = read(path, rows)
        print(f"\n{name}, {sum(block.rows for block in blocks):,} examples: error (rate)")
        columns = list(itertools.product(("awm", "wm"), ("2KB", "8KB")))
        print(f"{'':28}" + "".join(f"{f'{learner} {budget}':>16}" for learner, budget in columns))
        for variant, given in VARIANTS.items():
            line = f"{variant:28}"
            for learner, budget in columns:
                found = [
                    (error_of(blocks, learner, budget=budget, learning_rate=rate, **given), rate) for rate in RATES
                ]
                line += "{:>10.4f} ({:g})".format(*min(found)).rjust(16)
            print(line, flush=True)


def pieces_of(blocks: list[Block]) -> list[tuple[Rows, np.ndarray, np.ndarray]]:
    """Parts of a stream, as rows, with labels of -1 and +1."""
    high = max(block.labels.max() for block in blocks)
    found = []
    for block in blocks:
        for start in range(0, block.rows, PIECE):
            part = block.slice(start, start + PIECE)
            rows = Rows(part.offsets, part.indices, part.values)
            found.append((rows, np.where(part.labels == high, 1.0, -1.0), np.ones(part.rows, np.float32)))
    return found


def learn_by_threads(pieces: list[Any], settings: wm.Settings, threads: int, shared: bool) -> tuple[float, float]:
    """Seconds, and the error of predictions made before learning each example."""
    states = [wm.init(0, settings) for _ in range(threads)]
    if shared:
        states = [state._replace(sketch=state.sketch._replace(counters=states[0].sketch.counters)) for state in states]
    queue, wrong = iter(enumerate(pieces)), [0] * threads
    lock = threading.Lock()

    def work(k: int) -> None:
        while True:
            with lock:
                piece = next(queue, None)
            if piece is None:
                return
            rows, labels, weights = piece[1]
            margins = np.empty(len(labels))
            wm.learn_rows(states[k], rows, labels, weights, settings, margins)
            wrong[k] += int(np.sum(~(margins * labels > 0.0)))

    begun = time.perf_counter()
    running = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    if not shared and threads > 1:
        nothing = wm.init(0, settings)
        wm.onto(nothing, sum_of([wm.gains(nothing, state, settings) for state in states]), settings)
    return time.perf_counter() - begun, sum(wrong) / sum(len(labels) for _, labels, _ in pieces)


def compare_threads(data: Path, rows: int, rounds: int) -> None:
    """Print the second table."""
    for name in SETS[:2]:
        path = data / f"{name}.svm.xz"
        if not path.exists():
            continue
        pieces = pieces_of(read(path, rows))
        print(f"\n{name}, wm: seconds and error")
        for budget, depth in ((8192.0, 0.0), (65536.0, 1.0), (1048576.0, 1.0)):
            settings = wm.Settings(budget=budget, depth=depth, width=0.0 if not depth else budget / 8, l2=0.0)
            ways = {"one thread": (1, True), "two threads, one sketch": (2, True), "two merged": (2, False)}
            found: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
            for _, (way, (threads, shared)) in itertools.product(range(rounds), ways.items()):
                found[way].append(learn_by_threads(pieces, settings, threads, shared))
            told = "   ".join(f"{way} {min(runs)[0]:.3f} {np.mean(runs, 0)[1]:.4f}" for way, runs in found.items())
            print(f"{budget / 1024:5.0f} KB: {told}", flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    compare_threads(given.data, given.rows, given.rounds)
    compare_variants(given.data, given.rows)


if __name__ == "__main__":
    main()
