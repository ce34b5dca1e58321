"""What the default costs: microseconds of processor an example, learnt from memory on one core, beside single learners.

Dense tables of numbers; text of 76 Zipf-distributed words among 47,236; and a table of 13 numbers and 26 categories.
Each with what is aimed at: microseconds, of text a multiple of `adagrad`'s time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_matrix, hstack
from text import FEATURES, NONZEROS, zipf_rows

from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from

LEARNERS = {"`auto`": {}, "`forms=raw`": {"forms": "raw"}, "`adagrad`": {}, "`arow`": {}}
AIMS = {"10 numbers": "4", "30 numbers": "10", "100 numbers": "25", "text": "5 times", "numbers and categories": "8"}
ROUNDS = 5
WORDS = 10_000  # of each category, at most


def tables() -> Iterator[tuple[str, csr_matrix | np.ndarray, np.ndarray]]:
    """What is learnt: name, examples and labels."""
    rng = np.random.default_rng(0)
    for columns, rows in ((10, 80_000), (30, 40_000), (100, 20_000)):
        numbers = rng.normal(size=(rows, columns)).astype(np.float32)
        yield f"{columns} numbers", numbers, labels(numbers @ rng.normal(size=columns), rng)
    ids, values, signs = zipf_rows(30_000)
    offsets = np.arange(0, ids.size + 1, NONZEROS)
    yield "text", csr_matrix((values.ravel(), ids.ravel(), offsets), shape=(len(ids), FEATURES + 2)), signs
    rows = 40_000
    numbers = rng.normal(size=(rows, 13)).astype(np.float32)
    words = np.minimum(rng.zipf(1.3, (rows, 26)), WORDS) - 1 + WORDS * np.arange(26)
    ones = csr_matrix((np.ones(words.size, np.float32), words.ravel(), np.arange(0, words.size + 1, 26)))
    signs = labels(numbers @ rng.normal(size=13) + rng.normal(size=26 * WORDS)[words].sum(axis=1), rng)
    yield "numbers and categories", hstack([csr_matrix(numbers), ones], format="csr"), signs


def labels(margins: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Signs of margins (n,) and as much noise as half of what they vary."""
    return np.where(margins + rng.normal(size=len(margins)) * margins.std() / 2 > 0, 1, -1)


def microseconds(learner: str, settings: dict[str, str], examples: csr_matrix | np.ndarray, signs: np.ndarray) -> float:
    """Of an example, best of several rounds."""
    blocks, best = list(blocks_from(examples, signs)), np.inf
    for _ in range(ROUNDS):
        model = Model(learner, classes=[-1, 1], standardize=False, **settings)
        begun = time.process_time()
        for block in blocks:
            model.learn(block)
        best = min(best, time.process_time() - begun)
    return 1e6 * best / len(signs)


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    print(f"| examples | {' | '.join(LEARNERS)} | of `adagrad` | aim |\n| --- |" + " ---: |" * (len(LEARNERS) + 2))
    for name, examples, signs in tables():
        found = {
            title: microseconds("auto" if settings else title.strip("`"), settings, examples, signs)
            for title, settings in LEARNERS.items()
        }
        ratio = found["`auto`"] / found["`adagrad`"]
        cells = [f"{cost:.2f}" for cost in found.values()]
        print(f"| {name} | {' | '.join(cells)} | {ratio:.1f} | {AIMS[name]} |", flush=True)


if __name__ == "__main__":
    main()
