"""Errors of single learners by `standardize` no, yes and auto: on tables as they are, and on others."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from default_peers import ours
from default_sets import in_order, sets

LEARNERS = ("ogd", "adagrad", "arow", "scw1", "son-oja")
HOW = (False, True, "auto")
RAW = "wine (scikit-learn),breast_cancer (scikit-learn),iris (scikit-learn),adult,magic04,electricity,shuttle"
OTHERS = "a9a,ijcnn1,mushrooms,pendigits,rcv1_binary_sample"


def main() -> None:
    """Print a line a set, and the geometric means of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--shuffles", type=int, default=3)
    parser.add_argument("--rows", type=int, default=4_000, help="maximum number of examples of each set")
    parser.add_argument("--only", default=f"{RAW},{OTHERS}", help="names of sets, comma-separated")
    given = parser.parse_args()
    print("| set | " + " | ".join(f"`{learner}`" for learner in LEARNERS) + " |")
    print("| --- |" + " ---: |" * len(LEARNERS))
    logarithms: dict[str, list[np.ndarray]] = {"tables as they are": [], "others": []}
    for one in sets(given.data, given.only.split(",")):
        orders = [in_order(one.block, order, given.rows) for order in range(1, given.shuffles + 1)]
        errors = np.array(
            [
                [np.mean([ours(learner, standardize=how)(one.task, order) for order in orders]) for how in HOW]
                for learner in LEARNERS
            ]
        )
        print(f"| {one.name} | " + " | ".join(" / ".join(f"{x:.4f}" for x in row) for row in errors) + " |", flush=True)
        kind = "tables as they are" if one.name in RAW.split(",") else "others"
        logarithms[kind].append(np.log(errors[:, 1:] / errors[:, :1]))
    for kind, rows in logarithms.items():
        means = np.exp(np.mean(rows, axis=0))
        ratios = (f"{name} {yes:.2f} {auto:.2f}" for name, (yes, auto) in zip(LEARNERS, means, strict=True))
        print(f"{kind}, ratios of yes and auto to no in the geometric mean: " + ", ".join(ratios))


if __name__ == "__main__":
    main()
