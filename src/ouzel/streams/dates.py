"""Dates as features: seconds since 1970, and what comes again, month, day of the week and hour, as words."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from ouzel.numerals import is_number

PARTS = ("month", "weekday", "hour")
EXPECTED = "expected a date such as 2024-01-31 or 2024-01-31T12:30, a number of seconds since 1970, or nothing"


def date_parts(value: Any) -> tuple[float, dict[str, str]]:
    """Seconds since 1970 and calendar parts of a date, a time, its text (ISO 8601) or its seconds; else ValueError.

    What has no time zone is taken for UTC; a day has no hour.

    >>> date_parts("2024-01-31T12:30")
    (1706704200.0, {'month': '1', 'weekday': 'Wed', 'hour': '12'})
    """
    try:
        moment, timed = _moment(value)
    except (TypeError, OverflowError, OSError) as error:
        raise ValueError(str(error)) from None
    parts = {"month": str(moment.month), "weekday": moment.strftime("%a")}
    return moment.timestamp(), parts | ({"hour": str(moment.hour)} if timed else {})


def are_dates(cells: Iterable[Any]) -> bool:
    """Whether cells, of which there are some, are all dates, none of them as a plain number.

    >>> are_dates(["2024-01-31", "2024-02-01T12:30"]), are_dates(["Rome", "2024-01-31"]), are_dates([])
    (True, False, False)
    """
    found = list(cells)
    try:
        for cell in found:
            date_parts(cell)
    except ValueError:
        return False
    return bool(found) and not any(isinstance(cell, (int, float)) or is_number(str(cell)) for cell in found)


def _moment(value: Any) -> tuple[datetime, bool]:
    """A moment in its own time zone, and whether it is more than a day."""
    if isinstance(value, np.generic):
        value = value.astype("datetime64[us]").item() if isinstance(value, np.datetime64) else value.item()
    if isinstance(value, str):
        text = value.strip(" ")
        try:
            value = datetime.fromisoformat(text) if len(text) > 10 else date.fromisoformat(text)
        except ValueError:
            value = float(text)
    if isinstance(value, datetime):
        return (value if value.tzinfo is not None else value.replace(tzinfo=UTC)), True
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC), False
    return datetime.fromtimestamp(value, UTC), True
