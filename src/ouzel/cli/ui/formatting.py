"""How figures, features and settings read on a screen."""

from __future__ import annotations

from typing import Any

from ouzel.model.answers import Feature
from ouzel.model.model import Model

LARGE = 1e5  # weights from which on a decimal point says nothing


def factor(ratio: float) -> str:
    """A ratio in three figures, small ones as 1/n.

    >>> factor(12.3456), factor(3.0), factor(0.02), factor(123456.0)
    ('12.3', '3.00', '1/50.0', '123,456')
    """
    if ratio < 1.0:
        return f"1/{factor(1.0 / ratio)}" if ratio > 0.0 else "0"
    return f"{ratio:,.0f}" if ratio >= 99.95 else f"{ratio:#.3g}"


def named(columns: list[tuple[Any, list[Feature]]]) -> list[tuple[Any, list[Feature]]]:
    """Columns of features whose ids are text, too."""
    return [(label, [feature._replace(name=str(feature.name)) for feature in column]) for label, column in columns]


def ranking(model: Model) -> str:
    """What features are ranked by."""
    return "heaviest" if model.budgeted else "most important"


def feature_lines(column: list[Feature], width: int = 60) -> list[str]:
    """A table of features, a line each: name, importance and weight.

    >>> for line in feature_lines([Feature("price", -0.5, 1.25), Feature("sun", 2.0, 0.25)]):
    ...     print(line.strip())
    feature  importance        weight
    price        1.2500       -0.5000
    sun          0.2500       +2.0000
    """
    known = any(feature.importance is not None for feature in column)
    room = min(max([len("feature"), *(len(str(feature.name)) for feature in column)]), width)
    headings = [f"{'feature':<{room}}", *([f"{'importance':>10}"] if known else []), f"{'weight':>12}"]
    lines = ["  " + "  ".join(headings)]
    for name, weight, importance in column:
        size = [] if not known else [f"{'':>10}" if importance is None else f"{_number(importance):>10}"]
        lines.append("  " + "  ".join([f"{name!s:<{room}}", *size, f"{_number(weight, '+'):>12}"]))
    return lines


def _number(number: float, sign: str = "") -> str:
    """Four decimals, or of a large or a small number four digits."""
    return f"{number:{sign}.4f}" if number == 0.0 or 1e-3 <= abs(number) < LARGE else f"{number:{sign}.4g}"


def short(number: float) -> str:
    """A rate in few characters.

    >>> short(1_234_567.0), short(45_600.0), short(7.0)
    ('1.2M', '46K', '7')
    """
    if number >= 1e6:
        return f"{number / 1e6:.1f}M"
    return f"{number / 1e3:.0f}K" if number >= 1e4 else f"{number:.0f}"
