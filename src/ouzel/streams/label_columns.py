"""The label column of a table, and the values of its labels, groups and ids."""

from __future__ import annotations

import math
from collections.abc import Callable

from ouzel.errors import DataError, listed
from ouzel.numerals import is_number
from ouzel.sketches.hashing import feature_id
from ouzel.streams.label_values import Label, tidy
from ouzel.streams.options import Options
from ouzel.streams.patterns import matches

LABELS = ("label", "target", "class", "y")  # columns taken for the label unless one is named
INFINITE = "expected a finite number or a name as label, or nothing"
MOST_GROUP = 2**63


def find_label(
    options: Options, columns: list[str], name: str, say: Callable[[str], None] = lambda line: None
) -> str | None:
    """The label column: the one named, or one with a usual name; only for prediction may there be none.

    A column that the model knows as a feature is no label. Of several, the name that comes first among LABELS counts,
    and then the position. `say` is called with a line on which column was chosen by its name.

    >>> find_label(Options(), ["y", "class", "a"], "t.csv", print)
    label: class (by its name; y is a feature)
    'class'
    """
    if options.label is not None:
        return options.label if options.label in columns or not options.unlabelled else None
    others = (
        options.weight,
        options.group,
        options.id,
        *options.text,
        *options.categorical,
        *options.numeric,
        *options.dates,
    )
    free = [column for column in columns if column not in others and column not in options.space.kinds]
    found = [column for candidate in LABELS for column in free if column.lower() == candidate]
    found = [column for column in found if not matches(column, options.ignore)]
    if found:
        left = [column for column in found[1:] if options.wants(column)]
        features = f"; {listed(left)} {'are features' if len(left) > 1 else 'is a feature'}" if left else ""
        say(f"label: {found[0]} (by its name{features})")
        return found[0]
    if options.unlabelled:
        return None
    if any(_reads_as_number(column) for column in columns):
        raise DataError.at(
            name,
            f"which column is the label? {listed(columns[:5])}, … are not names",
            advice="name all columns with",
            columns=("A", "B", "…"),
            label="NAME",
        )
    which = f"which column is the label? There are {listed(columns)}"
    raise DataError.at(name, which, advice="name it with", label="NAME")


def _reads_as_number(column: str) -> bool:
    return isinstance(label_of(column), (float, int))


def label_of(value: object) -> Label | None:
    """The label in a cell: a number if it reads as one, None if it is empty or no finite number."""
    if value is None or isinstance(value, bool):
        return value
    if not isinstance(value, (int, float)):
        text = str(value).strip()
        if not is_number(text):
            return text or None
        value = float(text)
    return tidy(value) if math.isfinite(value) else None


def is_infinite(value: object) -> bool:
    """Whether a label's cell is an infinite number, which is refused; NaN means that there is none."""
    if isinstance(value, str):
        return is_number(value) and math.isinf(float(value))
    return isinstance(value, float) and math.isinf(value)


def as_sign(label: Label | None, positive: str) -> int | None:
    """1 for the label that counts as positive, by name or value; -1 for any other label."""
    if label is None:
        return None
    same = (
        str(label).lower() == positive.lower() if isinstance(label, bool) else label in (positive, label_of(positive))
    )
    return 1 if same else -1


def group_id(value: object, seed: int) -> int:
    """The number of a group: its own if that is whole, else the hash of its name.

    >>> group_id("12", 0), group_id(3.0, 0), group_id(3.5, 0) == group_id("3.5", 0)
    (12, 3, True)
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        number = int(str(value))
    except ValueError:
        return feature_id(str(value), seed, 31)
    return number if -MOST_GROUP <= number < MOST_GROUP else feature_id(str(value), seed, 31)
