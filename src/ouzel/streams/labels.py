"""Labels: their encoding and checks, and remarks on what they are taken for."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.errors import DataError, OuzelError, listed
from ouzel.numerals import is_number
from ouzel.sketches.hashing import feature_id
from ouzel.streams.block import LARGEST, Block
from ouzel.streams.feature_space import HALF
from ouzel.streams.feature_specs import matches
from ouzel.streams.options import Options
from ouzel.streams.positive_label import PositiveLabel
from ouzel.streams.truth_values import TRUTHS

LABELS = ("label", "target", "class", "y")  # columns taken for the label unless one is named
INFINITE = "expected a finite number or a name as label, or nothing"
MOST_GROUP = 2**63
DIGITS = 15  # that any number of double precision has


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
    """The label in a cell: a number or a truth value if it reads as one, None if it is empty or no finite number.

    A whole number of so many digits that a number of double precision would be another one, such as that of a bank
    account, is a word.

    >>> [label_of(cell) for cell in (" spam ", "3.0", "TRUE", True, "", "nan", "9007199254740993")]
    ['spam', 3, True, True, None, None, '9007199254740993']
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if is_exact(value) else str(value)
    if not isinstance(value, float):
        text = str(value).strip()
        if not is_number(text):
            return TRUTHS.get(text.lower(), text or None)
        if len(text) > DIGITS and text.lstrip("+-").isdecimal() and not is_exact(int(text)):
            return text
        value = float(text)
    return tidy(value) if math.isfinite(value) else None


def is_exact(number: int) -> bool:
    """Whether a whole number is one of double precision."""
    return abs(number) <= 2**53 or (number.bit_length() <= 1024 and float(number) == number)


def is_infinite(value: object) -> bool:
    """Whether a label's cell is an infinite number, which is refused; NaN means that there is none."""
    if isinstance(value, str):
        return is_number(value.strip()) and math.isinf(float(value))
    return isinstance(value, float) and math.isinf(value)


def as_sign(label: Label | None, positive: PositiveLabel) -> int | None:
    """1 for the label that counts as positive, by name or value; -1 for any other label."""
    if label is None:
        return None
    wanted = label_of(positive)
    same = label == wanted and isinstance(label, bool) == isinstance(wanted, bool)
    sign = 1 if same or label == str(positive) else -1
    positive.note(label, sign)
    return sign


def signs_of(numbers: np.ndarray, positive: PositiveLabel) -> np.ndarray:
    """The signs (n,) of labels that are numbers (n,), NaN where there is none.

    >>> positive = PositiveLabel("2")
    >>> signs_of(np.array([2.0, 3.0, np.nan]), positive).tolist(), positive.is_seen
    ([1.0, -1.0, nan], True)
    """
    wanted = label_of(positive)
    is_word = wanted is None or isinstance(wanted, (str, bool))
    same = np.zeros(len(numbers), np.bool_) if is_word else numbers == wanted
    if not positive.is_seen:
        for number in np.unique(numbers[~np.isnan(numbers)])[: MOST_LISTED + 1].tolist():
            positive.note(tidy(number), -1)
        positive.is_seen = bool(same.any())
    return np.where(np.isnan(numbers), np.nan, np.where(same, 1.0, -1.0))


