"""Rows of arrays that are not like most others: of a table that names are hashed into they are few.

Most are what they were at first; or what became of that, -0.0 where weights changed sides with the classes. Bits are
compared, not numbers, for what is made of the rows again must be the same array.
"""

from __future__ import annotations

import math

import numpy as np

from ouzel.layout import Array

AT_ONCE = 1 << 15  # rows
SAMPLE = 1 << 10  # rows, roughly, that are looked at before all of a large array
SMALL = 1 << 10  # bytes of an array that is kept as it is
COLUMNS = 16  # words of a row that are compared one by one
MIX = np.uint64(0x9E3779B97F4A7C15)  # by which words of rows are multiplied, to tell rows apart by one number


def first_row(part: Array) -> np.ndarray | None:
    """The row that all of an array's are at first; None if they are not alike, or the array is small."""
    if part.diagonal is not None or part.nbytes < SMALL or not part.shape or math.prod(part.shape[1:]) == 0:
        return None
    if isinstance(part.fill, tuple) and len(part.shape) == 1:
        return None
    row = np.empty(part.shape[1:], part.dtype)
    row[...] = part.fill
    return row


def common_row(array: np.ndarray, first: np.ndarray) -> np.ndarray | None:
    """The row that more than half of an array's are like, by a sample: the first one, or another; None if none is.

    >>> common_row(np.array([-0.0, -0.0, 2.0, -0.0]), np.zeros(()))
    array(-0.)
    """
    some = array[:: max(1, len(array) // SAMPLE)]
    if 2 * np.count_nonzero(_differ(some, first[None])) < len(some):
        return first
    words = _words(some).astype(np.uint64)
    mixed = (words * (np.arange(words.shape[1], dtype=np.uint64) * MIX + MIX)).sum(axis=1)
    _, places, counts = np.unique(mixed, return_index=True, return_counts=True)
    row = np.array(some[places[np.argmax(counts)]])
    return row if 2 * np.count_nonzero(_differ(some, row[None])) < len(some) else None


def changed_rows(array: np.ndarray, like: np.ndarray) -> np.ndarray | None:
    """Which rows (n,) uint32 of an array differ from one row, or from those of another array; None if more than half.

    >>> changed_rows(np.array([0.0, 0.0, 2.0, 0.0, -0.0]), np.zeros(()))
    array([2, 4], dtype=uint32)
    """
    found, left = [], len(array) // 2
    for start in range(0, len(array), AT_ONCE):
        here = slice(start, start + AT_ONCE)
        places = np.flatnonzero(_differ(array[here], like[here] if like.ndim == array.ndim else like[None]))
        left -= len(places)
        if left < 0:
            return None
        found.append((places + start).astype(np.uint32))
    return np.concatenate(found) if found else np.empty(0, np.uint32)


def _differ(rows: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Which rows (n,) have other bits than (n,) others, or than the only one."""
    words, known = _words(rows), _words(like)
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
