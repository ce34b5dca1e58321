"""Rows of arrays that are not what they were at first: of a table that names are hashed into they are few.

Bits are compared, not numbers: -0.0 is not 0.0 here, for what is made of the rows again must be the same array.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ouzel.layout import Array

AT_ONCE = 1 << 15  # rows
SAMPLE = 1 << 12  # rows that are looked at before all of a large array
SMALL = 1 << 10  # bytes of an array that is kept as it is
COLUMNS = 16  # words of a row that are compared one by one


def first_row(part: Array) -> np.ndarray | None:
    """The row that all of an array's are at first; None if they are not alike, or the array is small."""
    if part.diagonal is not None or part.nbytes < SMALL or not part.shape or math.prod(part.shape[1:]) == 0:
        return None
    if isinstance(part.fill, tuple) and len(part.shape) == 1:
        return None
    row = np.empty(part.shape[1:], part.dtype)
    row[...] = part.fill
    return row


def changed_rows(array: np.ndarray, first: np.ndarray) -> np.ndarray | None:
    """Which rows (n,) uint32 of an array are not as they were at first; None if they are more than half.

    `first` is the row that all were, or an array of the same shape.

    >>> changed_rows(np.array([0.0, 0.0, 2.0, 0.0, -0.0]), np.zeros(()))
    array([2, 4], dtype=uint32)
    """
    count = len(array)
    if count > 4 * SAMPLE:
        some = np.arange(SAMPLE) * (count // SAMPLE)
        if 2 * np.count_nonzero(_differ(array[some], _at(first, array, some))) > SAMPLE:
            return None
    found, left = [], count // 2
    for start in range(0, count, AT_ONCE):
        here = slice(start, start + AT_ONCE)
        places = np.flatnonzero(_differ(array[here], _at(first, array, here)))
        left -= len(places)
        if left < 0:
            return None
        found.append((places + start).astype(np.uint32))
    return np.concatenate(found) if found else np.empty(0, np.uint32)


def _at(first: np.ndarray, array: np.ndarray, here: Any) -> np.ndarray:
    return first[here] if first.ndim == array.ndim else first[None]


def _differ(rows: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Which rows (n,) have other bits than the first ones, (n,) or one for all."""
    words, known = _words(rows), _words(first)
    if words.shape[1] > COLUMNS:
        return np.asarray((words != known).any(axis=1))
    differ = words[:, 0] != known[:, 0]
    for column in range(1, words.shape[1]):
        differ |= words[:, column] != known[:, column]
    return differ


def _words(rows: np.ndarray) -> np.ndarray:
    """Rows as unsigned words, as long as they are of whole ones."""
    size = rows.itemsize * math.prod(rows.shape[1:])
    longest = next(length for length in (8, 4, 2, 1) if size % length == 0)
    return np.ascontiguousarray(rows).reshape(-1).view(f"u{longest}").reshape(len(rows), -1)
