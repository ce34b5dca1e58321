"""What a label may be: a number, a word, or true and false; and how labels are written and sorted."""

from __future__ import annotations

from typing import Any

Label = int | float | str | bool


def tidy(number: float) -> int | float:
    """Whole numbers as int, so that a class reads 1 and not 1.0."""
    return int(number) if float(number).is_integer() else float(number)


def sort_key(label: Label) -> tuple[bool, Any]:
    """Numbers first and by size, then names."""
    return (isinstance(label, str), label)
