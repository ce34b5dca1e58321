"""Columns of dates as columns of seconds and of calendar parts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow

from ouzel.streams.dates import PARTS, date_parts
from ouzel.streams.missing import is_missing
from ouzel.streams.tables.arrow_types import encoded
from ouzel.streams.tables.cells import NOT_A_DATE


def read_dates(array: Any, wrong: np.ndarray) -> tuple[Any, dict[str, Any]]:
    """Arrow arrays of seconds, NaN where there is no date, and of the words of each part; marks in `wrong` (n,) what
    is neither a date nor missing.
    """
    codes, cells = encoded(array)
    seconds = np.full(len(cells) + 1, math.nan)  # the last is for nothing, which has the code -1
    words: dict[str, list[str | None]] = {part: [None] * len(cells) for part in PARTS}
    bad = np.zeros(len(cells) + 1, np.bool_)
    for k, cell in enumerate(cells):
        if is_missing(cell):
            continue
        try:
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
