"""Columns of dates as columns of seconds and of calendar parts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute as compute

from ouzel.streams.dates import PARTS, WEEKDAYS, date_parts
from ouzel.streams.missing import is_missing
from ouzel.streams.tables.arrow_types import PER_SECOND, encoded, filled, is_moment, is_there, types
from ouzel.streams.tables.cells import NOT_A_DATE

MONTHS, HOURS = tuple(map(str, range(1, 13))), tuple(map(str, range(24)))


def read_dates(array: Any, wrong: np.ndarray) -> tuple[Any, dict[str, Any]]:
    """Arrow arrays of seconds, NaN where there is no date, and of the words of each part; marks in `wrong` (n,) what
    is neither a date nor missing.
    """
    return _typed_dates(array) if is_moment(array.type) else _dates_of_cells(array, wrong)


def _typed_dates(array: Any) -> tuple[Any, dict[str, Any]]:
    """The same of a column whose type is that of dates or times."""
    kind = array.type
    if types.is_time(kind):
        whole = filled(array.cast(pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64()), 0)
        seconds = whole.astype(np.int64) // max(1, PER_SECOND[kind.unit] // 10**6) / min(PER_SECOND[kind.unit], 10**6)
        parts = {"hour": _part(array, (whole // (3600 * PER_SECOND[kind.unit])).astype(np.int8), HOURS)}
    else:
        timed = types.is_timestamp(kind)
        unit = kind.unit if timed else "s" if types.is_date32(kind) else "ms"
        whole = filled(array.cast(pyarrow.int32() if types.is_date32(kind) else pyarrow.int64()), 0).astype(np.int64)
        if types.is_date32(kind):
            whole *= 86400
        seconds = whole // max(1, PER_SECOND[unit] // 10**6) / min(PER_SECOND[unit], 10**6)
        parts = {
            "month": _part(array, compute.subtract(compute.month(array), 1), MONTHS),
            "weekday": _part(array, compute.day_of_week(array), WEEKDAYS),
        }
        if timed:
            parts["hour"] = _part(array, compute.hour(array), HOURS)
    nothing = pyarrow.nulls(len(array), pyarrow.string())
    return pyarrow.array(np.where(is_there(array), seconds, math.nan)), {
        part: parts.get(part, nothing) for part in PARTS
    }


def _part(array: Any, codes: Any, words: tuple[str, ...]) -> Any:
    """The words of a calendar part, by their numbers, null where there is no date."""
    if isinstance(codes, np.ndarray):
        codes = pyarrow.array(codes, mask=~is_there(array))
    return pyarrow.DictionaryArray.from_arrays(codes.cast(pyarrow.int8()), pyarrow.array(words, pyarrow.string()))


def _dates_of_cells(array: Any, wrong: np.ndarray) -> tuple[Any, dict[str, Any]]:
    """The same of text, or of numbers, which are seconds."""
    codes, cells = encoded(array)
    seconds = np.full(len(cells) + 1, math.nan)  # the last is for nothing, which has the code -1
    words: dict[str, list[str | None]] = {part: [None] * len(cells) for part in PARTS}
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
            words[part][k] = word
    wrong[bad[codes]] = NOT_A_DATE
    places = pyarrow.array(codes, mask=codes < 0)
    return pyarrow.array(seconds[codes]), {
        part: pyarrow.DictionaryArray.from_arrays(places, pyarrow.array(found, pyarrow.string()))
        for part, found in words.items()
    }
