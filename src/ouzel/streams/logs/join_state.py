"""State of a join of events with later labels: the pending halves, stored as part of a position.

Each message of either log is an input. Its effect depends only on the inputs before it, so two states that have taken
the same inputs are equal.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from ouzel.errors import OuzelError
from ouzel.rules import Rule, check, either, label, list_of, table, text, whole

EVENTS, LABELS = 0, 1
SIDES = ("events", "labels")
MOST_BYTES = 64 << 20  # of the state in a model file, which is written with every checkpoint
ROW = 48  # bytes of a row without its text

Pending = OrderedDict[str, tuple[int, Any]]  # by join key: number of events when it arrived, and event or label


class Input(NamedTuple):
    """A message of one of the two logs."""

    number: int  # of inputs before it
    side: int
    partition: str
    place: int | str
    ends: Mapping[str, int]
    time: int  # milliseconds since 1970, never less than before on its side
    key: str | None = None  # None: it matches nothing
    value: Any = None  # the lines of an event, or a label
    malformed: bytes | None = None  # text to parse as it is: neither event nor label


class LabelledEvent(NamedTuple):
    """An event with its label."""

    event: str
    label: Any


def _size(key: str, value: object) -> int:
    """Estimate the bytes of a row in a model file, where JSON is escaped twice."""
    text = f"{key}{value}"
    return ROW + len(text.encode()) + 3 * (text.count('"') + text.count("\\") + text.count("\n"))


def _row(kind: Rule) -> Rule:
    return Rule(
        lambda row: (
            isinstance(row, list)
            and len(row) == 3
            and text.holds(row[0])
            and whole().holds(row[1])
            and kind.holds(row[2])
        ),
        "a row",
    )


SCHEMA = {
    **dict.fromkeys(("taken", "seen", "late", "unlabelled"), whole()),
    **dict.fromkeys(("last", "ends"), list_of(table, 2)),
    "times": list_of(whole(), 2),
    "events": list_of(_row(text)),
    "labels": list_of(_row(label)),
}


class JoinStats(NamedTuple):
    """Counts of unmatched and pending events and labels.

    >>> JoinStats(2, 1, 40, 3).facts
    ['  labels       2 found no event   1 event found no label   40 events and 3 labels wait']
    """

    late_labels: int  # without a pending event
    unlabelled_events: int  # expired without a label
    waiting_events: int
    waiting_labels: int

    @property
    def facts(self) -> list[str]:
        """The counts as lines for people."""
        late, unlabelled, events, labels = self
        found = f"{late:,} found no event   {_counted(unlabelled, 'event')} found no label"
        return [f"  {'labels':<13}{found}   {_counted(events, 'event')} and {_counted(labels, 'label')} wait"]

    def to_json(self) -> dict[str, int]:
        """JSON values."""
        return self._asdict()


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


class JoinState:
    """Progress in two logs, and their pending messages, which expire after `window` further events."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.taken = 0  # inputs so far
        self.seen = 0  # events among them
        self.late = 0  # labels without an event that waited
        self.unlabelled = 0  # events that expired without a label
        self.last: list[dict[str, int | str]] = [{}, {}]  # of each side, as in a position
        self.ends: list[dict[str, int]] = [{}, {}]
        self.times = [0, 0]
        self.pending: tuple[Pending, Pending] = (OrderedDict(), OrderedDict())  # of each side
        self.bytes = 0  # estimated, of the pending messages in a model file

    def take(self, given: Input) -> LabelledEvent | None:
        """Take the next input, and return the example that it completes, if any."""
        side = given.side
        self.taken += 1
        self.last[side][given.partition] = given.place
        self.ends[side] = dict(given.ends)
        self.times[side] = given.time
        if given.malformed is not None or (given.value is None):
            return None
        if side == EVENTS:
            self.seen += 1
            self._expire()
        if given.key is None:
            self._count_dropped(side)
            return None
        if given.key in self.pending[1 - side]:
            other = self._drop(1 - side, given.key)
            return LabelledEvent(given.value, other) if side == EVENTS else LabelledEvent(other, given.value)
        pending = self.pending[side]
        if given.key in pending or len(pending) >= self.window:
            self._drop(side, given.key if given.key in pending else next(iter(pending)))
            self._count_dropped(side)
        pending[given.key] = self.seen, given.value
        self.bytes += _size(given.key, given.value)
        while self.bytes > MOST_BYTES:
            side = EVENTS if self.pending[EVENTS] else LABELS
            self._drop(side, next(iter(self.pending[side])))
            self._count_dropped(side)
        return None

    def _drop(self, side: int, key: str) -> Any:
        """Remove and return the pending message of a key."""
        value = self.pending[side].pop(key)[1]
        self.bytes -= _size(key, value)
        return value

    def _expire(self) -> None:
        """Drop messages that have been pending for a whole window."""
        for side, pending in enumerate(self.pending):
            while pending and self.seen - pending[key := next(iter(pending))][0] >= self.window:
                self._drop(side, key)
                self._count_dropped(side)

    def _count_dropped(self, side: int) -> None:
        if side == EVENTS:
            self.unlabelled += 1
        else:
            self.late += 1

    @property
    def stats(self) -> JoinStats:
        """Counts of unmatched and pending messages."""
        return JoinStats(self.late, self.unlabelled, *map(len, self.pending))

    def summary(self) -> str:
        """Summarize what was left out in a line; empty if nothing was."""
        said = [f"labels without an event among the last {self.window:,} ({self.late:,})"] if self.late else []
        if self.unlabelled:
            said.append(f"events without a label before {self.window:,} more came ({self.unlabelled:,})")
        return f"left out: {', '.join(said)}" if said else ""

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        rows = [[[key, *kept] for key, kept in pending.items()] for pending in self.pending]
        found = {name: getattr(self, name) for name in SCHEMA if hasattr(self, name)}
        return {**copy.deepcopy(found), **dict(zip(SIDES, rows, strict=True))}

    @classmethod
    def from_json(cls, stored: Any) -> Self:
        """Return the state that `to_json` wrote; OuzelError if it is not sound."""
        check(stored, SCHEMA, "what waits for labels")
        places = either(text, whole())
        if not all(map(places.holds, [place for side in stored["last"] for place in side.values()])) or not all(
            len(stored[name]) == 2 for name in ("last", "ends", "times")
        ):
            raise OuzelError("what waits for labels is not of two logs")
        found = cls(0)
        for name in SCHEMA.keys() - set(SIDES):
            setattr(found, name, stored[name])
        for pending, name in zip(found.pending, SIDES, strict=True):
            pending.update((key, (number, value)) for key, number, value in stored[name])
        for pending in found.pending:
            found.bytes += sum(_size(key, value) for key, (_, value) in pending.items())
        return found

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Copy the state; the immutable lines are shared."""
        found = copy.copy(self)
        found.last, found.ends = [dict(side) for side in self.last], [dict(side) for side in self.ends]
        found.times = list(self.times)
        found.pending = (self.pending[0].copy(), self.pending[1].copy())
        return found
