"""What a label may be: a number, a word, or true and false; and how labels are written and sorted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.streams.block import Block

Label = int | float | str | bool

MOST_WHOLE = 100  # different whole numbers that may be classes, however few examples each has
FEWEST_EACH = 20  # examples of a class, in the mean, where there are more


def tidy(number: float) -> int | float:
    """Whole numbers as int, so that a class reads 1 and not 1.0."""
    return int(number) if float(number).is_integer() else float(number)


def labels_in(block: Block) -> list[Label | None]:
    """The label of each example of a block; None of one that has none."""
    names = block.label_names
    return [
        None if math.isnan(label) else tidy(label) if names is None else names[int(label)]
        for label in block.labels.tolist()
    ]


def why_numbers(block: Block) -> str:
    """Why the labels of a stream that begins with this block are numbers to predict; "" if they are classes.

    They are numbers where one is not whole, or where there are more different ones than a stream has classes.
    """
    labels = block.labels[~np.isnan(block.labels)]
    if block.label_names is not None or not len(labels):
        return ""
    odd = labels[labels != np.floor(labels)]
    if len(odd):
        return f"such as {odd[0]:g}"
    different = len(np.unique(labels))
    if different > MOST_WHOLE and different * FEWEST_EACH > len(labels):
        return f"{different:,} different ones in {len(labels):,} examples"
    return ""


def check_label(label: Any) -> None:
    """Refuse what is not a label, such as a date.

    >>> check_label(3 + 1j)
    Traceback (most recent call last):
    ouzel.errors.OuzelError: a label is text, a number, or true or false; got (3+1j)
    """
    if not isinstance(label, (str, bool, int, float)):
        raise OuzelError(f"a label is text, a number, or true or false; got {label!r}")


def sort_key(label: Label) -> tuple[bool, Any]:
    """Numbers first and by size, then names."""
    return (isinstance(label, str), label)
