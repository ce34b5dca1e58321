"""What is asked of the reading of a log, beside what is asked of any stream."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from ouzel.errors import OuzelError
from ouzel.ranges import Range, check
from ouzel.streams.logs.metadata import NOTHING, Beside
from ouzel.streams.logs.offsets import Until, begin_of, until_of

ON_GAP = ("raise", "skip")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How far a log is read, and what becomes of what is wrong in it."""

    begin: str = "beginning"
    """Where to begin if no position is noted: "beginning", "end", or a time."""
    follow: bool = False
    """Go on at the end, and wait for more."""
    until: str | None = None
    """Where to end: "lag 0", "offset N", "examples N", or a time."""
    on_gap: str = "raise"
    """What to do where messages are gone: "raise", or "skip" and count them."""
    labels: str | None = None
    """The address of a log with the labels of these messages, which come later."""
    within: int = 10_000
    """How many messages one waits for its label, and a label for its message."""
    by: str | None = None
    """The member of both by which labels find their messages; else the keys of messages."""
    quarantine: str | None = None
    """A file for messages that are left out."""
    beside: Beside = NOTHING
    """What of keys and headers is to be read, which `with_key` and `with_headers` of `Options` say."""

    def __post_init__(self) -> None:
        begin_of(self.begin)
        until_of(self.until, self.follow)
        check("within", Range(1, whole=True), self.within)
        if self.labels is None and self.by is not None:
            raise OuzelError("a member by which labels find messages needs a log of labels; leave out", by=self.by)
        if self.on_gap not in ON_GAP:
            raise OuzelError(f"on_gap must be 'raise' or 'skip'; got {self.on_gap!r}")

    @property
    def ending(self) -> Until:
        """When the reading ends."""
        return until_of(self.until, self.follow)

    @property
    def timed(self) -> bool:
        """Whether the times of messages are needed."""
        return self.ending.time is not None or self.labels is not None


def take_reading(options: dict[str, Any]) -> Reading:
    """The options of logs among others, taken away from them.

    >>> options = {"label": "y", "follow": True}
    >>> take_reading(options).follow, options
    (True, {'label': 'y'})
    """
    names = [field.name for field in fields(Reading) if field.name != "beside"]
    given = {name: options.pop(name) for name in names if name in options}
    return Reading(**{name: value for name, value in given.items() if value is not None})
