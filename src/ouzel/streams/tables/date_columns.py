"""Columns of dates as columns of seconds and of calendar parts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyarrow
import pyarrow.compute as compute

from ouzel.streams.dates import PARTS, WORDS, date_parts
from ouzel.streams.missing import is_missing
from ouzel.streams.tables.arrow_types import PER_SECOND, encoded, filled, is_moment, is_there, types
from ouzel.streams.tables.cells import NOT_A_DATE

PLACES = {part: {word: place for place, word in enumerate(words)} for part, words in WORDS.items()}


def read_dates(array: pyarrow.Array, wrong: np.ndarray) -> tuple[pyarrow.Array, dict[str, pyarrow.Array]]:
    """Arrow arrays of seconds, NaN where there is no date, and of the words of each part; marks in `wrong` (n,) what
    is neither a date nor missing.
    """
    return _typed_dates(array) if is_moment(array.type) else _dates_of_cells(array, wrong)


def _typed_dates(array: pyarrow.Array) -> tuple[pyarrow.Array, dict[str, pyarrow.Array]]:
    """The same of a column whose type is that of dates or times."""
    kind, missing = array.type, ~is_there(array)
    if types.is_time(kind):
        whole = filled(array.cast(pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64()), 0)
        seconds = whole.astype(np.int64) // max(1, PER_SECOND[kind.unit] // 10**6) / min(PER_SECOND[kind.unit], 10**6)
        parts = {"hour": _part(missing, (whole // (3600 * PER_SECOND[kind.unit])).astype(np.int8), WORDS["hour"])}
    else:
        timed = types.is_timestamp(kind)
        unit = kind.unit if timed else "s" if types.is_date32(kind) else "ms"
        whole = filled(array.cast(pyarrow.int32() if types.is_date32(kind) else pyarrow.int64()), 0).astype(np.int64)
        if types.is_date32(kind):
            whole *= 86400
        seconds = whole // max(1, PER_SECOND[unit] // 10**6) / min(PER_SECOND[unit], 10**6)
        parts = {
            "month": _part(missing, compute.subtract(compute.month(array), 1), WORDS["month"]),
            "weekday": _part(missing, compute.day_of_week(array), WORDS["weekday"]),
        }
        if timed:
            parts["hour"] = _part(missing, compute.hour(array), WORDS["hour"])
    nothing = pyarrow.nulls(len(array), pyarrow.string())
    return pyarrow.array(np.where(missing, math.nan, seconds)), {part: parts.get(part, nothing) for part in PARTS}


def _part(missing: np.ndarray, codes: pyarrow.Array, words: Sequence[str]) -> pyarrow.Array:
    """The words of a calendar part, by their places among all, null where they are `missing` (n,)."""
    if isinstance(codes, np.ndarray):
        codes = pyarrow.array(codes, mask=missing)
    return pyarrow.DictionaryArray.from_arrays(codes.cast(pyarrow.int8()), pyarrow.array(words, pyarrow.string()))


def _dates_of_cells(array: pyarrow.Array, wrong: np.ndarray) -> tuple[pyarrow.Array, dict[str, pyarrow.Array]]:
    """The same of text, or of numbers, which are seconds."""
    codes, cells = encoded(array)
    seconds = np.full(len(cells) + 1, math.nan)  # the last is for nothing, which has the code -1
    words = {part: np.full(len(cells) + 1, -1, np.int8) for part in PARTS}
    bad = np.zeros(len(cells) + 1, np.bool_)
    for k, cell in enumerate(cells):
        if is_missing(cell):
            continue
        try:
            if isinstance(cell, bool):
                raise ValueError
            seconds[k], parts = date_parts(cell)
        except ValueError:
            bad[k] = True
            continue
        for part, word in parts.items():
            words[part][k] = PLACES[part][word]
    wrong[bad[codes]] = NOT_A_DATE
    found = {part: _part(places[codes] < 0, places[codes], WORDS[part]) for part, places in words.items()}
    return pyarrow.array(seconds[codes]), found
