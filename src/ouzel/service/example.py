"""An example of the columns that a model knows, to begin with: it is made of names and means, and is nobody's."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from ouzel.model.model import Model
from ouzel.sketches.hashing import feature_id
from ouzel.streams.dates import PARTS
from ouzel.streams.missing import NA_FEATURE

MOST = 6  # columns
FIRST = 500  # names that are looked at
DIGITS = 3  # of a number
MADE = ("*", "×", "^")  # in names that are not those of columns: crosses, and features of namespaces


def example_of(model: Model) -> dict[str, str | float]:
    """Return an example as a JSON object: of each column a word that it has had, its mean, or a date."""
    names = model.names.first(FIRST)
    parts = {name.partition("=")[0] for name in names}
    calendar = {f"{name}.{part}" for name in names for part in PARTS} & parts
    found: dict[str, str | float] = {}
    for name in names:
        column, mark, word = name.partition("=")
        if column in calendar or column in found or any(sign in column for sign in MADE):
            continue
        if mark and word != NA_FEATURE:
            found[column] = word
        elif not mark:
            mean = _mean(model, name)
            dated = any(f"{name}.{part}" in calendar for part in PARTS)
            found[name] = _as_date(mean) if dated else float(f"{mean:.{DIGITS}g}")
        if len(found) == MOST:
            break
    return found


def _mean(model: Model, name: str) -> float:
    """Return the mean of a column of numbers, 1 where the model does not know it."""
    moments, feature = model.preparation.moments, feature_id(name, model.seed, model.bits)
    if moments is None or not moments.sampled[0] > 0.0:
        return 1.0
    slot = feature + 1
    if model.slot_map is not None:
        slot = int(model.slot_map.slots_of(np.array([feature], np.uint32))[0])
    return float(moments.sums[slot, 0] / moments.sampled[0]) if 0 < slot < len(moments.sums) else 1.0


def _as_date(seconds: float) -> str:
    """Return the day of a number of seconds."""
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return "2024-01-01"
