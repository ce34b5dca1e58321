"""One example at a time, from a dictionary of 76 named features: `learn_one` beside River's logistic regression."""

from __future__ import annotations

import time
from typing import Any

from river import linear_model, optim
from text import zipf_rows

import ouzel


def microseconds(models: list[Any], rows: list[dict[str, float]], labels: list[bool]) -> list[float]:
    """Time of one `learn_one` of each, best of ten passes, by turns, so that a busy moment strikes all."""
    best = [float("inf")] * len(models)
    for _ in range(10):
        for place, model in enumerate(models):
            begun = time.perf_counter()
            for x, y in zip(rows, labels, strict=True):
                model.learn_one(x, y)
            best[place] = min(best[place], time.perf_counter() - begun)
    return [seconds / len(rows) * 1e6 for seconds in best]


def main() -> None:
    """Print the table."""
    ids, values, labels = zipf_rows(1000)
    rows = [
        {f"word={j}": float(x) for j, x in zip(row, numbers, strict=True)}
        for row, numbers in zip(ids.tolist(), values.tolist(), strict=True)
    ]
    truth = [bool(label > 0) for label in labels]
    models = [ouzel.AdaGradClassifier(), linear_model.LogisticRegression(optim.AdaGrad())]
    ours, peer = microseconds(models, rows, truth)
    print(f"learn_one, 76 features: ouzel {ours:.1f} us, river {peer:.1f} us, ratio {ours / peer:.2f}")


if __name__ == "__main__":
    main()
