"""The places of words among numbers, and of numbers among words, for lines that name them."""

from __future__ import annotations

from typing import Any

from ouzel.streams.feature_space import NUMBER
from ouzel.streams.missing import is_missing, is_na_in_numbers
from ouzel.streams.tables.arrow_types import as_text, is_dictionary, is_text
from ouzel.streams.values import is_of_other_kind, plain_value

LONGEST = 40  # letters of a word that are shown


def first_word(array: Any) -> tuple[int, str] | None:
    """The row of the first word in a column of numbers written as text, from 0, and the word; None without one.

    >>> import pyarrow
    >>> first_word(pyarrow.array(["1", "?", "oops", None, "x"])), first_word(pyarrow.array(["1", "True"]))
    ((2, 'oops'), None)
    """
    return next(((row, cell) for row, cell in _cells(array) if is_of_other_kind(plain_value(cell), NUMBER)), None)


def place_of_odd(array: Any, above: int = 0) -> str:
    """The row and the value of the first word among numbers, or of the first number where words are more.

    Rows count from 1, those `above` the array before them. There is no text for a column of another type.

    >>> import pyarrow
    >>> place_of_odd(pyarrow.array(["1", "2", "oops"]), 1), place_of_odd(pyarrow.array(["red", "7", "blue"]))
    ("'oops' in row 4", '7 in row 2')
    """
    cells = [(row, cell, is_of_other_kind(plain_value(cell), NUMBER)) for row, cell in _cells(array)]
    words = sum(is_word for _, _, is_word in cells)
    rarer = 2 * words <= len(cells)
    found = next(((row, cell) for row, cell, is_word in cells if is_word == rarer), None)
    if found is None:
        return ""
    row, cell = found
    return f"{cell[:LONGEST]!r} in row {above + row + 1}" if rarer else f"{cell.strip()} in row {above + row + 1}"


def _cells(array: Any) -> list[tuple[int, str]]:
    """The cells of a column of text that are not missing, with their rows."""
    if not is_text(array.type.value_type if is_dictionary(array) else array.type):
        return []
    cells = enumerate(as_text(array).to_pylist())
    texts = [(row, cell.decode("utf-8", "replace")) for row, cell in cells if cell is not None]
    return [(row, text) for row, text in texts if not (is_missing(text) or is_na_in_numbers(text))]
