"""Dates as features: seconds since 1970, and the month, the day of the week and the hour as words.

A time of day is its seconds since midnight, and the hour.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from typing import Any

import numpy as np

from ouzel.numerals import is_number

PARTS = ("month", "weekday", "hour")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOUR, DAY = 3600, 86400  # seconds
LATEST = 253402300800  # seconds since 1970, the year 10,000
WORDS = {"month": tuple(map(str, range(1, 13))), "weekday": WEEKDAYS, "hour": tuple(map(str, range(24)))}
LONGEST_PART = max(len(f".{part}={word}") for part, words in WORDS.items() for word in words)  # of a feature's name
EXPECTED = "expected a date such as 2024-01-31 or 2024-01-31T12:30, a number of seconds since 1970, or nothing"

TIME = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
ISO = re.compile(rf"\d{{4}}-\d\d-\d\d(?:[T ](?:\d\d:\d\d|{TIME})(?:Z|[+-]\d\d(?::?\d\d)?)?)?|{TIME}", re.ASCII)
MONTH = re.compile(r"\d{4}-\d\d", re.ASCII)
AMERICAN = re.compile(
    r"(\d{1,2})/(\d{1,2})/(\d{4})(?:[T ]\s*(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:\s*([AaPp])\.?[Mm]\.?)?)?",
    re.ASCII,
)
Moment = date | datetime | time


def date_parts(value: Any) -> tuple[float, dict[str, str]]:
    """Seconds since 1970 and calendar parts of a date, a time, its text or its seconds; else ValueError.

    Without a time zone it is UTC; a day has no hour. Text is ISO 8601, or American with the month first.

    >>> date_parts("2024-01-31T12:30")
    (1706704200.0, {'month': '1', 'weekday': 'Wed', 'hour': '12'})
    >>> date_parts("1/31/2024 12:30 PM") == date_parts("2024-01-31T12:30"), date_parts("12:30:00")
    (True, (45000.0, {'hour': '12'}))
    """
    try:
        moment = _moment(value)
        if isinstance(moment, time):
            seconds = moment.hour * 3600.0 + moment.minute * 60.0 + moment.second + moment.microsecond / 1e6
            return seconds, {"hour": str(moment.hour)}
        timed = isinstance(moment, datetime)
        at = moment if isinstance(moment, datetime) else datetime(moment.year, moment.month, moment.day)
        at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        parts = {"month": str(at.month), "weekday": WEEKDAYS[at.weekday()]}
        return at.timestamp(), parts | ({"hour": str(at.hour)} if timed else {})
    except (TypeError, OverflowError, OSError) as error:
        raise ValueError(str(error)) from None


def is_iso(text: str) -> bool:
    """Whether a text is a full date or time in ISO 8601.

    >>> [is_iso(text) for text in ("2024-01-31", "2024-01-31 12:30:00Z", "12:30:00", "2024-13-01", "1/31/2024")]
    [True, True, True, False, False]
    """
    if ISO.fullmatch(text) is None:
        return False
    try:
        _of_text(text)
    except ValueError:
        return False
    return True


def are_iso(cells: Iterable[Any]) -> bool:
    """Whether there are cells, and all of them are texts of dates or times.

    >>> are_iso(["2024-01-31", "2024-02-01T12:30"]), are_iso(["Rome", "2024-01-31"]), are_iso([])
    (True, False, False)
    """
    some = False
    for cell in cells:
        if not (isinstance(cell, str) and is_iso(cell.strip(" "))):
            return False
        some = True
    return some


def _moment(value: Any) -> Moment:
    """A value as a moment, in its own time zone if it has one."""
    if isinstance(value, np.generic):
        value = value.astype("datetime64[us]").item() if isinstance(value, np.datetime64) else value.item()
    if isinstance(value, str):
        value = _of_text(value.strip(" "))
    return value if isinstance(value, (date, time)) else datetime.fromtimestamp(value, UTC)


def _of_text(text: str) -> Moment | float:
    """The moment that a text stands for, or the seconds since 1970 that it is."""
    try:
        if len(text) > 4 and text[2] == ":":
            return time.fromisoformat(text)
        return datetime.fromisoformat(text) if len(text) > 10 else date.fromisoformat(text)
    except ValueError:
        if MONTH.fullmatch(text):
            return date.fromisoformat(f"{text}-01")
        found = AMERICAN.fullmatch(text)
        if found is None:
            if not is_number(text):
                raise
            return float(text)
    month, day, year, hour, minute, second, fraction, half = found.groups()
    whole = date(int(year), int(month), int(day))
    if hour is None:
        return whole
    hours = int(hour)
    if half is not None:
        if not 1 <= hours <= 12:
            raise ValueError(f"{hours} o'clock")
        hours = hours % 12 + 12 * (half in "Pp")
    micro = int((fraction or "0").ljust(6, "0")[:6])
    return datetime(whole.year, whole.month, whole.day, hours, int(minute), int(second or 0), micro)


def text_of_date(seconds: float) -> str:
    """Return the day of seconds since 1970, with the hour if it is not midnight; the time of less than a day.

    Seconds of 32 bits are up to 64 s off in our days, so there are no minutes, and the next hour begins that early.

    >>> [text_of_date(seconds) for seconds in (1706659200.0, float(np.float32(1706670000)), 45000.0)]
    ['2024-01-31', '2024-01-31T03', '12:30:00']
    """
    if 0.0 <= seconds < DAY:
        return str(np.datetime64(int(seconds), "s")).partition("T")[2]
    late = int(seconds + float(np.spacing(np.float32(abs(seconds)))) / 2)
    hours = np.datetime64(late // HOUR, "h")
    return str(hours.astype("datetime64[D]") if late % DAY <= 2 * (late - seconds) else hours)
