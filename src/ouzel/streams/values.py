"""The features of a value: the one rule for members of JSON objects, values of dictionaries, and cells of columns.

A value is first made plain: missing, a truth value, a number, a word, a date or a time, or a list of those. Then the
kind of its column, if it is known, says which features it has; else its own type, or the content of a word:

- a number is the value of the feature of its column's name, and 0 is no feature;
- a truth value is the feature `column=true` or `column=false`, also as the word `True`; 1 or 0 in a column of numbers;
- a word is the feature `column=word`, without blanks around it;
- a date or a time, also as a word of ISO 8601, is its seconds and its calendar parts (`ouzel.streams.dates`);
- a duration is its seconds, a period the date that it begins with, bytes are text in UTF-8;
- a list is the features of its items, each a word.

A column is `strict` if the model knows that it has values of one kind alone: a word among its numbers is refused, and a
number, unless it is written as text, among its categories. Values of one feature in a row add up.

Columns of Arrow and cells of text have fast readers of their own, which give the same features.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, time, timedelta
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.deferred import deferred
from ouzel.numerals import is_number
from ouzel.streams.block import LARGEST
from ouzel.streams.dates import EXPECTED, date_parts, is_iso
from ouzel.streams.feature_space import CATEGORY, DATE, LIST, NUMBER, TEXT, Token
from ouzel.streams.labels import tidy
from ouzel.streams.missing import NA_FEATURE, is_missing, is_na_in_numbers
from ouzel.streams.truth_values import TRUTHS

if TYPE_CHECKING:
    from ouzel.streams import interaction_inputs
    from ouzel.streams.interaction_inputs import SourceField
else:
    interaction_inputs = deferred("ouzel.streams.interaction_inputs")

TOKEN = re.compile(rb"[A-Za-z0-9'\x80-\xff]+")  # as `cells.read_tokens` splits text
MOMENTS = (date, time)  # a datetime is a date, too
NAMED_BY_TEXT = frozenset(("Interval", "UUID"))  # types of values that are words: intervals of pandas, as `cut` makes
WORD = "expected a number, a word, or nothing"
KNOWN = "expected {0}, as the column is known to hold"


def tokens(text: str) -> list[str]:
    """The words of a text in lower case, as in tables: letters, digits and apostrophes.

    >>> tokens("It's 2 o'clock.")
    ["it's", '2', "o'clock"]
    """
    return [word.lower().decode() for word in TOKEN.findall(text.encode())]


class BadValueError(ValueError):
    """A value that its column cannot have; `expected` says what it can have."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected


class OtherKindError(BadValueError):
    """A value of another kind than the known one of its column."""

    def __init__(self, kind: str) -> None:
        super().__init__(KNOWN.format(kind))


def plain_value(value: Any) -> Any:
    """A value as None, a bool, an int or a float, a str, a date, a datetime or a time, or a list.

    >>> [plain_value(value) for value in (" True ", "NA", float("nan"), b"Rome", (1, 2), timedelta(minutes=1))]
    [True, None, None, 'Rome', [1, 2], 60.0]
    """
    if isinstance(value, np.ndarray):
        value = list(value) if value.ndim else value[()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        try:
            value = bytes(value).decode()
        except UnicodeDecodeError:
            raise BadValueError("expected text in UTF-8") from None
    if isinstance(value, str):
        word = value.strip(" ")
        return None if is_missing(word) else TRUTHS.get(word.lower(), word) if len(word) in (4, 5) else word
    if value is None or isinstance(value, (bool, int, float)):
        return None if value != value else value
    if isinstance(value, np.generic):
        return plain_value(_of_numpy(value))
    if is_missing(value):
        return None
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, MOMENTS):
        return value
    if type(value).__name__ == "Period":
        start, stop = value.start_time, value.end_time
        return start.date() if stop - start > timedelta(hours=23) else start.to_pydatetime()
    if type(value).__name__ in NAMED_BY_TEXT:
        return str(value)
    if isinstance(value, Real) or (hasattr(value, "__float__") and not hasattr(value, "__len__")):
        return plain_value(float(value))
    raise BadValueError(WORD)


def json_value(value: Any) -> Any:
    """A value, or a dictionary or list of values, as JSON has it, so that it has the same features.

    >>> json_value({"at": date(2024, 1, 31), "took": timedelta(minutes=1), "age": float("nan")})
    {'at': '2024-01-31', 'took': 60.0, 'age': None}
    """
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(name): json_value(member) for name, member in value.items()}
    plain = plain_value(value)
    if isinstance(plain, list):
        return [json_value(item) for item in plain]
    return plain.isoformat() if isinstance(plain, MOMENTS) else plain


def _of_numpy(value: Any) -> Any:
    """A scalar of NumPy as one of Python."""
    if isinstance(value, np.datetime64):
        day = np.datetime_data(value.dtype)[0] in ("Y", "M", "W", "D")
        return value.astype("datetime64[D]" if day else "datetime64[us]").item()
    if isinstance(value, np.timedelta64):
        return None if np.isnat(value) else value / np.timedelta64(1, "s")
    return value.item()


def word_of(value: Any) -> str:
    """The word that a value is in a column of categories.

    >>> [word_of(value) for value in (True, "TRUE", 2.0, 0.5, " Rome ", date(2024, 1, 31))]
    ['true', 'true', '2', '0.5', 'Rome', '2024-01-31']
    """
    if isinstance(value, np.floating):
        value = float(str(value))
    found = plain_value(value)
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, float) and math.isfinite(found):
        return str(tidy(found))
    return str(found)


