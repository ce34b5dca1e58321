"""Make the benchmark's text: sparse examples with Zipf-distributed features, as svmlight and as Vowpal Wabbit text."""

from __future__ import annotations

from pathlib import Path

import numpy as np

FEATURES = 47_236
NONZEROS = 76


def zipf_rows(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ids (count, 76) ascending, values, and labels of a planted linear model with noise."""
    rng = np.random.default_rng(seed)
    chances = 1.0 / np.arange(1, FEATURES + 1)
    edges = np.cumsum(chances / chances.sum())
    spread = rng.permutation(FEATURES)
    ids = np.empty((count, NONZEROS), np.int64)
    for i in range(count):
        found = np.unique(np.searchsorted(edges, rng.random(2 * NONZEROS)))
        while len(found) < NONZEROS:
            found = np.unique(np.concatenate([found, np.searchsorted(edges, rng.random(NONZEROS))]))
        ids[i] = np.sort(spread[np.minimum(rng.permutation(found)[:NONZEROS], FEATURES - 1)]) + 1
    values = rng.random((count, NONZEROS)).astype(np.float32)
    planted = rng.normal(size=FEATURES + 2)
    margins = (planted[ids] * values).sum(axis=1)
    labels = np.where(margins + rng.normal(size=count) * margins.std() / 4 > 0, 1, -1)
    return ids, values, labels


def write_both(folder: Path, megabytes: int) -> tuple[Path, Path]:
    """Write the two files if they are not there yet; the examples repeat in random order up to the size asked for."""
    svm, vw = folder / f"zipf-{megabytes}.svm", folder / f"zipf-{megabytes}.vw"
    if svm.exists() and vw.exists():
        return svm, vw
    ids, values, labels = zipf_rows(20_000)
    bodies = [
        " ".join(f"{j}:{x:.6f}" for j, x in zip(row, numbers, strict=True))
        for row, numbers in zip(ids.tolist(), values.tolist(), strict=True)
    ]
    order = np.random.default_rng(1)
    written = 0
    with svm.open("w") as first, vw.open("w") as second:
        while written < megabytes * 10**6:
            for i in order.permutation(len(bodies)):
                written += first.write(f"{labels[i]} {bodies[i]}\n")
                second.write(f"{labels[i]} | {bodies[i]}\n")
    return svm, vw
