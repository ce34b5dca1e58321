"""The columns that features are made of, as the owner of a table calls them.

`shop=shop77`, `shop=(missing)` and the number `shop` are features of the column `shop`; so are its bins and hinges, the
parts of a date, and the words and n-grams of a text. A cross belongs to each of its columns. A feature with a number in
the place of a name, and one with a name of no other form, is a column of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from ouzel.streams.dates import PARTS, WORDS
from ouzel.streams.feature_space import DATE, TEXT, FeatureSpace
from ouzel.streams.feature_specs import spec_for

CROSS = "*"  # between the parts of a cross


def columns_of_feature(name: str | int, space: FeatureSpace) -> tuple[str, ...]:
    """Return the columns of a feature, several of a cross, given what is known of the table's columns.

    >>> space = FeatureSpace(kinds={"shop": "category", "when": "date", "note": "text"})
    >>> names = ("shop=shop77", "when.hour=3", "when", "good", 7)
    >>> [columns_of_feature(name, space) for name in names]
    [('shop',), ('when',), ('when',), ('note',), ('7',)]
    >>> columns_of_feature("city=Rome", FeatureSpace()), columns_of_feature("price", FeatureSpace())
    (('city',), ('price',))
    """
    if isinstance(name, int):
        named = space.width is not None and 0 <= name < len(space.kinds)
        return ([*space.kinds][name] if named else str(name),)
    if name in space.kinds:
        return (name,)
    if CROSS in name and space.derived.crosses:
        parts = [_column_of(part, space) for part in _parts_of_cross(name, space)]
        if len(parts) > 1:
            return tuple(dict.fromkeys(part or name for part in parts))
    return (_column_of(name, space) or _text_of(space) or name,)


def word_of_feature(name: str | int, column: str) -> str | None:
    """Return what a feature says its column is: the word after `column=`; None of a number.

    >>> word_of_feature("shop=shop77", "shop"), word_of_feature("price", "price"), word_of_feature("good", "note")
    ('shop77', None, 'good')
    """
    if isinstance(name, int) or name == column:
        return None
    if name.startswith((f"{column}=", f"{column}.")):
        return name[len(column) + 1 :]
    return name


def is_part_of_date(name: str | int, column: str) -> bool:
    """Whether a feature of a column is a part of a date, such as its hour.

    >>> is_part_of_date("when.hour=3", "when"), is_part_of_date("when", "when")
    (True, False)
    """
    beginning, _, _ = str(name).partition("=")
    date, _, part = beginning.rpartition(".")
    return date == column and part in PARTS


def _column_of(name: str, space: FeatureSpace) -> str | None:
    """Return the column of a feature that is no cross; None if its name does not say."""
    if name in space.kinds:
        return name
    prefixes = [prefix for prefix, _ in _splits(name, "=")]
    for prefix in prefixes:
        if prefix in space.kinds:
            return prefix
        date = _date_of(prefix, name, space)
        if date is not None:
            return date
    for prefix, _ in _splits(name, ">"):
        if spec_for(space.derived.hinges, prefix) is not None:
            return prefix
    closed = space.fixed_columns and _text_of(space) is not None  # else a word of the text may have any form
    return prefixes[0] if prefixes and not closed else None


def _splits(name: str, mark: str) -> Iterator[tuple[str, str]]:
    """Yield the parts before and after each occurrence of a mark, where both have letters."""
    place = name.find(mark, 1)
    while 0 < place < len(name) - len(mark):
        yield name[:place], name[place + len(mark) :]
        place = name.find(mark, place + 1)


def _date_of(prefix: str, name: str, space: FeatureSpace) -> str | None:
    """Return the date of which `prefix` is a part, such as `when` of `when.hour`."""
    date, _, part = prefix.rpartition(".")
    if not date or part not in PARTS or space.kinds.get(date, DATE) != DATE:
        return None
    return date if date in space.kinds or name[len(prefix) + 1 :] in WORDS[part] else None


def _parts_of_cross(name: str, space: FeatureSpace) -> list[str]:
    """Return the features that a cross is made of: pieces without a column of their own belong to the one before."""
    parts: list[str] = []
    for piece in name.split(CROSS):
        if parts and _column_of(piece, space) is None:
            parts[-1] += CROSS + piece
        else:
            parts.append(piece)
    return parts


def _text_of(space: FeatureSpace) -> str | None:
    """Return the one column of text, whose words are features by themselves."""
    texts = [column for column, kind in space.kinds.items() if kind == TEXT]
    return texts[0] if len(texts) == 1 else None
