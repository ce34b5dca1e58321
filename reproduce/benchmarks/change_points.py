"""Seven series whose change points people have marked, in River's package: the next value from the last five.

van den Burg & Williams (2020), "An Evaluation of Change Point Detection Algorithms", is where they are from.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from reproduce.provenance import DataFolder
from reproduce.writing import listed, markdown_table

SERIES = ("AirlinePassengers", "Apple", "Bitcoin", "BrentSpotPrice", "Occupancy", "RunLog", "UKCoalEmploy")
LAGS = 5  # values before the one that is predicted
AFTER = 20  # steps that count as after a change
HALF_LIFE = 100.0
DEFAULT, FORGETS, DIFFERENCES = "Ouzel", f"Ouzel, half-life {HALF_LIFE:g}", "Ouzel, differences"
LINEAR, LAST = "River linear", "last value"
QUICK = ("RunLog",)
THINNED = ("Apple", "BrentSpotPrice")  # marked in shorter copies of River's files


class Series(NamedTuple):
    """A series: its values and the positions of its change points."""

    name: str  # of the series and its column
    values: np.ndarray  # (n,)
    marked: list[int]  # places that any annotator has marked

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """The last values (n - LAGS, LAGS), the latest first, and the next one (n - LAGS,)."""
        lags = np.lib.stride_tricks.sliding_window_view(self.values[:-1], LAGS)[:, ::-1]
        return np.ascontiguousarray(lags), self.values[LAGS:]

    def after(self) -> np.ndarray:
        """Mask (n - LAGS,) of the rows within `AFTER` steps of a change point."""
        steps = np.arange(LAGS, len(self.values))
        near = np.zeros(len(steps), bool)
        for point in self.marked:
            near |= (steps >= point) & (steps < point + AFTER)
        return near


def series_of(data: DataFolder, name: str) -> Series:
    """The first column of a series; a share's is its closing price."""
    from river.drift import datasets

    found: Any = getattr(datasets, name)()
    data.used.add(Path(found.path))
    values, column = [], ""
    for _, y in found:
        if isinstance(y, dict):
            column = next((key for key in y if key == "Close"), next(iter(y)))
            values.append(float(y[column]))
        else:
            values.append(float(y))
    marks = found.annotations.values() if name not in THINNED else ()
    marked = sorted({int(place) for places in marks for place in places})
    return Series(f"{name}, {column}" if column else name, np.array(values), marked)


def by_default(forget: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return a function that predicts each row by the default before the row is learnt."""

    def found(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        model = Model("auto", loss="squared", forget=forget)
        return np.concatenate([model.learn(block).margins for block in blocks_from(X.astype(np.float32), y)])

    return found


def of_differences(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Predictions of the default, which learns differences of successive values."""
    return np.asarray(X[:, 0] + by_default(0.0)(X[:, :-1] - X[:, 1:], y - X[:, 0]))


def by_river(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Predictions of River's linear regression behind its scaler."""
    from river import linear_model, preprocessing

    model: Any = preprocessing.StandardScaler() | linear_model.LinearRegression()
    predicted = np.zeros(len(y))
    for number, (row, value) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        x = dict(enumerate(row))
        predicted[number] = model.predict_one(x)
        model.learn_one(x, value)
    return predicted


LEARNERS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    DEFAULT: by_default(0.0),
    FORGETS: by_default(HALF_LIFE),
    DIFFERENCES: of_differences,
    LINEAR: by_river,
    LAST: lambda X, y: X[:, 0],
}

Measured = dict[str, tuple[Series, dict[str, np.ndarray]]]


def forecast_errors(data: DataFolder, quick: bool) -> Measured:
    """Predict every series; return the errors (predictions less values) by learner."""
    found = {}
    for name in QUICK if quick else SERIES:
        series = series_of(data, name)
        X, y = series.rows()
        found[name] = (series, {learner: (predict(X, y) - y)[1:] for learner, predict in LEARNERS.items()})
    return found


def table(found: Measured) -> str:
    """A line a series: root mean square and mean absolute errors, and the former after changes."""
    lines = []
    for series, gaps in found.values():
        near = series.after()[1:]
        figures = {
            "RMSE": [rms(gap) for gap in gaps.values()],
            "MAE": [float(np.abs(gap).mean()) for gap in gaps.values()],
            "RMSE after marks": [rms(gap[near]) for gap in gaps.values() if near.any()],
        }
        for figure, values in figures.items():
            if values:
                lines.append([series.name, f"{len(near):,}", figure, *(f"{value:.4g}" for value in values)])
    return markdown_table(["series", "steps", "figure", *LEARNERS], lines)


def rms(gaps: np.ndarray) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(gaps**2)))


def conclusion(found: Measured) -> str:
    """Sentences on the protocol, and on which series the default has lower errors."""
    parts = []
    for learner in (DEFAULT, DIFFERENCES):
        ahead = {
            rival: sum(rms(gaps[learner]) < rms(gaps[rival]) for _, gaps in found.values()) for rival in (LINEAR, LAST)
        }
        below = listed([f"that of {rival} on {count}" for rival, count in ahead.items()])
        parts.append(f"The root mean square error of {learner} is below {below} of {len(found)} series.")
    return " ".join([REMARKS, *parts])


REMARKS = """
The next value of a series is predicted from its last 5 values, in their own units, and then learnt. The first
prediction is not counted: no label was known before it. Where a series has several columns, its name says which one.
"After marks" are the 20 steps from each place that any of the annotators has marked on; marks of Apple and
BrentSpotPrice are left out, as they lie in the first third and the first tenth of River's longer files. The last value
is a forecast itself; "differences" is the default that learns the differences from value to value, and predicts the
next one.
"""
