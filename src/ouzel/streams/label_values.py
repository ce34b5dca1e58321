"""Labels and importance weights: their encoding and checks, and remarks on what they are taken for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ouzel.errors import DataError, OuzelError, listed
from ouzel.numerals import is_number
from ouzel.streams.block import LARGEST, Block

Label = int | float | str | bool

MOST_WHOLE = 100  # different whole numbers that may be classes, even with few examples each
FEWEST_AMOUNTS = 10  # different words for numbers
FEWEST_EACH = 20  # examples of a class, in the mean, where there are more
MOST_LISTED = 10  # labels in a remark
AS_NUMBERS = "labels are numbers ({}): learning to predict them; --loss logistic learns classes"


def tidy(number: float) -> int | float:
    """A whole number as int, so that a class reads 1 and not 1.0."""
    return int(number) if float(number).is_integer() else float(number)


def text_of(value: object) -> str:
    """The name of a row as text: words without blanks around them, whole numbers without a point.

    >>> text_of(" a "), text_of(2.0), text_of(True)
    ('a', '2', 'true')
    """
    if isinstance(value, str):
        return value.strip(" ")
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return str(value).lower()
    return str(tidy(value) if isinstance(value, float) and math.isfinite(value) else value)


def labels_in(block: Block) -> list[Label | None]:
    """The label of each example of a block; None of one that has none."""
    names = block.label_names
    return [
        None if math.isnan(label) else tidy(label) if names is None else names[int(label)]
        for label in block.labels.tolist()
    ]


def why_numbers(block: Block) -> str:
    """The reason why labels, by the first block of a stream, are numbers to predict; "" if they are classes.

    They are numbers if one is not whole, or if there are more different ones than a stream has classes.
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


def classes_in(block: Block, otherwise: str = "--task regression predicts numbers") -> list[str]:
    """The remark on labels that are three or more whole numbers and are taken as classes: one line or none.

    They may be ratings, counts or ages.

    >>> from ouzel.streams.memory import blocks_from
    >>> classes_in(next(blocks_from([({"a": 1.0}, rating) for rating in (3, 1, 5)])))
    ['labels 1, 3, 5: taken as 3 classes; --task regression predicts numbers']
    """
    labels = np.unique(block.labels[~np.isnan(block.labels)])
    if block.label_names is not None or len(labels) <= 2 or (labels != np.floor(labels)).any():
        return []
    found = listed([f"{label:g}" for label in labels.tolist()], MOST_LISTED)
    return [f"labels {found}: taken as {len(labels)} classes; {otherwise}"]


def amounts_in(block: Block) -> list[str]:
    """The remark on labels that are classes only because of signs, such as $1,200.50: one line or none."""
    names = [name for name in block.label_names or [] if isinstance(name, str)]
    if len(names) < FEWEST_AMOUNTS or not all(is_number(_bare(name)) for name in names):
        return []
    return [f"labels such as {names[0]} are words, and classes; write {_bare(names[0])} to have numbers predicted"]


def _bare(label: str) -> str:
    return label.strip("$€£¥% ").replace(",", "")


def check_label(label: object) -> None:
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


def encode_labels(labels: Any, count: int) -> tuple[np.ndarray, list[Label] | None]:
    """Labels (n,) as numbers, or as positions in a list of the names; NaN where there are none."""
    if labels is None:
        return np.full(count, np.nan), None
    listed = labels if isinstance(labels, list) else np.asarray(labels).tolist()
    given = [_known(label.item() if isinstance(label, np.generic) else label) for label in listed]
    if len(given) != count:
        raise DataError(f"there are {count} examples but {len(given)} labels; give one for each")
    kinds = {type(label) for label in given}
    if kinds <= {int, float, type(None)}:
        numbers = np.array([math.nan if label is None else label for label in given], np.float64)
        if np.isinf(numbers).any():
            raise DataError(f"example {np.argmax(np.isinf(numbers))}: its label is infinite; expected a finite number")
        return numbers, None
    names = list(dict.fromkeys(label for label in given if label is not None))
    places: dict[Any, float] = {name: place for place, name in enumerate(names)}
    return np.array([places.get(label, math.nan) for label in given]), names


def _known(label: Any) -> Any:
    """A label; None if it means that there is none."""
    missing = type(label).__name__ == "NAType" or (isinstance(label, float) and math.isnan(label))
    return None if missing else label


def as_weights(weights: Any, count: int) -> np.ndarray:
    """Importance weights (n,) float32, 1 unless given; they are finite and 0 or more."""
    if weights is None:
        return np.ones(count, np.float32)
    given = np.asarray(weights, np.float32)
    if given.shape != (count,):
        raise DataError(f"there are {count} examples but {given.size} weights; give one for each")
    bad = ~((given >= 0.0) & (given <= LARGEST))
    if bad.any():
        raise DataError(
            f"example {np.argmax(bad)}: its weight is {given[np.argmax(bad)]}; expected a finite number of 0 or more"
        )
    return given
