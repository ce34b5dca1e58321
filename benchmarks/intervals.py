"""Intervals of 95 % compared with MAPIE's adaptive conformal inference, for the same predictions.

`python benchmarks/intervals.py --data ../shared/data`: `auto` predicts each example before it learns it; both methods
put their interval about that prediction. MAPIE begins with the residuals of the first 1,000
examples, keeps the last 1,000 (`update`) and adapts its level (`adapt_conformal_inference`); what follows is judged.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from river.datasets import synth

import ouzel

LEVEL, FIRST, ROWS, WINDOW = 0.95, 1000, 10_000, 2000
STEPS = (0.005, 0.05)  # of MAPIE's level
Bounds = tuple[np.ndarray, np.ndarray]


def streams(folder: Path) -> Iterator[tuple[str, list[tuple[dict, float]]]]:
    """Yield names and examples: River's Friedman with three kinds of drift, and columns of real sets."""
    yield "Friedman #1", list(synth.Friedman(seed=1).take(ROWS))
    places = (ROWS // 4, ROWS // 2, 3 * ROWS // 4)
    for short, kind, drifts in (("lea", "abrupt in places", places), ("gra", "abrupt everywhere", places[:2])):
        yield f"Friedman, {kind}", list(synth.FriedmanDrift(short, position=drifts, seed=1).take(ROWS))
    gradual = synth.FriedmanDrift("gsg", position=places[:2], transition_window=2000, seed=1)
    yield "Friedman, gradual", list(gradual.take(ROWS))
    if (folder / "electricity.csv.xz").exists():
        import pandas as pd

        frame = pd.read_csv(folder / "electricity.csv.xz").iloc[:ROWS].drop(columns=["class"])
        for column in ("nswdemand", "nswprice"):
            rows = frame.drop(columns=[column]).to_dict("records")
            yield f"electricity, {column}", list(zip(rows, frame[column].tolist(), strict=True))


def of_ouzel(examples: list[tuple[dict, float]]) -> tuple[np.ndarray, Bounds]:
    """Return predictions (n,) and the bounds of their intervals, all before learning."""
    model = ouzel.OnlineRegressor("auto", interval=LEVEL)
    found = np.empty((len(examples), 3))
    for k, (features, number) in enumerate(examples):
        found[k] = model.predict_one(features), *model.predict_interval_one(features, LEVEL)
        model.learn_one(features, number)
    return found[:, 0], (found[:, 1], found[:, 2])


class Stored:
    """What MAPIE takes for a fitted regressor: the prediction of the example whose number it is given."""

    def __init__(self, predictions: np.ndarray) -> None:
        self.predictions, self.n_features_in_ = predictions, 1

    def fit(self, X: np.ndarray, y: np.ndarray) -> Stored:
        """Do nothing."""
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions of examples by number."""
        return self.predictions[np.asarray(X)[:, 0].astype(int)]

    def __sklearn_is_fitted__(self) -> bool:
        return True


def of_mapie(predictions: np.ndarray, numbers: np.ndarray, step: float) -> Bounds:
    """Return the bounds (n - FIRST,) of MAPIE's intervals about the predictions."""
    from mapie.regression import TimeSeriesRegressor

    warnings.simplefilter("ignore")  # of `update`, on parameters that are not given here
    places = np.arange(len(numbers))[:, None]
    method = TimeSeriesRegressor(Stored(predictions), method="aci", cv="prefit")
    method.fit(places[:FIRST], numbers[:FIRST])
    bounds = np.empty((len(numbers) - FIRST, 2))
    for k in range(FIRST, len(numbers)):
        row, number = places[k : k + 1], numbers[k : k + 1]
        _, found = method.predict(row, confidence_level=LEVEL, allow_infinite_bounds=True)
        bounds[k - FIRST] = found[0, :, 0]
        method.adapt_conformal_inference(row, number, gamma=step)
        method.update(row, number)
    return bounds[:, 0], bounds[:, 1]


def shown(name: str, numbers: np.ndarray, bounds: Bounds) -> str:
    """Return a line: coverage, the mean width of bounded intervals, the worst window, the share of unbounded ones."""
    low, high = bounds
    covered, width = (low <= numbers) & (numbers <= high), high - low
    bounded = np.isfinite(width)
    sums = np.cumsum(np.concatenate([[0.0], covered]))
    windows = (sums[WINDOW:] - sums[:-WINDOW]) / WINDOW
    worst = windows[np.argmax(np.abs(windows - LEVEL))]
    figures = f"{covered.mean():.4f} | {width[bounded].mean():.4g} | {worst:.4f} | {1.0 - bounded.mean():.2%}"
    return f"| {name} | {figures} |"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    print("| stream, method | coverage | width | worst window | unbounded |\n| --- | --- | --- | --- | --- |")
    for stream, examples in streams(parser.parse_args().data):
        numbers = np.array([number for _, number in examples])
        predictions, (low, high) = of_ouzel(examples)
        print(shown(f"{stream}, Ouzel", numbers[FIRST:], (low[FIRST:], high[FIRST:])), flush=True)
        for step in STEPS:
            bounds = of_mapie(predictions, numbers, step)
            print(shown(f"{stream}, MAPIE, step {step}", numbers[FIRST:], bounds), flush=True)


if __name__ == "__main__":
    main()
