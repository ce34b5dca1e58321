"""Options of reading a log, in addition to those of every stream."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from ouzel.errors import OuzelError
from ouzel.ranges import Range, check
from ouzel.streams.logs.bounds import Until, parse_start, parse_until
from ouzel.streams.logs.messages import NO_METADATA, MetadataFields

ON_GAP = ("raise", "skip")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Options of reading a log: start, end, gaps, labels to join."""

    begin: str = "beginning"
    """Where to begin if no position is stored: "beginning", "end", or a time."""
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
    metadata: MetadataFields = NO_METADATA
    """Metadata to read, as `with_key` and `with_headers` of `Options` request."""

    def __post_init__(self) -> None:
        parse_start(self.begin)
        parse_until(self.until, self.follow)
        check("within", Range(1, whole=True), self.within)
        if self.labels is None and self.by is not None:
            raise OuzelError("a member by which labels find messages needs a log of labels; leave out", by=self.by)
        if self.on_gap not in ON_GAP:
            raise OuzelError(f"must be 'raise' or 'skip'; got {self.on_gap!r}", subject="on_gap")

    @property
    def ending(self) -> Until:
        """The parsed end of the reading."""
        return parse_until(self.until, self.follow)

    @property
    def timed(self) -> bool:
        """Whether the times of messages are needed."""
        return self.ending.time is not None or self.labels is not None


def take_reading(options: dict[str, Any]) -> Reading:
    """Remove the options of logs from others, and return them.

    >>> options = {"label": "y", "follow": True}
    >>> take_reading(options).follow, options
    (True, {'label': 'y'})
    """
    names = [field.name for field in fields(Reading) if field.name != "metadata"]
    given = {name: options.pop(name) for name in names if name in options}
    return Reading(**{name: value for name, value in given.items() if value is not None})