def group_id(value: object, seed: int) -> int:
    """The number of a group: its own if that is whole, else the hash of its name.

    >>> group_id("12", 0), group_id(3.0, 0), group_id(3.5, 0) == group_id("3.5", 0)
    (12, 3, True)
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value)
    try:
        number = int(text)
    except ValueError:
        return feature_id(text, seed, 31)
    return number if is_number(text) and -MOST_GROUP <= number < MOST_GROUP else feature_id(text, seed, 31)


Label = int | float | str | bool

MOST_LISTED = 10  # labels in a remark


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


def check_label(label: object) -> None:
    """Refuse what is not a label, such as a date.

    >>> check_label(3 + 1j)
    Traceback (most recent call last):
    ouzel.errors.OuzelError: a label is text, a number, or true or false; got (3+1j)
    """
    _check_there(label)
    if not isinstance(label, (str, bool, int, float)):
        raise OuzelError(f"a label is text, a number, or true or false; got {label!r}")
    if isinstance(label, str) and not label.isascii():
        try:
            label.encode()
        except UnicodeEncodeError:
            raise OuzelError(f"the label {label!r} is no text: {HALF}") from None
    if is_infinite(label):
        raise OuzelError(f"the label is {label!r}; expected a finite number, or a name")


def check_number(label: object) -> None:
    """Refuse what is no number to predict: what is missing, infinite, or beyond single precision.

    >>> check_number("dear")
    Traceback (most recent call last):
    ouzel.errors.OuzelError: a number to predict is finite and below 3.4e38; got 'dear'
    """
    try:
        sound = abs(float(label)) <= LARGEST  # type: ignore[arg-type]  # what float() refuses is answered below
    except (TypeError, ValueError, OverflowError):
        sound = False
    if not sound:
        label = label.item() if isinstance(label, np.generic) else label
        _check_there(label)
        raise OuzelError(f"a number to predict is finite and below 3.4e38; got {label!r}")


def _check_there(label: object) -> None:
    """Refuse a label that says that there is none."""
    if _known(label) is None:
        raise OuzelError(f"the label is missing ({label!r}); leave out examples without a label")


def sort_key(label: Label) -> tuple[bool, Any]:
    """Numbers first and by size, then names."""
    return (isinstance(label, str), label)


def encode_labels(labels: Any, count: int) -> tuple[np.ndarray, list[Label] | None]:
    """Labels (n,) as numbers, or as positions in a list of the names; NaN where there are none."""
    if labels is None:
        return np.full(count, np.nan), None
    listed = labels if isinstance(labels, list) else np.asarray(labels).tolist()
    given = [label.item() if isinstance(label, np.generic) else label for label in listed]
    given = [label if isinstance(label, str) else _known(label) for label in given]
    if len(given) != count:
        raise DataError(f"there are {count} examples but {len(given)} labels; give one for each")
    given = [label_of(label) if type(label) is int and not is_exact(label) else label for label in given]
    kinds = {type(label) for label in given}
    if kinds <= {int, float, type(None)}:
        numbers = np.array([math.nan if label is None else label for label in given], np.float64)
        if np.isinf(numbers).any():
            raise DataError(f"example {np.argmax(np.isinf(numbers))}: its label is infinite; expected a finite number")
        return numbers, None
    names = [label for label in dict.fromkeys(given) if _known(label) is not None]
    infinite = next(filter(is_infinite, names), None)
    if infinite is not None:
        raise DataError(f"example {given.index(infinite)}: its label is {infinite!r}; {INFINITE}")
    places: dict[Any, float] = {name: place for place, name in enumerate(names)}
    return np.array([places.get(label, math.nan) for label in given]), names


def refuse_missing(labels: Any) -> None:
    """Say which of the labels (n,) in memory is missing, where one of words or of several types is.

    >>> refuse_missing(["spam", None])
    Traceback (most recent call last):
    ouzel.errors.DataError: example 1: its label is missing (None); leave out examples without a label
    """
    given = np.asarray(labels)
    for place, label in enumerate(given.tolist() if given.dtype.kind in "OU" and given.ndim == 1 else ()):
        if _known(label) is None:
            raise DataError(f"example {place}: its label is missing ({label!r}); leave out examples without a label")


def _known(label: Any) -> Any:
    """A label; None if it means that there is none, as in files: an empty text, say."""
    if isinstance(label, str):
        return None if label_of(label) is None and not is_infinite(label) else label
    missing = type(label).__name__ in ("NAType", "NaTType") or (isinstance(label, float) and math.isnan(label))
    return None if missing else label
