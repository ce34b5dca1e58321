"""How figures, features and settings read on a screen."""

from __future__ import annotations

from typing import Any

from ouzel.model.model import Model


def factor(ratio: float) -> str:
    """A ratio in three figures, small ones as 1/n.

    >>> factor(12.3456), factor(3.0), factor(0.02), factor(123456.0)
    ('12.3', '3.00', '1/50.0', '123,456')
    """
    if ratio < 1.0:
        return f"1/{factor(1.0 / ratio)}" if ratio > 0.0 else "0"
    return f"{ratio:,.0f}" if ratio >= 99.95 else f"{ratio:#.3g}"


def heaviest(model: Model, n: int) -> list[tuple[Any, list[tuple[str, float]]]]:
    """For each column of weights the class that positive weights speak for, and its n heaviest (feature, weight)."""
    return [(label, [(str(name), weight) for name, weight in column]) for label, column in model.shown_top(n)]


def short(number: float) -> str:
    """A rate in few characters.

    >>> short(1_234_567.0), short(45_600.0), short(7.0)
    ('1.2M', '46K', '7')
    """
    if number >= 1e6:
        return f"{number / 1e6:.1f}M"
    return f"{number / 1e3:.0f}K" if number >= 1e4 else f"{number:.0f}"
