"""How figures and settings read on a screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WIDTH = 80  # columns that a line may take
NAMES = {
    "error_rate": "error rate",
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "auc": "AUC",
    "calibration_error": "calibration error",
    "rmse": "rmse",
    "mae": "mae",
    "r2": "r2",
    "deviance": "deviance",
    "average_precision": "average precision",
    "precision_at_1": "precision at 1",
    "precision_at_5": "precision at 5",
    "precision_at_10": "precision at 10",
    "mean_loss": "mean loss",
    "baseline": "baseline",
}
"""What every screen calls a figure, by its name in JSON."""


def figure(value: float | None) -> str:
    """A figure in at most seven characters.

    >>> figure(0.15432), figure(12345.6), figure(None)
    ('0.1543', '12345.6', '-')
    """
    if value is None:
        return "-"
    if abs(value) >= 1e6 or (value and abs(value) < 1e-4):
        return f"{value:.1e}"
    return f"{value:.4f}"[:7]


def figures(values: Mapping[str, float | None], *names: str) -> list[str]:
    """Those of some figures that there are, each with its name.

    >>> figures({"error_rate": 0.25, "auc": None, "log_loss": 0.5}, "error_rate", "auc", "log_loss")
    ['error rate 0.2500', 'log-loss 0.5000']
    """
    return [f"{NAMES[name]} {figure(values[name])}" for name in names if values.get(name) is not None]


def size(number: float) -> str:
    """Bytes in the unit that fits.

    >>> size(8192), size(3_000_000)
    ('8.0 KB', '2.9 MB')
    """
    for unit in ("bytes", "KB", "MB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} GB"


def settings(values: dict[str, Any]) -> str:
    """Settings in one line, as --set takes them.

    >>> settings({"loss": "quantile(tau=0.9)", "sketch_size": 10.0, "learning_rate": 0.12345678})
    'loss=quantile(tau=0.9) sketch_size=10 learning_rate=0.12345678'
    """
    return " ".join(f"{name}={value if isinstance(value, str) else _exact(value)}" for name, value in values.items())


def fitting(parts: list[str], width: int, between: str) -> list[str]:
    """The first parts that fit a line, one at least.

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
    """A number in as few digits as say it."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
