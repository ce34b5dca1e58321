"""One example at a time, from a dictionary of 76 named features: single calls beside River, and beside a plain loop.

A busy machine makes all of them slower alike, so that ratios are what to compare: to River's logistic regression, and to a
loop in Python over the same dictionaries that adds up their values.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from river import linear_model, optim
from text import zipf_rows

import ouzel

PASSES = 15


def microseconds(
    calls: list[Callable[[dict[str, float], bool], Any]], rows: list[Any], labels: list[bool]
) -> list[float]:
    """Time of one call of each, best of some passes, by turns, so that a busy moment strikes all."""
    best = [float("inf")] * len(calls)
    for _ in range(PASSES):
        for place, call in enumerate(calls):
            begun = time.perf_counter()
            for x, y in zip(rows, labels, strict=True):
                call(x, y)
            best[place] = min(best[place], time.perf_counter() - begun)
    return [seconds / len(rows) * 1e6 for seconds in best]


def plain_loop(x: dict[str, float], y: bool) -> float:
    """What a program does at least that looks at every feature."""
    total = 0.0
    for value in x.values():
        total += value
    return total


def main() -> None:
    """Print the table."""
    ids, values, labels = zipf_rows(1000)
    rows = [
        {f"word={j}": float(x) for j, x in zip(row, numbers, strict=True)}
        for row, numbers in zip(ids.tolist(), values.tolist(), strict=True)
    ]
    truth = [bool(label > 0) for label in labels]
    ours, peer = ouzel.AdaGradClassifier(), linear_model.LogisticRegression(optim.AdaGrad())
    pairs = [
        ("learn_one", lambda x, y: ours.learn_one(x, y), lambda x, y: peer.learn_one(x, y)),
        ("predict_one", lambda x, y: ours.predict_one(x), lambda x, y: peer.predict_one(x)),
        ("predict_proba_one", lambda x, y: ours.predict_proba_one(x), lambda x, y: peer.predict_proba_one(x)),
    ]
    calls = [plain_loop, *(call for _, *both in pairs for call in both)]
    loop, *found = microseconds(calls, rows, truth)
    print(f"76 features; a plain loop over them: {loop:.1f} us")
    for (name, *_), mine, its in zip(pairs, found[::2], found[1::2], strict=True):
        print(f"{name}: ouzel {mine:.1f} us, river {its:.1f} us, ratio {mine / its:.2f}; {mine / loop:.1f} plain loops")


if __name__ == "__main__":
    main()
