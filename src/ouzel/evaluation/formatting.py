"""Formatting of figures, features and settings for screens, reports and plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from ouzel.errors import printable

if TYPE_CHECKING:
    from ouzel.model.answers import Feature
    from ouzel.model.model import Model

LARGE = 1e5  # weights from which on a decimal point says nothing
WIDTH = 80  # columns that a line may take
NAMES = {
    "error_rate": "error rate",
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "auc": "AUC",
    "calibration_error": "calibration error",
    "calibration_error_before": "before",
    "rmse": "rmse",
    "mae": "mae",
    "r2": "r2",
    "deviance": "deviance",
    "average_precision": "average precision",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "precision_at_1": "precision at 1",
    "precision_at_5": "precision at 5",
    "precision_at_10": "precision at 10",
    "mean_loss": "mean loss",
    "baseline": "baseline",
}
"""Name of each figure on screens, by its name in JSON."""


def figure(value: float | None) -> str:
    """Format a figure in at most seven characters.

    >>> figure(0.15432), figure(12345.6), figure(None)
    ('0.1543', '12345.6', '-')
    """
    if value is None:
        return "-"
    if abs(value) >= 1e6 or (value and abs(value) < 1e-4):
        return f"{value:.1e}"
    return f"{value:.4f}"[:7]


def figures(values: Mapping[str, float | None], *names: str) -> list[str]:
    """Format the figures that have a value, each with its name.

    >>> figures({"error_rate": 0.25, "auc": None, "log_loss": 0.5}, "error_rate", "auc", "log_loss")
    ['error rate 0.2500', 'log-loss 0.5000']
    """
    return [f"{NAMES[name]} {figure(values[name])}" for name in names if values.get(name) is not None]


def size(number: float) -> str:
    """Format bytes in a fitting unit.

    >>> size(8192), size(3_000_000)
    ('8.0 KB', '2.9 MB')
    """
    for unit in ("bytes", "KB", "MB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} GB"


def settings(values: dict[str, Any]) -> str:
    """Format settings in one line, as --set takes them.

    >>> settings({"loss": "quantile(tau=0.9)", "sketch_size": 10.0, "learning_rate": 0.12345678})
    'loss=quantile(tau=0.9) sketch_size=10 learning_rate=0.12345678'
    """
    return " ".join(f"{name}={value if isinstance(value, str) else _exact(value)}" for name, value in values.items())


def fitting(parts: list[str], width: int, between: str) -> list[str]:
    """Return the first parts that fit a line, at least one.

    >>> fitting(["sun +1", "rain -1", "hail -2"], 16, "  ")
    ['sun +1', 'rain -1']
    """
    room = width + len(between)
    fits = 0
    for part in parts:
        room -= len(part) + len(between)
        fits += room >= 0
        if room < 0:
            break
    return parts[: max(1, fits)]


def _exact(value: float) -> str:
    """Format a number exactly in the fewest digits."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value).removesuffix(".0")


def factor(ratio: float) -> str:
    """Format a ratio in three digits, small ones as 1/n.

    >>> factor(12.3456), factor(3.0), factor(0.02), factor(123456.0)
    ('12.3', '3.00', '1/50.0', '123,456')
    """
    if ratio < 1.0:
        return f"1/{factor(1.0 / ratio)}" if ratio > 0.0 else "0"
    return f"{ratio:,.0f}" if ratio >= 99.95 else f"{ratio:#.3g}"


def named(columns: list[tuple[Any, list[Feature]]]) -> list[tuple[Any, list[Feature]]]:
    """Return columns of features with ids as text."""
    return [(label, [feature._replace(name=str(feature.name)) for feature in column]) for label, column in columns]


def ranking(model: Model) -> str:
    """Return the adjective of ranked features."""
    return "heaviest" if model.budgeted else "most important"


def feature_lines(
    column: list[Feature], width: int = 60, intervals: Sequence[tuple[float, float] | None] = ()
) -> list[str]:
    """Return the lines of a table of features: name, importance and weight, and the weight's interval where known.

    >>> from ouzel.model.answers import Feature
    >>> for line in feature_lines([Feature("price", -0.5, 1.25), Feature("sun", 2.0, 0.25)]):
    ...     print(line.strip())
    feature  importance        weight
    price        1.2500       -0.5000
    sun          0.2500       +2.0000
    """
    known = any(feature.importance is not None for feature in column)
    column = [feature._replace(name=printable(feature.name)) for feature in column]
    room = min(max([len("feature"), *(len(str(feature.name)) for feature in column)]), width)
    headings = [f"{'feature':<{room}}", *([f"{'importance':>10}"] if known else []), f"{'weight':>12}"]
    intervals = intervals if any(intervals) else ()
    headings += [f"{'95 % interval':>24}"] if intervals else []
    lines = ["  " + "  ".join(headings)]
    for (name, weight, importance), ends in zip_longest(column, intervals):
        size = [] if not known else [f"{'':>10}" if importance is None else f"{_number(importance):>10}"]
        lines.append(
            "  "
            + "  ".join([f"{name:<{room}}", *size, f"{_number(weight, '+'):>12}", *_as_cell(ends, intervals)]).rstrip()
        )
    return lines


def importance_lines(what: str, ranked: Sequence[tuple[str, float]], rows: int, width: int = 60) -> list[str]:
    """Return the lines of a table of columns, or of pairs, and their importance.

    >>> for line in importance_lines("column", [("price", 1.25), ("sun", 0.25), ("day", 0.0)], rows=2):
    ...     print(line.strip())
    column  importance
    price       1.2500
    sun         0.2500
    … and 1 more
    """
    shown = [(printable(name), size) for name, size in ranked[:rows]]
    room = min(max([len(what), *(len(name) for name, _ in shown)]), width)
    lines = [f"  {what:<{room}}  importance"]
    lines += [f"  {name:<{room}}  {_number(size):>10}" for name, size in shown]
    return lines if len(ranked) <= rows else [*lines, f"  … and {len(ranked) - rows:,} more"]


def _as_cell(ends: tuple[float, float] | None, intervals: Sequence[Any]) -> list[str]:
    """Return the cell of an interval, of a table that has some."""
    text = "" if ends is None else f"{_number(ends[0], '+')} to {_number(ends[1], '+')}"
    return [f"{text:>24}"] if intervals else []


def _number(number: float, sign: str = "") -> str:
    """Format a number in four decimals, a large or small one in four digits."""
    return f"{number:{sign}.4f}" if number == 0.0 or 1e-3 <= abs(number) < LARGE else f"{number:{sign}.4g}"


def short(number: float) -> str:
    """Format a rate in few characters.

    >>> short(1_234_567.0), short(45_600.0), short(7.0)
    ('1.2M', '46K', '7')
    """
    if number >= 1e6:
        return f"{number / 1e6:.1f}M"
    return f"{number / 1e3:.0f}K" if number >= 1e4 else f"{number:.0f}"
