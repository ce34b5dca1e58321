"""The default by losses of numbers, each by its own measure, against its squared loss and a running constant.

Predictions are those before learning; the first example is left out, as no label is known before it. The constant is
the quantile of all labels so far, by sorting them, or their mean. A squared loss's prediction of a count is taken for
no less than a twentieth or a fifth of the mean so far, whichever is better in the end. `poisson` is left out where
labels are below 0; its measure is half the mean deviance.

A set counts as won where the default's loss is below both others, and as even where it is at most 1 % above the better.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from default_sets import Set, in_order, number_sets

from ouzel.model.model import Model
from ouzel.streams.block import Block

LOSSES = {
    "absolute": 0.5,
    "quantile(tau=0.1)": 0.1,
    "quantile(tau=0.9)": 0.9,
    "poisson": None,
}
FLOORS = (0.05, 0.2)
Row = tuple[float, float, float]  # the default by a loss, by the squared loss, the constant


def predicted(block: Block, loss: str) -> np.ndarray:
    """The default's margins (n,) before learning each example."""
    margins: np.ndarray = Model("auto", loss=loss).learn(block).margins
    return margins


def running_quantile(labels: np.ndarray, tau: float) -> np.ndarray:
    """The quantile (n,) of the labels before each one."""
    past, found = np.empty(0), np.zeros(len(labels))
    for i, label in enumerate(labels):
        if i:
            place = tau * (i - 1)
            low, part = int(place), place % 1.0
            found[i] = past[low] * (1.0 - part) + past[min(low + 1, i - 1)] * part
        past = np.insert(past, np.searchsorted(past, label), label)
    return found


def pinball(found: np.ndarray, labels: np.ndarray, tau: float) -> float:
    """The mean pinball loss, of all but the first."""
    gap = (labels - found)[1:]
    return float(np.mean(np.maximum(tau * gap, (tau - 1.0) * gap)))


def deviance(rates: np.ndarray, labels: np.ndarray) -> float:
    """Half the mean Poisson deviance, of all but the first."""
    rates, labels = rates[1:], labels[1:]
    logs = np.log(np.where(labels > 0.0, labels, rates) / rates)
    return float(np.mean(labels * logs - labels + rates))


def measured(block: Block, loss: str, tau: float | None, squared: np.ndarray) -> Row:
    """One order of a set."""
    labels, own = block.labels, predicted(block, loss)
    if tau is None:
        before = np.arange(len(labels))
        mean = (np.cumsum(labels) - labels) / np.maximum(before, 1)
        mean = np.maximum(mean, 0.5 / (before + 0.5))
        floored = min(deviance(np.maximum(squared, floor * mean), labels) for floor in FLOORS)
        return deviance(np.exp(own), labels), floored, deviance(mean, labels)
    unit = 2.0 if loss == "absolute" else 1.0
    others = (own, squared, running_quantile(labels, tau))
    first, second, third = (unit * pinball(found, labels, tau) for found in others)
    return first, second, third


def rows_of(one: Set, orders: range, rows: int) -> dict[str, list[Row]]:
    """Of each loss a row for each order of a set."""
    found: dict[str, list[Row]] = {loss: [] for loss in LOSSES}
    for order in orders:
        block = in_order(one.block, order, rows)
        squared = predicted(block, "squared")
        for loss, tau in LOSSES.items():
            if tau is not None or block.labels.min() >= 0.0:
                found[loss].append(measured(block, loss, tau, squared))
    return found


def table(figures: dict[str, dict[str, Row]]) -> Iterator[str]:
    """A line a set, markdown: the default by each loss, its squared loss, the constant."""
    yield f"| set | {' | '.join(f'`{loss}`' for loss in figures)} |"
    yield "| --- |" + " ---: |" * len(figures)
    for name in figures["absolute"]:
        rows = [by_set.get(name) for by_set in figures.values()]
        cells = ["–" if row is None else " / ".join(f"{figure:.4g}" for figure in row) for row in rows]
        yield f"| {name} | {' | '.join(cells)} |"


def summary(by_set: dict[str, Row]) -> str:
    """Sets won and even, and the geometric mean and the worst of the ratios to the better of the two others."""
    ratios = {name: own / max(min(others), 1e-300) for name, (own, *others) in by_set.items()}
    mean, worst = np.exp(np.mean(np.log(list(ratios.values())))), max(ratios, key=lambda name: ratios[name])
    won, even = (sum(ratio < end for ratio in ratios.values()) for end in (1.0, 1.01))
    return f"{won} of {len(ratios)} | {even - won} | {mean:.3f} | {ratios[worst]:.3f} ({worst})"


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--shuffles", type=int, default=3)
    parser.add_argument("--rows", type=int, default=4_000, help="maximum number of examples of each set")
    given = parser.parse_args()
    shuffled: dict[str, dict[str, Row]] = {loss: {} for loss in LOSSES}
    own: dict[str, dict[str, Row]] = {loss: {} for loss in LOSSES}
    for one in number_sets(given.data, given.rows):
        for loss, rows in rows_of(one, range(given.shuffles + 1), given.rows).items():
            if rows:
                own[loss][one.name] = rows[0]
                first, second, third = np.mean(rows[1:], axis=0).tolist()
                shuffled[loss][one.name] = first, second, third
    print(*table(shuffled), "", sep="\n")
    print(
        "| loss | order | won | even | geometric mean | worst |", "| --- | --- | ---: | ---: | ---: | --- |", sep="\n"
    )
    for order, figures in (("shuffled", shuffled), ("own", own)):
        for loss, by_set in figures.items():
            print(f"| `{loss}` | {order} | {summary(by_set)} |")


if __name__ == "__main__":
    main()
