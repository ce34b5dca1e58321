"""Single calls with a dictionary of 76 named features, beside River's logistic regression and beside a plain loop.

A busy machine makes all of them slower alike, so ratios are what to compare: to River, and to a loop in Python over the
same dictionaries that adds up their values. Few examples are timed at a time, and the best of their passes counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from river import linear_model, optim
from text import zipf_rows

import ouzel

PASSES = 30
AT_A_TIME = 10

Call = Callable[[dict[str, float], bool], Any]


def microseconds(calls: list[Call], rows: list[Any], labels: list[bool]) -> list[float]:
    """Time of one call of each, by turns, so that a busy moment strikes all."""
    total = [0.0] * len(calls)
    for start in range(0, len(rows), AT_A_TIME):
        part = list(zip(rows, labels, strict=True))[start : start + AT_A_TIME]
        best = [float("inf")] * len(calls)
        for _ in range(PASSES):
            for place, call in enumerate(calls):
                begun = time.perf_counter()
                for x, y in part:
                    call(x, y)
                best[place] = min(best[place], time.perf_counter() - begun)
        total = [seconds + more for seconds, more in zip(total, best, strict=True)]
    return [seconds / len(rows) * 1e6 for seconds in total]


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