def by_content(value: Any) -> str | None:
    """The kind of a plain value in a column of unknown kind: DATE, NUMBER or CATEGORY; None if it is missing.

    >>> [by_content(value) for value in (1.5, "Rome", "2024-01-31", True, None)]
    ['number', 'category', 'date', 'category', None]
    """
    if value is None:
        return None
    if isinstance(value, MOMENTS) or (isinstance(value, str) and is_iso(value)):
        return DATE
    return CATEGORY if isinstance(value, (str, bool)) else NUMBER


def features_of(
    name: Any, value: Any, kind: str | None = None, prefix: str = "", indicator: bool = False, strict: bool = False
) -> dict[Any, float]:
    """The features of a value in the column `name`, whose values are of a `kind` if that is known.

    A number that is 0 is among them, so that its name is known; rows leave it out. Words of a text have a `prefix`. A
    missing value has no feature, or with `indicator` one of its own. Raises BadValueError, if the column is `strict`
    also for a word among numbers, a number among categories and a list among either.

    >>> features_of("day", "2024-01-31"), features_of("open", "True"), features_of("rooms", "3", NUMBER)
    ({'day': 1706659200.0, 'day.month=1': 1.0, 'day.weekday=Wed': 1.0}, {'open=true': 1.0}, {'rooms': 3.0})
    """
    plain = plain_value(value)
    if strict and isinstance(plain, list) and kind in (NUMBER, DATE):
        raise OtherKindError("a number") if kind == NUMBER else BadValueError(EXPECTED)
    words = _words(name, value, plain, kind, prefix)
    if words is not None:
        before, several = words
        found: dict[Any, float] = {}
        for word in several:
            feature = Token(before + word)
            found[feature] = found.get(feature, 0.0) + 1.0
        return found
    if kind == NUMBER and isinstance(plain, str) and is_na_in_numbers(plain):
        plain = None
    if plain is None:
        return {f"{name}={NA_FEATURE}": 1.0} if indicator else {}
    if strict and is_of_other_kind(plain, kind):
        raise OtherKindError("a number" if kind == NUMBER else "a word")
    if kind in (CATEGORY, LIST):
        return {f"{name}={word_of(value)}": 1.0}
    if kind == NUMBER:
        return _number(name, plain)
    if kind == DATE or by_content(plain) == DATE:
        return _date(name, plain)
    return {name: plain} if by_content(plain) == NUMBER else {f"{name}={word_of(plain)}": 1.0}


def is_of_other_kind(plain: Any, kind: str | None) -> bool:
    """Whether a plain value is a word in a column of numbers, or a number in one of categories.

    A number written as text is a number among numbers, and a word among categories.

    >>> [is_of_other_kind(value, NUMBER) for value in ("red", "7", "?", True)], is_of_other_kind(7, CATEGORY)
    ([True, False, False, False], True)
    """
    if kind == NUMBER:
        return isinstance(plain, str) and not is_number(plain) and not is_na_in_numbers(plain)
    return kind == CATEGORY and isinstance(plain, (int, float)) and not isinstance(plain, bool)


def _number(name: Any, plain: Any) -> dict[Any, float]:
    """The feature of a value in a column of numbers; a word is a feature of its own."""
    if isinstance(plain, MOMENTS):
        raise OtherKindError("a number")
    if is_of_other_kind(plain, NUMBER):
        return {f"{name}={plain}": 1.0}
    return {name: float(plain) if isinstance(plain, (str, bool)) else plain}


def _date(name: Any, plain: Any) -> dict[Any, float]:
    """The features of a value in a column of dates."""
    try:
        if isinstance(plain, bool):
            raise ValueError
        seconds, parts = date_parts(plain)
    except ValueError:
        raise BadValueError(EXPECTED) from None
    return {name: seconds, **dict.fromkeys((f"{name}.{part}={word}" for part, word in parts.items()), 1.0)}


def _words(name: Any, value: Any, plain: Any, kind: str | None, prefix: str) -> tuple[str, list[str]] | None:
    """The words of a list or a text in their order, after what stands before each; None for other values."""
    if isinstance(plain, list):
        if any(isinstance(plain_value(item), list) for item in plain):
            raise BadValueError("expected words or numbers in a list, and no lists")
        return f"{name}=", [word_of(item) for item in plain if plain_value(item) is not None]
    if kind != TEXT or plain is None:
        return None
    return prefix, tokens(value if isinstance(value, str) else word_of(value))


def add_to(found: dict[Any, float], feature: Any, value: float) -> None:
    """Add a value to the features of a row: two of one feature add up in single precision, within its range.

    >>> found = {"tags=a": 1.0}
    >>> add_to(found, "tags=a", 5.0)
    >>> found
    {'tags=a': 6.0}
    """
    before = found.get(feature)
    if before is None or not (abs(before) <= LARGEST and abs(value) <= LARGEST):
        found[feature] = value if before is None else max(before, value, key=abs)
        return
    total = float(np.float32(before)) + float(np.float32(value))
    found[feature] = float(np.float32(max(-LARGEST, min(LARGEST, total))))


def sources_of(name: Any, value: Any, kind: str | None, prefix: str, made: Mapping[Any, float]) -> list[SourceField]:
    """The features `made` of a value with their source fields, a word of a text once each time it occurs."""
    words = _words(name, value, plain_value(value), kind, prefix)
    if words is None:
        return interaction_inputs.source_fields(name, made)
    return interaction_inputs.word_fields(name, words[1], words[0])
