"""Weights of classes on sets with a rare one: F1, average precision and AUC of predictions before learning.

Each learner sees the whole set in its own order; those but `auto` on standardised features.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import ouzel
from ouzel.model.model import Model

LEARNERS = "auto", "adagrad", "arow"
SETS: dict[str, tuple[dict[str, Any], Any]] = {
    "smtp.csv.xz": ({"label": "service"}, 1),
    "w1a.svm.xz": ({}, 1),
    "ijcnn1.svm.xz": ({}, 1),
}
WEIGHTS = 1.0, 2.0, 5.0, 10.0, 30.0, "balanced"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    folder = parser.parse_args().data
    print("| set | weight | learner | F1 | precision | recall | average precision | AUC |")
    print("| --- | --- | --- |" + " ---: |" * 5)
    for name, (reading, rare) in SETS.items():
        blocks = list(ouzel.read(folder / name, **reading))
        for learner in LEARNERS:
            for weight in WEIGHTS:
                given = {rare: weight} if isinstance(weight, float) else weight
                model = Model(learner, standardize=learner != "auto", class_weight=given)
                found = ouzel.progressive_validation(model, blocks)
                figures = found.f1, found.precision, found.recall, found.average_precision, found.auc
                shown = " | ".join("-" if value is None else f"{value:.3f}" for value in figures)
                said = weight if isinstance(weight, str) else f"{weight:g}"
                print(f"| {name.split('.')[0]} | {said} | {learner} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
