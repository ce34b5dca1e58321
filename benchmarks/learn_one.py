"""One example at a time, from a dictionary of 76 named features: `learn_one` beside River's logistic regression."""

from __future__ import annotations

import time

from river import linear_model, optim
from text import zipf_rows

import ouzel


def microseconds(model: object, rows: list[dict[str, float]], labels: list[bool]) -> float:
    """Time of one `learn_one`, best of five passes."""
    best = float("inf")
    for _ in range(5):
        begun = time.perf_counter()
        for x, y in zip(rows, labels, strict=True):
            model.learn_one(x, y)  # type: ignore[attr-defined]
        best = min(best, time.perf_counter() - begun)
    return best / len(rows) * 1e6


def main() -> None:
    """Print the table."""
    ids, values, labels = zipf_rows(1000)
    rows = [
        {f"word={j}": float(x) for j, x in zip(row, numbers, strict=True)}
        for row, numbers in zip(ids.tolist(), values.tolist(), strict=True)
    ]
    truth = [bool(label > 0) for label in labels]
    ours = microseconds(ouzel.AdaGradClassifier(), rows, truth)
    peer = microseconds(linear_model.LogisticRegression(optim.AdaGrad()), rows, truth)
    print(f"learn_one, 76 features: ouzel {ours:.1f} us, river {peer:.1f} us, ratio {ours / peer:.2f}")


if __name__ == "__main__":
    main()
