"""Missing values, in files and in memory.

Missing are None, NaN, NaT and NA, empty and blank text, and the words that people and programs write for it (those of
pandas and PyArrow). A missing value is a feature of its own, `column=(missing)`, or, by option, none. A member that an
object does not have is no missing value, and neither is a feature that a row of svmlight or Vowpal Wabbit text lacks.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import force_inline

WORDS = (
    *("NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "None", "NULL", "null"),
    *("NaN", "-NaN", "nan", "-nan", "NaT", "-1.#IND", "-1.#QNAN", "1.#IND", "1.#QNAN"),
)
NA_NUMBER_TOKENS = ("?", "-")
"""More words that mean missing, but only in a column of numbers; in one of categories they are words."""
NA_FEATURE = "(missing)"
"""The word of a missing value that is a feature of its own."""

NA_TOKENS = frozenset(WORDS)
LONGEST = max(map(len, WORDS))
LENGTHS = np.array([len(word) for word in WORDS])
TEXT = np.zeros((len(WORDS), LONGEST), np.uint8)
for _row, _word in zip(TEXT, WORDS, strict=True):
    _row[: len(_word)] = np.frombuffer(_word.encode(), np.uint8)
FIRST, LAST = np.zeros(256, np.bool_), np.zeros(256, np.bool_)  # whether one of the words begins, or ends, with a byte
FIRST[TEXT[:, 0]] = True
LAST[TEXT[np.arange(len(WORDS)), LENGTHS - 1]] = True


def is_missing(value: object) -> bool:
    """Whether a value is missing.

    >>> [is_missing(value) for value in (None, float("nan"), " ", "n/a", 0, "none", False)]
    [True, True, True, True, False, False, False]
    """
    if isinstance(value, str):
        word = value.strip(" ")
        return not word or word in NA_TOKENS
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def is_na_in_numbers(word: str) -> bool:
    """Whether a word means missing in a column of numbers; elsewhere it is a word."""
    return word in NA_NUMBER_TOKENS


@force_inline
def is_na_number_token(data, start, stop):
    """`is_na_in_numbers` of the bytes `data[start:stop]` (uint8)."""
    return stop - start == 1 and (data[start] == 63 or data[start] == 45)


@force_inline
def is_one_of(data, start, size, sizes, words):
    """Whether `size` bytes from `data[start]` (uint8) on are one of some words (k, n) of these sizes (k,)."""
    for k in range(len(sizes)):
        if sizes[k] == size:
            same = 0
            for j in range(size):
                same += data[start + j] == words[k, j]
            if same == size:
                return True
    return False


@force_inline
def is_na_token(data, start, stop):
    """Whether the bytes `data[start:stop]` (uint8), not empty, are a word for missing."""
    size = stop - start
    if not (FIRST[data[start]] & LAST[data[stop - 1]]) or size > LONGEST:
        return False
    return is_one_of(data, start, size, LENGTHS, TEXT)
