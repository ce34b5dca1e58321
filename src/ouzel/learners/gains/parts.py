"""Gains: what a worker has learnt beyond its base, in parts that add up.

Workers that begin a round from one base have learnt the base's examples once between them, not once each. So a learner
says what a state has beyond its base as named parts (`gains(base, state, settings)`), parts of several workers are
added in any grouping (`add`), and `onto(base, gains, settings)` is the state of base and all workers. A part is an
array (sums), or one of the types below. Rows that are zero do not travel.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

Gains = dict[str, Any]


class Rows(NamedTuple):
    """Rows of a long array, all others zero; rows of one place add up."""

    places: np.ndarray  # (n,) int64, rising
    values: np.ndarray  # (n, ...)


class Peak(NamedTuple):
    """Numbers of which the largest counts."""

    values: np.ndarray


class Best(NamedTuple):
    """Rows of a long array; of those of one place the one with the largest first number stays."""

    places: np.ndarray  # (n,) int64, rising
    values: np.ndarray  # (n, k) float64


class First(NamedTuple):
    """What cannot be added: that of the worker with most examples counts, of equals that of most bits."""

    examples: Any  # a number, or a tuple whose first one it is
    content: Any


def places_of(marked: np.ndarray) -> np.ndarray:
    """The rows of an array (d, ...) of truth values of which one is true: NumPy asks row after row, and slowly."""
    found = np.flatnonzero(marked)
    return found if marked.ndim == 1 else np.unique(found // max(1, marked.size // max(1, len(marked))))


def rows_of(dense: np.ndarray) -> Rows:
    """The rows of an array (d, ...) that are not zero."""
    places = places_of(dense != 0)
    return Rows(places, dense[places])


def peaks_of(dense: np.ndarray) -> Best:
    """Those of numbers (d,), none below 0, that are not 0, the largest of which counts."""
    places = places_of(dense != 0)
    return Best(places, dense[places, None])


def dense(rows: Rows | Best, length: int) -> np.ndarray:
    """The array (length, ...) that rows are of."""
    whole = np.zeros((length, *rows.values.shape[1:]), rows.values.dtype)
    whole[rows.places] = rows.values
    return whole


def add(one: Gains, other: Gains) -> Gains:
    """The gains of two workers, or groups of them, together; what one of them alone has is that one's."""
    return one | {name: _together(one[name], part) if name in one else part for name, part in other.items()}


def sum_of(gains: Iterable[Gains]) -> Gains:
    """The gains of several workers together, added from the first to the last."""
    return reduce(add, gains)


def _together(one: Any, other: Any) -> Any:
    if isinstance(one, dict):
        return add(one, other)
    if isinstance(one, Rows):
        return _joined(one, other)
    if isinstance(one, Peak):
        return Peak(np.maximum(one.values, other.values))
    if isinstance(one, Best):
        return _best(one, other)
    if isinstance(one, First):
        if other.examples != one.examples:
            return other if other.examples > one.examples else one
        return max(one, other, key=lambda part: _fingerprint(part.content))
    return one + other


def _fingerprint(content: Any) -> int:
    """Sum of the bits of all numbers without their signs: the same if slots or classes stand in another order."""
    if isinstance(content, dict):
        return sum(map(_fingerprint, content.values()))
    if isinstance(content, (tuple, list)):
        return sum(map(_fingerprint, content))
    size = np.abs(np.asarray(content, None if isinstance(content, np.ndarray) else np.float64))
    return int(size.view(f"u{size.itemsize}").sum(dtype=np.uint64))


def _joined(one: Rows, other: Rows) -> Rows:
    places = np.union1d(one.places, other.places)
    values = np.zeros((len(places), *one.values.shape[1:]), one.values.dtype)
    for part in (one, other):
        values[np.searchsorted(places, part.places)] += part.values
    return Rows(places, values)


def _best(one: Best, other: Best) -> Best:
    places = np.concatenate([one.places, other.places])
    values = np.concatenate([one.values, other.values])
    order = np.lexsort((*values.T[::-1], places))
    last = np.append(places[order][1:] != places[order][:-1], True)[: len(order)]
    return Best(places[order][last], values[order][last])


def bytes_of(gains: Any) -> int:
    """Bytes of all arrays of gains."""
    if isinstance(gains, np.ndarray):
        return gains.nbytes
    if isinstance(gains, dict):
        return sum(map(bytes_of, gains.values()))
    return sum(map(bytes_of, gains)) if isinstance(gains, (tuple, list)) else 8
