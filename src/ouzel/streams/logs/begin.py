"""Where a reading of a log begins, and until when it goes on."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from ouzel.errors import OuzelError

BEGINNINGS = "'beginning', 'end', or a time such as 2026-11-20T08:00"
ENDINGS = "'lag 0', 'offset N', 'examples N', or a time such as 2026-11-20T08:00"


class Until(NamedTuple):
    """When a reading ends; of these at most one."""

    place: str | None = None  # the last message of each partition to be learnt
    time: int | None = None  # milliseconds since 1970: messages before it are learnt
    examples: int | None = None  # in all, those of earlier runs with them
    follow: bool = True  # or where the log ends at present


def milliseconds(text: str) -> int | None:
    """A time as milliseconds since 1970; local, unless it says otherwise; None if it is not one.

    >>> milliseconds("2026-11-20T08:00+00:00"), milliseconds("soon")
    (1795161600000, None)
    """
    try:
        return int(datetime.fromisoformat(text).astimezone(UTC).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None


def begin_of(text: str) -> str | int:
    """'beginning', 'end', or a time in milliseconds.

    >>> begin_of("end")
    'end'
    """
    if text in ("beginning", "end"):
        return text
    time = milliseconds(text)
    if time is None:
        raise OuzelError(f"a log is read from {BEGINNINGS}; got {text!r}")
    return time


def until_of(text: str | None, follow: bool) -> Until:
    """When a reading ends, of what was said.

    >>> until_of("offset 99", False).place, until_of(None, False).follow, until_of("lag 0", True).follow
    ('99', False, False)
    """
    if text is None:
        return Until(follow=follow)
    word, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if (word, rest) == ("lag", "0"):
        return Until(follow=False)
    if word == "offset" and rest:
        return Until(place=rest)
    if word == "examples" and rest.isdigit():
        return Until(examples=int(rest))
    time = milliseconds(text.strip())
    if time is None:
        raise OuzelError(f"a log is read until {ENDINGS}; got {text!r}")
    return Until(time=time)
