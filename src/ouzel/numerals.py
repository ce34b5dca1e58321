"""Numbers as people write them, outside of kernels (`streams.numbers` reads those of big files)."""

from __future__ import annotations

from math import nan


def as_number(text: str) -> float:
    """The number that a text says, NaN if it says none.

    >>> as_number(" 2.5"), as_number("1e3"), as_number("two")
    (2.5, 1000.0, nan)
    """
    try:
        return float(text)
    except ValueError:
        return nan


def is_number(text: str) -> bool:
    """Whether a text says a number (or "nan", or "inf", as Python's `float` has it).

    >>> is_number("-1e-6"), is_number("two")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True
