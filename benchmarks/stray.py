"""What stray values do: errors with one cell or ten of a column at 1e3 to 1e30, by those of the same rows without them.

Cells are planted in the column that says most of the label and in others chosen at random, with either sign, among the
first ten rows, in the middle, late, and, where there are ten, all over. Rows that hold them are left out of both
errors. A line a set and learner: mistakes without strays, the mean ratio of those with them, the worst ratio and what
it is of, and in how many of the cases there are more mistakes than the bound (1 % for `auto`, 5 % for others) and two.
The last column says in how many there are where the same cells hold the median of their column: a harmless change moves
errors, too, and what it does to them no rule for strays can be held to.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from default_sets import in_order, sets
from units import dense_of

import ouzel
from ouzel.model.model import Model

CHOSEN_BY = "breast_cancer (scikit-learn),magic04,electricity,pendigits,a9a"
OTHERS = "covtype_sample,shuttle,ijcnn1,phishing,segment"
LEARNERS: dict[str, tuple[dict[str, Any], float]] = {
    "auto": ({}, 0.01),
    "arow": ({"standardize": True}, 0.05),
    "scw1": ({"standardize": True}, 0.05),
    "son-oja": ({"standardize": True}, 0.05),
}
SIZES = (1e3, 1e4, 1e6, 1e30)
SLACK = 2  # mistakes


class Case(NamedTuple):
    """Where strays are planted."""

    column: int
    rows: np.ndarray
    size: float
    when: str

    def __str__(self) -> str:
        return f"{len(self.rows)} of {self.size:g} {self.when} in column {self.column}"


def cases(X: np.ndarray, y: np.ndarray, columns: int, seed: int) -> Iterator[Case]:
    """Strays of all kinds."""
    random, n = np.random.default_rng(seed), len(X)
    spread = X.std(axis=0)
    known = np.divide((X - X.mean(axis=0)).T @ (y - y.mean()), spread, out=np.zeros(X.shape[1]), where=spread > 0.0)
    chosen = [int(np.abs(known).argmax()), *random.permutation(X.shape[1])[: columns - 1].tolist()]
    for column in dict.fromkeys(chosen):
        for size in SIZES:
            for count in (1, 10):
                places = {
                    "first": random.permutation(10)[:count],
                    "in the middle": n // 2 + random.permutation(40)[:count],
                    "late": 9 * n // 10 + random.permutation(40)[:count],
                    "anywhere": random.permutation(n)[:count],
                }
                for when, rows in places.items():
                    yield Case(column, rows, size * random.choice([-1.0, 1.0]), when)


def mistakes(learner: str, how: dict[str, Any], X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Which rows (n,) are predicted wrongly before they are learnt."""
    model = Model(learner, classes=range(int(y.max()) + 1), **how)
    margins = np.concatenate([model.learn(block).margins for block in ouzel.blocks_from(X, y)])
    assert np.isfinite(margins).all()
    wrong: np.ndarray = (margins > 0.0 if margins.ndim == 1 else margins.argmax(axis=1)) != y
    return wrong


def main() -> None:
    """Print a line a set and learner."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=int, default=3_000, help="maximum number of examples of each set")
    parser.add_argument("--columns", type=int, default=3, help="so many of each set")
    parser.add_argument("--only", default=f"{CHOSEN_BY},{OTHERS}", help="names of sets, comma-separated")
    parser.add_argument("--learners", default=",".join(LEARNERS))
    given = parser.parse_args()
    print("| set | learner | mistakes | mean ratio | worst | of | beyond | by medians |")
    print("| --- | --- | ---: | ---: | ---: | --- | ---: | ---: |")
    for one in sets(given.data, given.only.split(",")):
        block = in_order(one.block, 1, given.rows)
        X, y = dense_of(block, int(one.block.indices.max()) + 1).astype(np.float32), block.labels
        planted = list(cases(X, y, given.columns, 0))
        for learner in given.learners.split(","):
            how, most = LEARNERS[learner]
            plain, figures = mistakes(learner, how, X, y), []
            for case in planted:
                others, found = np.ones(len(X), bool), []
                others[case.rows] = False
                for value in (case.size, np.median(X[:, case.column])):
                    changed = X.copy()
                    changed[case.rows, case.column] = value
                    found.append(int(mistakes(learner, how, changed, y)[others].sum()))
                figures.append((int(plain[others].sum()), *found))
            before, after, harmless = np.array(figures).T
            ratios = after / np.maximum(before, 1)
            worst = int(ratios.argmax())
            beyond, by_medians = (np.count_nonzero(each > before * (1.0 + most) + SLACK) for each in (after, harmless))
            print(
                f"| {one.name} | {learner} | {plain.sum()} | {ratios.mean():.4f} | {ratios[worst]:.3f} "
                f"| {planted[worst]} | {beyond} of {len(planted)} | {by_medians} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
