"""AdaGrad on 200,000 x 76 non-zeros in memory: beside the plain loop in C, scikit-learn and Vowpal Wabbit's cache.

Ratios are of the C loop's time to the other's, 1 being as fast as C; each time is the best of several, taken by turns.
Scikit-learn and Vowpal Wabbit do not do the same arithmetic: one runs gradient descent, the other its adaptive update.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from sklearn.linear_model import SGDClassifier
from zipf_rows import zipf_block

from ouzel.learners.gradient import adagrad, adagrad_rda
from ouzel.learners.rows import Rows
from ouzel.streams.block import Block
from ouzel.terms.penalties.l1_and_l2 import L1, ElasticNet, NoPenalty, SquaredL2

ROWS, NONZEROS, FEATURES = 200_000, 76, 47_236
SOURCE = Path(__file__).with_name("adagrad_loop.c")
FLAGS = ["-O3", "-march=native", "-shared", "-fPIC"]

Pass = Callable[[], float]


def seconds(work: Callable[[], object]) -> float:
    """Wall-clock time of one call."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def c_pass(block: Block, folder: Path) -> Pass:
    """The loop in C, compiled here."""
    library = folder / "adagrad_loop.so"
    subprocess.run(["gcc", *FLAGS, "-o", str(library), str(SOURCE), "-lm"], check=True)
    loop = ctypes.CDLL(str(library)).adagrad_pass
    margins = np.empty(block.rows)

    def run() -> float:
        table = np.zeros((FEATURES, 2), np.float32)
        arrays = [array.ctypes.data_as(ctypes.c_void_p) for array in block[:4]]
        rest = ctypes.c_uint64(block.rows), table.ctypes.data_as(ctypes.c_void_p), ctypes.c_float(0.25)
        return seconds(lambda: loop(*arrays, *rest, ctypes.c_float(1e-6), margins.ctypes.data_as(ctypes.c_void_p)))

    return run


def kernel_pass(block: Block, module: object, penalty: object) -> Pass:
    """One of our learners."""
    settings = module.Settings(penalty=penalty)  # type: ignore[attr-defined]
    rows, margins = Rows(block.offsets, block.indices, block.values), np.empty(block.rows)

    def run() -> float:
        state = module.init(FEATURES, settings)  # type: ignore[attr-defined]
        learn_rows = module.learn_rows  # type: ignore[attr-defined]
        return seconds(lambda: learn_rows(state, rows, block.labels, block.weights, settings, margins))

    return run


def sklearn_pass(block: Block) -> Pass:
    """SGDClassifier.partial_fit, one call."""
    shape = (block.rows, FEATURES)
    X = sparse.csr_matrix((block.values, block.indices.astype(np.int32), block.offsets.astype(np.int32)), shape)

    def run() -> float:
        model = SGDClassifier(loss="log_loss", penalty=None, learning_rate="constant", eta0=0.25, shuffle=False)
        return seconds(lambda: model.partial_fit(X, block.labels, classes=[-1.0, 1.0]))

    return run


def vw_pass(block: Block, folder: Path) -> Pass:
    """Vowpal Wabbit's adaptive update from its cache; the time of starting it, on one example, is taken off."""
    command = [sys.executable, "-m", "vowpalwabbit", "--quiet", "--adaptive", "--noconstant"]
    command += ["--loss_function", "logistic", "--holdout_off", "--no_stdin", "--passes", "1", "--cache_file"]
    caches = []
    for name, rows in (("all", block.rows), ("one", 1)):
        text, cache = folder / f"{name}.vw", folder / f"{name}.cache"
        with text.open("w") as file:
            for i in range(rows):
                here = slice(i * NONZEROS, (i + 1) * NONZEROS)
                pairs = zip(block.indices[here].tolist(), block.values[here].tolist(), strict=True)
                file.write(f"{block.labels[i]:.0f} |" + "".join(f" {j}:{x:.6g}" for j, x in pairs) + "\n")
        subprocess.run([*command, str(cache), "--data", str(text)], check=True)
        caches.append(cache)

    def run() -> float:
        whole, start = (seconds(lambda c=cache: subprocess.run([*command, str(c)], check=True)) for cache in caches)
        return whole - start

    return run


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", type=int, default=ROWS)
    given = parser.parse_args()
    block = zipf_block(given.rows, NONZEROS, FEATURES)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        passes: dict[str, Pass] = {
            "C loop": c_pass(block, folder),
            "adagrad": kernel_pass(block, adagrad, NoPenalty()),
            "adagrad, l1": kernel_pass(block, adagrad, L1(1e-6)),
            "adagrad, l2": kernel_pass(block, adagrad, SquaredL2(1e-6)),
            "adagrad, elastic net": kernel_pass(block, adagrad, ElasticNet(1e-6, 1e-6)),
            "adagrad-rda": kernel_pass(block, adagrad_rda, NoPenalty()),
            "adagrad-rda, l1": kernel_pass(block, adagrad_rda, L1(1e-6)),
            "scikit-learn SGDClassifier": sklearn_pass(block),
            "Vowpal Wabbit, cache": vw_pass(block, folder),
        }
        for run in passes.values():
            run()  # compiles, and warms the caches
        times = dict.fromkeys(passes, float("inf"))
        for _ in range(given.rounds):  # by turns, so that a busy moment strikes all
            for name, run in passes.items():
                times[name] = min(times[name], run())
    nonzeros = block.nonzeros
    print(f"{'one pass':28} {'seconds':>8} {'M non-zeros/s':>14} {'of C':>6}")
    for name, took in times.items():
        print(f"{name:28} {took:8.4f} {nonzeros / took / 1e6:14.0f} {times['C loop'] / took:6.2f}")


if __name__ == "__main__":
    main()
